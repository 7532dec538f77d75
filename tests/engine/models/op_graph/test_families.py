"""Every family's single tokens go through native ops: one part without them sends the whole decoder back to torch."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor
from transformers import AutoConfig

from engine.kernels.native import NativeKernel
from engine.models.decoder import Decoder
from engine.models.families import FAMILIES, read_spec
from engine.models.layers.weight_format import WeightFormat
from engine.models.shapes import shapes
from engine.models.spec import DecoderSpec
from tests.engine.models.compat.tiny import tiny_config
from tests.engine.models.families import test_bailing_moe, tiny
from tests.engine.models.families.test_plain_attention import CASES, COMMON
from tests.engine.models.open_decoder import native_kernel

# Families whose tokens torch still computes.
NOT_NATIVE = {
    "deepseek_v32", "deepseek_v4", "glm_moe_dsa", "granitemoehybrid", "kimi_linear", "llama4_text", "longcat_flash",
    "mimo_v2_flash", "minimax_m3_vl_text", "mistral4", "nemotron_h",
}  # fmt: skip


def written(config: Any) -> dict[str, Any]:
    """As its config.json would say."""
    found: dict[str, Any] = config.to_dict()
    return found


CONFIGS: dict[str, dict[str, Any]] = {
    **{name: written(AutoConfig.for_model(kind, **{**COMMON, **changes})) for name, (kind, changes) in CASES.items()},
    **{name: written(tiny.tiny(name)) for name in tiny.FAMILIES},
    "deepseek_v3 without query rank": written(tiny.tiny("deepseek_v3", q_lora_rank=None, attention_bias=True)),
    "lfm2_moe with biases": written(tiny.tiny("lfm2_moe", conv_bias=True)),
    "gemma4_text with inputs": written(
        tiny.tiny("gemma4_text", hidden_size_per_layer_input=8, vocab_size_per_layer_input=97)
    ),
    "kimi_k2": tiny.raw("kimi_k2"),
    "step3p5": written(tiny_config("step3p7").text_config),
    "minimax_m3": written(tiny_config("minimax_m3_vl")),
    "glm4v_moe": written(tiny_config("glm4v_moe")),
    "qwen3_vl_moe": written(tiny_config("qwen3_vl_moe")),
    "bailing_moe": test_bailing_moe.FIRST,
    "bailing_moe_v2": {**test_bailing_moe.SECOND, "model_type": "bailing_moe_v2"},
}
# the text model of a bigger one
INSIDE = {"gemma4": "gemma4_text", "qwen3_5_moe": "qwen3_5_moe_text", "llama4": "llama4_text", "step3p7": "step3p5",
          "kimi_k25": "kimi_k2", "mistral3": "mistral4"}  # fmt: skip


class SomeWeights:
    """Weights of the right shapes."""

    def __init__(self, spec: DecoderSpec) -> None:
        self._shapes = dict(shapes(spec))
        if (own := spec.per_layer_inputs) is not None:
            self._shapes[f"{own.embedding}.weight"] = (spec.vocab, len(spec.layers) * own.dim)

    def has(self, name: str) -> bool:
        """Whether there is such a tensor."""
        return name in self._shapes

    def get(self, name: str) -> Tensor:
        """Zeros; what has no shape of its own is one number."""
        return torch.zeros(self._shapes.get(name, (1,)))


class NoExperts:
    """Nothing is ever computed here."""

    def moe(self, layer: int, x: Tensor, ids: Tensor, weights: Tensor) -> Tensor:
        """Not called."""
        raise AssertionError


@pytest.fixture(scope="module")
def kernel() -> NativeKernel:
    return native_kernel()


def test_no_family_is_forgotten() -> None:
    tried = {str(config["model_type"]) for config in CONFIGS.values()}
    assert {INSIDE.get(family, family) for family in FAMILIES} == tried


@pytest.mark.parametrize("name", CONFIGS)
def test_single_tokens_are_native(name: str, kernel: NativeKernel) -> None:
    spec = read_spec(CONFIGS[name])
    for kind in ("bf16", "int8", "int4"):
        decoder = Decoder(spec, SomeWeights(spec), NoExperts(), WeightFormat(kind, kernel=kernel), torch.bfloat16)
        assert decoder.native_layers == (spec.family not in NOT_NATIVE), decoder.why_not_native
