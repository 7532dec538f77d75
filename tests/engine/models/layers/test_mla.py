"""The MLA mixer against transformers' attention modules, fed whole, in chunks and token by token."""

from __future__ import annotations

import pytest
import torch
from transformers import DeepseekV2Config, DeepseekV3Config, DynamicCache
from transformers.models.deepseek_v2 import modeling_deepseek_v2 as v2
from transformers.models.deepseek_v3 import modeling_deepseek_v3 as v3

from engine.models.layers import mla as module
from engine.models.layers.mla import Mla
from engine.models.layers.position_range import PositionRange
from engine.models.layers.weight_format import WeightFormat
from engine.models.spec import MlaSpec, RopeSpec
from tests.engine.models.open_decoder import native_kernel, plain_weights

SIZES = {
    "hidden_size": 32, "num_attention_heads": 4, "num_key_value_heads": 4, "kv_lora_rank": 16, "qk_nope_head_dim": 12,
    "qk_rope_head_dim": 8, "v_head_dim": 10, "num_hidden_layers": 1, "attn_implementation": "eager",
}  # fmt: skip
CASES = {
    "v2": (v2, DeepseekV2Config, v2.DeepseekV2Attention, {"q_lora_rank": None}),
    "v2 with query rank and biases": (
        v2, DeepseekV2Config, v2.DeepseekV2Attention, {"q_lora_rank": 14, "attention_bias": True}
    ),
    "v3": (v3, DeepseekV3Config, v3.DeepseekV3Attention, {"q_lora_rank": 14}),
    "v3 in halves": (v3, DeepseekV3Config, v3.DeepseekV3Attention, {"q_lora_rank": None, "rope_interleave": False}),
}  # fmt: skip


class Tensors(dict):
    """Weights from a dictionary."""

    def has(self, name: str) -> bool:
        return name in self


def _pair(case, dense=None):
    code, config_class, attention_class, extra = CASES[case]
    config = config_class(**SIZES, **extra)
    torch.manual_seed(0)
    oracle = attention_class(config, 0).eval()
    rotary = getattr(code, config_class.__name__.replace("Config", "RotaryEmbedding"))(config)
    with torch.no_grad():
        for parameter in oracle.parameters():
            parameter.copy_(torch.randn_like(parameter) * 0.3 + (1 if parameter.dim() == 1 else 0))
    bias = config.attention_bias
    spec = MlaSpec(
        prefix="attn",
        heads=4,
        q_rank=config.q_lora_rank,
        kv_rank=16,
        nope_dim=12,
        rope_dim=8,
        v_dim=10,
        scale=20**-0.5,
        a_bias=bias,
        o_bias=bias,
        rope=RopeSpec(8, 10_000.0, interleaved=getattr(config, "rope_interleave", True)),
    )
    weights = Tensors({f"attn.{name}": tensor for name, tensor in oracle.state_dict().items()})
    return oracle, rotary, Mla(spec, weights, 32, dense or plain_weights())


def _oracle_run(oracle, rotary, x):
    """All tokens at once, causally, through the module of transformers."""
    tokens = x.shape[0]
    mask = torch.full((tokens, tokens), -torch.inf).triu(1)[None, None]
    with torch.inference_mode():
        tables = rotary(x[None], torch.arange(tokens)[None])
        cache = DynamicCache()
        return oracle(x[None], position_embeddings=tables, attention_mask=mask, past_key_values=cache)[0][0]


def _lean_run(mixer, x, cuts):
    state = mixer.new_state(torch.float32)
    at, outs = 0, []
    with torch.inference_mode():
        for part in x.split(cuts):
            outs.append(mixer.forward(part, PositionRange(at, at + part.shape[0]), state))
            at += part.shape[0]
    return torch.cat(outs)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("cuts", [[24], [10, 14], [20, 1, 1, 1, 1]])
def test_equals_transformers_however_the_tokens_are_cut(case, cuts):
    oracle, rotary, mixer = _pair(case)
    x = torch.randn(24, 32, generator=torch.Generator().manual_seed(1))
    want = _oracle_run(oracle, rotary, x)
    assert want.abs().mean() > 0.1
    torch.testing.assert_close(_lean_run(mixer, x, cuts), want, rtol=0, atol=1e-5)


@pytest.mark.parametrize("cheaper", [True, False])
def test_both_forms_give_the_same_layer(cheaper, monkeypatch):
    oracle, rotary, mixer = _pair("v3")
    monkeypatch.setattr(module, "absorbed_is_cheaper", lambda *_: cheaper)
    x = torch.randn(300, 32, generator=torch.Generator().manual_seed(2))  # more than the cache's first chunk
    torch.testing.assert_close(_lean_run(mixer, x, [120, 170, 10]), _oracle_run(oracle, rotary, x), rtol=0, atol=1e-5)


def test_a_token_costs_one_latent_and_one_rotary_key():
    _, _, mixer = _pair("v3")
    state = mixer.new_state(torch.bfloat16)
    mixer.forward(torch.randn(5, 32), PositionRange(0, 5), state)
    ((rows,),) = state.views()
    assert rows.shape == (1, 5, 16 + 8)
    assert rows.dtype == torch.bfloat16


@pytest.mark.parametrize("cuts", [[24], [20, 1, 1, 1, 1]])
def test_weights_of_8_bits_stay_close(cuts):
    """kv_rank falls into whole tiles and is packed; v_dim does not, and stays bf16."""
    oracle, rotary, mixer = _pair("v3", WeightFormat("int8", kernel=native_kernel()))
    assert (mixer.to_latent.kind, mixer.from_latent.kind) == ("int8", "bf16")
    x = torch.randn(24, 32, generator=torch.Generator().manual_seed(1))
    want = _oracle_run(oracle, rotary, x)
    assert (_lean_run(mixer, x, cuts) - want).norm() < 0.03 * want.norm()
