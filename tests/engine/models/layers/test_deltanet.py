"""The DeltaNet mixer against transformers' modules in both projection layouts, and its state across cuts."""

from __future__ import annotations

import pytest
import torch
from transformers import DynamicCache, Qwen3_5MoeTextConfig, Qwen3NextConfig
from transformers.models.qwen3_5_moe import modeling_qwen3_5_moe as qwen3_5
from transformers.models.qwen3_next import modeling_qwen3_next as qwen3_next

from engine.models.layers.deltanet import DeltaNet
from engine.models.layers.position_range import PositionRange
from engine.models.layers.weight_format import WeightFormat
from engine.models.spec import DeltaNetSpec
from tests.engine.models.open_decoder import native_kernel

SIZES = {
    "hidden_size": 32, "num_hidden_layers": 1, "layer_types": ["linear_attention"], "linear_num_key_heads": 2,
    "linear_key_head_dim": 8, "linear_value_head_dim": 6, "linear_conv_kernel_dim": 4, "rms_norm_eps": 1e-5,
}  # fmt: skip
CASES = {
    "grouped": (Qwen3NextConfig, qwen3_next.Qwen3NextGatedDeltaNet, 4),
    "grouped, as many values as keys": (Qwen3NextConfig, qwen3_next.Qwen3NextGatedDeltaNet, 2),
    "separate": (Qwen3_5MoeTextConfig, qwen3_5.Qwen3_5MoeGatedDeltaNet, 6),
}


class Tensors(dict):
    """Weights from a dictionary."""

    def has(self, name: str) -> bool:
        return name in self


def _pair(case, kind="f32"):
    config_class, mixer_class, v_heads = CASES[case]
    config = config_class(**SIZES, linear_num_value_heads=v_heads)
    torch.manual_seed(0)
    oracle = mixer_class(config, 0).eval()
    with torch.no_grad():
        for name, parameter in oracle.named_parameters():
            if name != "A_log":
                parameter.copy_(torch.randn_like(parameter) * 0.15 + (1 if parameter.dim() == 1 else 0))
    spec = DeltaNetSpec(
        prefix="attn",
        k_heads=2,
        v_heads=v_heads,
        k_dim=8,
        v_dim=6,
        kernel=4,
        norm_eps=1e-5,
        fused=case.startswith("grouped"),
    )
    weights = Tensors({f"attn.{name}": tensor for name, tensor in oracle.state_dict().items()})
    return config, oracle, DeltaNet(spec, weights, 32, WeightFormat(kind, kernel=native_kernel()))


def _x(tokens):
    return torch.randn(tokens, 32, generator=torch.Generator().manual_seed(1))


def _lean_run(mixer, x, cuts):
    state = mixer.new_state(torch.bfloat16)
    at, outs = 0, []
    with torch.inference_mode():
        for part in x.split(cuts):
            outs.append(mixer.forward(part, PositionRange(at, at + part.shape[0]), state))
            at += part.shape[0]
    return torch.cat(outs), state


@pytest.mark.parametrize("case", CASES)
def test_equals_transformers_over_prefill_and_decode(case):
    config, oracle, mixer = _pair(case)
    x = _x(80)
    cache = DynamicCache(config=config)
    with torch.inference_mode():
        want = torch.cat([oracle(part[None], cache_params=cache)[0] for part in x.split([70] + [1] * 10)])
    got, state = _lean_run(mixer, x, [70] + [1] * 10)
    assert want.abs().mean() > 0.05
    torch.testing.assert_close(got, want, rtol=0, atol=1e-5)
    torch.testing.assert_close(state.tensors[1], cache.get_recurrent_state(0, state_idx=0)[0], rtol=0, atol=1e-5)


@pytest.mark.parametrize("cuts", [[1] * 30, [2, 28], [13, 1, 16]])
def test_cuts_change_nothing(cuts):
    _, _, mixer = _pair("grouped")
    want, want_state = _lean_run(mixer, _x(30), [30])
    got, state = _lean_run(mixer, _x(30), cuts)
    torch.testing.assert_close(got, want, rtol=0, atol=1e-5)
    for mine, theirs in zip(state.tensors, want_state.tensors, strict=True):
        torch.testing.assert_close(mine, theirs, rtol=0, atol=1e-5)


def test_a_snapshot_brings_the_sequence_back():
    _, _, mixer = _pair("separate")
    want, _ = _lean_run(mixer, _x(30), [20, 10])
    _, state = _lean_run(mixer, _x(30)[:20], [20])
    kept = state.snapshot()
    for _ in range(2):  # twice, so that a snapshot that shares memory with the state would show
        state.restore(kept)
        mixer.forward(_x(7) + 1, PositionRange(20, 27), state)
    state.restore(kept)
    torch.testing.assert_close(mixer.forward(_x(30)[20:], PositionRange(20, 30), state), want[20:], rtol=0, atol=1e-5)


def test_state_is_float32_whatever_the_cache_holds():
    _, _, mixer = _pair("grouped", kind="bf16")
    out, state = _lean_run(mixer, _x(9), [8, 1])
    assert out.dtype == torch.float32
    assert {tensor.dtype for tensor in state.tensors} == {torch.float32}
