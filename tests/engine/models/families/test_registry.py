"""Configs that are opened, and configs that are refused with a sentence instead of being guessed at."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from engine.errors import Kind, UnderhillError
from engine.models.families import FAMILIES, is_known, read_spec
from engine.models.spec import AttentionSpec, DecoderSpec
from tests.engine.models.families.tiny import raw

QWEN3: dict[str, Any] = {
    "model_type": "qwen3_moe", "vocab_size": 97, "hidden_size": 48, "num_hidden_layers": 4, "num_attention_heads": 4,
    "num_key_value_heads": 2, "head_dim": 16, "num_experts": 8, "num_experts_per_tok": 3, "intermediate_size": 64,
    "moe_intermediate_size": 24, "max_position_embeddings": 256, "rope_theta": 10000.0,
}  # fmt: skip
SMALL: dict[str, Any] = {
    "vocab_size": 97, "hidden_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
    "max_position_embeddings": 256, "intermediate_size": 24, "num_experts_per_tok": 3,
}  # fmt: skip
HUNYUAN = {**SMALL, "model_type": "hunyuan_v1_moe", "num_experts": 8, "moe_topk": 2}
MINIMAX = {**SMALL, "model_type": "minimax_m2", "num_local_experts": 8}
PHIMOE = {**SMALL, "model_type": "phimoe", "num_local_experts": 8}
GPT_OSS = {**SMALL, "model_type": "gpt_oss", "num_local_experts": 8}
GRANITE = {**SMALL, "model_type": "granitemoe", "num_local_experts": 8}


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_is_known(family: str) -> None:
    assert callable(FAMILIES[family])
    assert is_known({"model_type": family})


def test_a_spec_is_plain_data() -> None:
    spec = read_spec(QWEN3)
    assert (spec.family, spec.hidden, spec.vocab, spec.max_positions, len(spec.layers)) == ("qwen3_moe", 48, 97, 256, 4)
    assert sorted(spec.moe_layers) == [0, 1, 2, 3]
    assert pickle.loads(pickle.dumps(spec)) == spec
    assert hash(spec) == hash(read_spec(QWEN3))


def test_a_config_of_before_version_5_reads_like_one_of_today() -> None:
    today = {k: v for k, v in QWEN3.items() if k != "rope_theta"}
    today["rope_parameters"] = {"rope_type": "default", "rope_theta": 10000.0}
    today["num_local_experts"] = today.pop("num_experts")
    assert read_spec(today) == read_spec({**QWEN3, "rope_scaling": None})


def test_head_dim_is_worked_out_where_it_is_null() -> None:
    mixer = read_spec({**QWEN3, "head_dim": None}).layers[0].mixer
    assert isinstance(mixer, AttentionSpec)
    assert mixer.head_dim == 12


@pytest.mark.parametrize(
    ("config", "says"),
    [
        ({}, "does not say which family"),
        ({"model_type": "llama"}, "'llama'"),
        ({**QWEN3, "model_type": ["qwen3_moe"]}, "compatibility mode only"),
        ({**QWEN3, "mlp_only_layers": [0, 1, 2, 3]}, "dense"),
        ({**QWEN3, "num_hidden_layers": 0}, "dense"),
        ({**QWEN3, "hidden_act": "xielu"}, "'xielu'"),
        ({**QWEN3, "rope_scaling": {"rope_type": "spiral", "factor": 2.0}}, "'spiral'"),
        ({**QWEN3, "num_experts_per_tok": 9}, "9 of 8 experts"),
        ({**QWEN3, "num_experts_per_tok": 0}, "0 of 8 experts"),
        ({**QWEN3, "layers_block_type": ["moe"] * 5000}, "5,000 layers"),
        (raw("deepseek_v3", n_group=0), "0 groups"),
        (raw("deepseek_v3", topk_group=5), "4 groups"),
        (raw("deepseek_v3", topk_group=1), "3 experts out of 1 of 4 groups of 2"),
        (raw("deepseek_v3", n_group=8, topk_group=4), "groups of 1"),
        (raw("deepseek_v2", topk_method="group_limited_greedy", n_group=8, topk_group=2), "out of 2 of 8 groups of 1"),
        ({**PHIMOE, "num_experts_per_tok": 3}, "3 experts"),
        ({**GPT_OSS, "layer_types": ["full_attention", "chunked_attention"]}, "'chunked_attention'"),
        ({**HUNYUAN, "use_cla": True}, "use_cla"),
        ({**HUNYUAN, "use_qk_norm": False}, "use_qk_norm"),
        ({**HUNYUAN, "num_shared_expert": [1, 2]}, "num_shared_expert"),
        ({**HUNYUAN, "moe_intermediate_size": [24, 32]}, "moe_intermediate_size"),
        ({**MINIMAX, "scoring_func": "softmax"}, "scoring_func"),
        ({**MINIMAX, "attn_type_list": [1, 0]}, "attn_type_list"),
        ({**QWEN3, "hidden_act": ["silu"]}, "silu"),
        ({**QWEN3, "moe_intermediate_size": 0}, "without weights"),
        ({**HUNYUAN, "rope_scaling": {"type": "dynamic", "alpha": 1e300}}, "alpha of 1e\\+300"),
    ],
)
def test_what_cannot_be_computed_is_refused(config: dict[str, Any], says: str) -> None:
    with pytest.raises(UnderhillError, match=says) as caught:
        read_spec(config)
    assert caught.value.kind == Kind.UNSUPPORTED_MODEL
    assert caught.value.action


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"hidden_size": None}, "hidden_size"),
        ({"hidden_size": "48"}, "hidden_size"),
        ({"hidden_size": 48.5}, "hidden_size"),
        ({"num_hidden_layers": -3}, "num_hidden_layers"),
        ({"num_hidden_layers": True}, "num_hidden_layers"),
        ({"num_attention_heads": 0}, "num_attention_heads"),
        ({"num_key_value_heads": 3}, "num_key_value_heads"),
        ({"rms_norm_eps": float("nan")}, "rms_norm_eps"),
        ({"norm_topk_prob": "yes"}, "norm_topk_prob"),
        ({"mlp_only_layers": "all"}, "mlp_only_layers"),
        ({"decoder_sparse_step": 0}, "decoder_sparse_step"),
        ({"rope_theta": "big"}, "rope_theta"),
        ({"rope_scaling": {"type": "linear"}}, "rope factor"),
        ({"rope_scaling": {"type": "linear", "factor": []}}, "rope factor"),
        ({"rope_scaling": "linear"}, "rope_scaling"),
        ({"rope_scaling": {"type": "longrope", "short_factor": [1.0], "long_factor": [1.0]}}, "short_factor"),
        ({"rope_scaling": {"type": "yarn", "factor": 0.0}}, "rope factor"),
        ({"rope_scaling": {"type": "yarn", "factor": 2, "original_max_position_embeddings": 0}}, "original"),
        ({"rope_scaling": {"type": "yarn", "factor": 2, "mscale": "1", "mscale_all_dim": 1}}, "rope mscale"),
        ({"rope_scaling": {"type": "yarn", "factor": 2, "mscale": 1, "mscale_all_dim": -20}}, "rope mscale_all_dim"),
        ({"rope_scaling": {"type": "longrope", "original_max_position_embeddings": 1}}, "original"),
        ({"rope_scaling": {"type": "longrope", "original_max_position_embeddings": 0.5}}, "original"),
    ],
)
def test_a_config_that_makes_no_sense_is_called_broken(changes: dict[str, Any], says: str) -> None:
    with pytest.raises(UnderhillError, match=says) as caught:
        read_spec({**QWEN3, **changes})
    assert caught.value.kind == Kind.BROKEN_FILE


@pytest.mark.parametrize(
    ("config", "says"),
    [
        (raw("qwen3_next", decoder_sparse_step=0), "decoder_sparse_step"),
        (raw("qwen3_next", full_attention_interval=0), "full_attention_interval"),
        ({**GRANITE, "logits_scaling": 0}, "logits_scaling"),
        ({**HUNYUAN, "rope_scaling": {"type": "dynamic", "alpha": "1000"}}, "rope alpha"),
        (raw("gemma4_text", per_layer_config=[1]), "per_layer_config"),
        (raw("qwen3_5_moe_text", rope_parameters={"mrope_section": [1], "mrope_interleaved": True}), "mrope_section"),
        (raw("gemma4_text", per_layer_config={"1": [2]}), "config.json is wrong: 1 is"),
        (raw("deepseek_v3", rope_scaling={"type": "yarn", "mscale_all_dim": 1.0}), "rope factor"),
        (raw("deepseek_v3", rope_scaling={"type": "yarn", "factor": 4, "mscale_all_dim": "1"}), "mscale_all_dim"),
        (raw("deepseek_v3", qk_nope_head_dim=0, qk_rope_head_dim=0), "qk_rope_head_dim"),
    ],
)
def test_so_is_one_of_a_family_of_its_own(config: dict[str, Any], says: str) -> None:
    with pytest.raises(UnderhillError, match=says) as caught:
        read_spec(config)
    assert caught.value.kind == Kind.BROKEN_FILE


def test_settings_as_they_are_published() -> None:
    """The parts of well-known configs that are easy to read wrongly."""
    hunyuan = {
        **HUNYUAN, "head_dim": 128, "moe_topk": [2, 3], "num_experts": [8, 8], "num_shared_expert": [1, 1],
        "moe_intermediate_size": [24, 24], "use_cla": False, "use_mixed_mlp_moe": True, "use_qk_norm": True,
        "rope_theta": 10000.0,
        "rope_scaling": {"alpha": 1000.0, "beta_fast": 32, "factor": 1.0, "mscale": 1.0, "type": "dynamic"},
    }  # fmt: skip
    spec = read_spec(hunyuan)
    assert [moe.router.top_k for moe in spec.moe_layers.values()] == [2, 3]
    rope = attention(spec, 0).rope
    assert rope is not None
    assert (rope.theta, rope.scaling) == (pytest.approx(10000.0 * 1000.0 ** (128 / 126)), None)

    rope = attention(read_spec({**MINIMAX, "head_dim": 128, "rotary_dim": 64, "rope_theta": 5000000}), 0).rope
    assert rope is not None
    assert (rope.dim, rope.theta) == (64, 5e6)

    gpt_oss = read_spec({**GPT_OSS, "swiglu_limit": 6.5, "max_position_embeddings": 131072})
    first, second = attention(gpt_oss, 0), attention(gpt_oss, 1)
    assert (first.window, second.window) == (128, None)
    assert (first.head_dim, first.qkv_bias, first.sinks) == (64, True, "model.layers.0.self_attn.sinks")
    assert first.rope is not None
    assert first.rope.scaling is not None
    assert (first.rope.theta, first.rope.scaling.original, first.rope.scaling.truncate) == (150000.0, 4096, False)
    assert gpt_oss.moe_layers[0].experts.activation.limit == 6.5
    assert gpt_oss.moe_layers[0].experts.bias

    phimoe = {
        **PHIMOE, "num_experts_per_tok": 2, "max_position_embeddings": 131072, "sliding_window": 131072,
        "original_max_position_embeddings": 4096,
        "rope_scaling": {"type": "longrope", "long_factor": [2.0] * 6, "short_factor": [1.0] * 6, "short_mscale": 1.2,
                         "long_mscale": 1.3, "original_max_position_embeddings": 4096},
    }  # fmt: skip
    rope = attention(read_spec(phimoe), 0).rope
    assert rope is not None
    assert rope.scaling is not None
    assert (rope.scaling.original, rope.scaling.short_mscale, rope.scaling.long_mscale) == (4096, 1.2, 1.3)


def attention(spec: DecoderSpec, layer: int) -> AttentionSpec:
    mixer = spec.layers[layer].mixer
    assert isinstance(mixer, AttentionSpec)
    return mixer
