"""Ling and Ring of both generations against a plain float64 computation: transformers does not know them."""

from __future__ import annotations

import json
import tempfile
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save_file
from torch import Tensor

from engine.convert.expert_plan import find_experts
from engine.errors import UnderhillError
from engine.formats.checkpoint import Checkpoint
from engine.kernels.activation import Activation
from engine.models.decoder import Decoder
from engine.models.families import read_spec
from engine.models.shapes import shapes
from tests.engine.models.compat.checkpoint import Dense, MemoryExperts
from tests.engine.models.compat.parity import Parity
from tests.engine.models.families.reference_bailing import logits
from tests.engine.models.open_decoder import plain_weights, without_op_graph

FIRST: dict[str, Any] = {
    "model_type": "bailing_moe", "vocab_size": 97, "hidden_size": 48, "num_hidden_layers": 3, "num_attention_heads": 4,
    "num_key_value_heads": 2, "head_dim": 16, "max_position_embeddings": 256, "rms_norm_eps": 1e-3,
    "intermediate_size": 40, "moe_intermediate_size": 24, "num_experts": 8, "num_experts_per_tok": 3,
    "num_shared_experts": 2, "norm_topk_prob": True, "rope_theta": 600000.0, "use_qkv_bias": False, "use_bias": False,
    "tie_word_embeddings": False, "norm_head": False, "first_k_dense_replace": 0,
}  # fmt: skip
SECOND: dict[str, Any] = {
    **FIRST, "architectures": ["BailingMoeV2ForCausalLM"], "score_function": "sigmoid", "use_qk_norm": True,
    "partial_rotary_factor": 0.5, "n_group": 4, "topk_group": 2, "routed_scaling_factor": 2.5,
    "moe_router_enable_expert_bias": True, "first_k_dense_replace": 1, "num_shared_experts": 1,
}  # fmt: skip
CASES = {
    "first": FIRST,
    "first with biases": {**FIRST, "use_qkv_bias": True, "norm_topk_prob": False},
    "first with a normed head": {**FIRST, "norm_head": True},
    "second": SECOND,
    "second by its own name": {**SECOND, "model_type": "bailing_moe_v2"},
}


def checkpoint(config: dict[str, Any], folder: Path) -> dict[str, Tensor]:
    """Random weights under the names of the hub."""
    spec = read_spec(config)
    made = dict(shapes(spec))
    if not config["use_qkv_bias"]:
        made = {name: shape for name, shape in made.items() if not name.endswith("query_key_value.bias")}
    made = {n: s for n, s in made.items() if not n.endswith("bias") or "expert_bias" in n or "query_key_value" in n}
    if not config.get("use_qk_norm"):
        made = {name: shape for name, shape in made.items() if "query_layernorm" not in name}
    for layer, moe in spec.moe_layers.items():
        size, hidden = moe.experts.intermediate, moe.experts.hidden
        for expert in range(moe.experts.count):
            prefix = f"model.layers.{layer}.mlp.experts.{expert}"
            made |= {f"{prefix}.{part}_proj.weight": (size, hidden) for part in ("gate", "up")}
            made[f"{prefix}.down_proj.weight"] = (hidden, size)
    generator = torch.Generator().manual_seed(7)
    tensors = {
        name: torch.randn(shape, generator=generator) * (0.1 if len(shape) > 1 or "bias" in name else 0.3)
        + ("norm" in name)
        for name, shape in made.items()
    }
    save_file(tensors, folder / "model.safetensors")
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    return tensors


def opened(folder: Path) -> Decoder:
    """The lean decoder over a checkpoint of the hub's layout, its experts in memory."""
    found = Checkpoint.open(folder)
    plan = find_experts(found)
    assert sorted(plan.layers) == sorted(read_spec(found.config).moe_layers)
    experts = MemoryExperts(found, plan)
    experts.activations = dict.fromkeys(plan.layers, Activation("silu"))
    return Decoder(read_spec(found.config), Dense(found, plan), experts, plain_weights())


def by_hand(config: dict[str, Any]) -> Parity:
    """Largest differences from float64: a prompt in two pieces, single tokens, other tokens after a rollback."""
    with tempfile.TemporaryDirectory() as folder:
        tensors = checkpoint(config, Path(folder))
        decoder = opened(Path(folder))
    ids = torch.randint(3, 97, (36,), generator=torch.Generator().manual_seed(1)).tolist()
    other = ids[:14] + ids[:9]
    wanted, again = logits(config, tensors, ids), logits(config, tensors, other)
    state = decoder.new_state()

    def off(part: list[int], expected: Tensor) -> float:
        found = decoder.forward(part, state, "all")
        assert found is not None
        return float((found - expected).abs().max())

    prompt = max(off(ids[:14], wanted[:14]), off(ids[14:20], wanted[14:20]))
    answer = max(off(ids[at : at + 1], wanted[at : at + 1]) for at in range(20, 36))
    assert state.rollback(14) == 14
    return Parity(config["model_type"], prompt, answer, off(other[14:], again[14:]))


@pytest.mark.parametrize("native", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_parity(name: str, native: bool, tmp_path: Path) -> None:
    config = CASES[name]
    tensors = checkpoint(config, tmp_path)
    with nullcontext() if native else without_op_graph():
        decoder = opened(tmp_path)
    assert decoder.native_layers == native
    ids = torch.randint(3, 97, (36,), generator=torch.Generator().manual_seed(1)).tolist()
    wanted = logits(config, tensors, ids)
    for pieces in ([36], [20] + [1] * 16, [7, 1, 7, 15, 6]):
        state, at = decoder.new_state(), 0
        for count in pieces:
            found = decoder.forward(ids[at : at + count], state, "all")
            assert found is not None
            assert (found - wanted[at : at + count]).abs().max() <= 1e-5
            at += count
    state.rollback(13)
    found = decoder.forward(ids[13:30], state, "all")
    assert found is not None
    assert (found - wanted[13:30]).abs().max() <= 1e-5


@pytest.mark.parametrize(
    "changes",
    [{"norm_head": True, "tie_word_embeddings": True}, {"use_sliding_window": True}, {"score_function": "tanh"}],
)
def test_what_it_does_not_compute_it_refuses(changes: dict[str, Any]) -> None:
    with pytest.raises(UnderhillError, match=next(iter(changes))):
        read_spec({**FIRST, **changes})
