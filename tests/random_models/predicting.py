"""A random model with a layer for multi-token prediction and recurrent layers, as large as one likes."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from tests.random_models.checkpoint import EMBEDDING, Tensors, random_tensor, write_shards
from tests.random_models.quantized import Say, write_store
from tests.random_models.shapes import Shape

TOP = 4
KERNEL = 4  # tokens that a convolution sees
EVERY = 4  # layer has attention, the others Gated DeltaNet


@dataclass(frozen=True)
class PredictingShape(Shape):
    """As Qwen3.5's, named as Qwen3-Next's. Heads of DeltaNet, and the shared expert's width, follow the others."""

    k_heads: int = 16
    v_heads: int = 32
    linear_dim: int = 128

    @property
    def mtp(self) -> tuple[int, ...]:
        """It follows the others."""
        return (self.layers,)

    def config(self) -> dict[str, Any]:
        """config.json."""
        return super().config() | {
            "architectures": ["Qwen3NextForCausalLM"],
            "full_attention_interval": EVERY,
            "linear_conv_kernel_dim": KERNEL,
            "linear_key_head_dim": self.linear_dim,
            "linear_num_key_heads": self.k_heads,
            "linear_num_value_heads": self.v_heads,
            "linear_value_head_dim": self.linear_dim,
            "partial_rotary_factor": 0.25,
            "shared_expert_intermediate_size": self.intermediate,
        }

    def expert_tensor(self, layer: int, expert: int, matrix: str) -> str:
        """As Shape's; see `prefix`."""
        return super().expert_tensor(layer, expert, matrix).replace(f"model.layers.{layer}", self.prefix(layer))

    def prefix(self, layer: int) -> str:
        """What the tensors of a layer are under."""
        return "mtp.layers.0" if layer in self.mtp else f"model.layers.{layer}"


# Qwen3.5-35B-A3B's widths, 16 of its 40 layers and as large a part of its vocabulary, so that the head weighs as much.
QWEN35 = PredictingShape(
    "qwen35", "qwen3_next", "", 16, 2048, 512, 256, 8, 16, 2, 256, True, "head", False, 1e7, 1e-6, "mlp",
    ("gate_proj", "up_proj", "down_proj"), 99_328,
)  # fmt: skip


def predicting_store(shape: PredictingShape, folder: Path, say: Say) -> Path:
    """Its store at TOP bits below `folder`, made if it is missing."""
    store, seed = folder / shape.name / f"store-{TOP}", folder / shape.name / "seed"
    if not store.is_dir():
        say(f"Writing {store}")
        layers = (_layer(shape, number) for number in (*range(shape.layers), *shape.mtp))
        write_shards(shape, seed, [_beside(shape), *layers], first_only=True)
        write_store(shape, seed, store, TOP, say)
        shutil.rmtree(seed)
    return store


def _beside(shape: PredictingShape) -> Tensors:
    hidden, words = shape.hidden, (shape.vocabulary, shape.hidden)
    norms = ("model.norm", "mtp.norm", "mtp.pre_fc_norm_embedding", "mtp.pre_fc_norm_hidden")
    return [
        _drawn("model.embed_tokens.weight", words, EMBEDDING), _drawn("lm_head.weight", words),
        _drawn("mtp.fc.weight", (hidden, 2 * hidden)), *(_zeros(f"{norm}.weight", hidden) for norm in norms),
    ]  # fmt: skip


def _layer(shape: PredictingShape, number: int) -> Tensors:
    prefix, hidden, width = shape.prefix(number), shape.hidden, shape.intermediate
    attends = number in shape.mtp or (number + 1) % EVERY == 0
    matrices = {f"self_attn.{name}": size for name, size in shape.attention().items()}
    matrices["self_attn.q_proj"] = (2 * shape.heads * shape.head_dim, hidden)  # and a gate of the result
    mixer = [_drawn(f"{prefix}.{name}.weight", size) for name, size in matrices.items()]
    mixer += [_zeros(f"{prefix}.self_attn.{name}.weight", shape.head_dim) for name in ("q_norm", "k_norm")]
    wide, narrow = (width, hidden), (hidden, width)
    mlp = {"gate": (shape.experts, hidden), "shared_expert.gate_proj": wide, "shared_expert.up_proj": wide,
           "shared_expert.down_proj": narrow, "shared_expert_gate": (1, hidden)}  # fmt: skip
    return [
        *(_zeros(f"{prefix}.{norm}.weight", hidden) for norm in ("input_layernorm", "post_attention_layernorm")),
        *(mixer if attends else _delta_net(shape, f"{prefix}.linear_attn")),
        *(_drawn(f"{prefix}.mlp.{name}.weight", size) for name, size in mlp.items()),
        *(_drawn(shape.expert_tensor(number, 0, name), size) for name, size in shape.matrices().items()),
    ]


def _delta_net(shape: PredictingShape, prefix: str) -> Tensors:
    keys, values, heads = shape.k_heads * shape.linear_dim, shape.v_heads * shape.linear_dim, shape.v_heads
    return [
        _drawn(f"{prefix}.in_proj_qkvz.weight", (2 * keys + 2 * values, shape.hidden)),
        _drawn(f"{prefix}.in_proj_ba.weight", (2 * heads, shape.hidden)),
        _drawn(f"{prefix}.conv1d.weight", (2 * keys + values, 1, KERNEL)),
        _drawn(f"{prefix}.out_proj.weight", (shape.hidden, values)),
        _zeros(f"{prefix}.A_log", heads), _zeros(f"{prefix}.dt_bias", heads),
        (f"{prefix}.norm.weight", (shape.linear_dim,), lambda: torch.ones(shape.linear_dim)),
    ]  # fmt: skip


def _drawn(name: str, size: tuple[int, ...], deviation: float | None = None) -> tuple[str, tuple[int, ...], Any]:
    make: Callable[[], Tensor] = lambda: random_tensor(name, size, deviation)  # noqa: E731
    return name, size, make


def _zeros(name: str, width: int) -> tuple[str, tuple[int, ...], Callable[[], Tensor]]:
    return name, (width,), lambda: torch.zeros(width)
