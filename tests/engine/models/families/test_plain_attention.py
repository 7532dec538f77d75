"""Every plain-attention family against transformers: defaults, and each setting that changes its arithmetic."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from transformers import AutoConfig

from tests.engine.models.parity import assert_parity

COMMON = {
    "vocab_size": 97, "hidden_size": 48, "num_hidden_layers": 3, "num_attention_heads": 4, "num_key_value_heads": 2,
    "max_position_embeddings": 256, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2,
    "rms_norm_eps": 1e-3,  # large, so that a wrong one shows
}  # fmt: skip
EIGHT = {"num_experts": 8, "num_experts_per_tok": 3}
EIGHT_LOCAL = {"num_local_experts": 8, "num_experts_per_tok": 3, "intermediate_size": 24}
QWEN3 = {**EIGHT, "head_dim": 16, "intermediate_size": 64, "moe_intermediate_size": 24}
QWEN2 = {**EIGHT, "intermediate_size": 64, "moe_intermediate_size": 24, "shared_expert_intermediate_size": 40}
OLMOE = {**EIGHT, "intermediate_size": 24}
PHIMOE = {**EIGHT_LOCAL, "num_experts_per_tok": 2}
GRANITE = {
    **EIGHT_LOCAL, "embedding_multiplier": 3.0, "attention_multiplier": 0.2, "residual_multiplier": 0.7,
    "logits_scaling": 1.5, "tie_word_embeddings": True,
}  # fmt: skip
GLM4 = {
    "head_dim": 16, "intermediate_size": 64, "moe_intermediate_size": 24, "n_routed_experts": 8, "n_shared_experts": 2,
    "num_experts_per_tok": 3, "routed_scaling_factor": 1.7, "use_qk_norm": True,
}  # fmt: skip
GPT_OSS = {**EIGHT_LOCAL, "head_dim": 16, "sliding_window": 6, "num_hidden_layers": 4}
ERNIE = {
    "intermediate_size": 64, "moe_intermediate_size": 24, "moe_num_experts": 8, "moe_k": 3, "moe_num_shared_experts": 2
}  # fmt: skip
HUNYUAN = {"num_experts": 8, "moe_topk": 3, "intermediate_size": 24, "head_dim": 16}
MINIMAX = {**EIGHT_LOCAL, "head_dim": 16, "rotary_dim": 8}
DOTS = {k: v for k, v in GLM4.items() if k not in ("use_qk_norm", "head_dim")}
AFMOE = {
    **EIGHT, "head_dim": 16, "intermediate_size": 64, "moe_intermediate_size": 24, "num_shared_experts": 2,
    "num_hidden_layers": 5, "num_dense_layers": 1, "sliding_window": 6, "route_scale": 1.3, "mup_enabled": True,
}  # fmt: skip
EXAONE = {
    **EIGHT, "head_dim": 16, "intermediate_size": 64, "moe_intermediate_size": 24, "num_shared_experts": 2,
    "num_hidden_layers": 5, "sliding_window": 6,
}  # fmt: skip
LLAMA4 = {
    "num_local_experts": 8, "num_experts_per_tok": 1, "head_dim": 16, "intermediate_size": 24, "num_hidden_layers": 4,
    "intermediate_size_mlp": 40, "attention_chunk_size": 7, "floor_scale": 6, "attn_scale": 0.3,
}  # fmt: skip
YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 16, "rope_theta": 10000.0}
LLAMA3 = {
    "rope_type": "llama3", "factor": 4.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "rope_theta": 10000.0,
    "original_max_position_embeddings": 16,
}  # fmt: skip

CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "mixtral": ("mixtral", EIGHT_LOCAL),
    "mixtral with a window": ("mixtral", {**EIGHT_LOCAL, "sliding_window": 6, "head_dim": 20}),
    "phimoe": ("phimoe", PHIMOE),
    "phimoe with biases": ("phimoe", {**PHIMOE, "attention_bias": True, "lm_head_bias": True, "sliding_window": 9}),
    "olmoe": ("olmoe", OLMOE),
    "olmoe clipped": ("olmoe", {**OLMOE, "clip_qkv": 0.4, "norm_topk_prob": True, "attention_bias": True}),
    "qwen2_moe": ("qwen2_moe", QWEN2),
    "qwen2_moe with windows": (
        "qwen2_moe", {**QWEN2, "use_sliding_window": True, "sliding_window": 5, "max_window_layers": 2}
    ),
    "qwen2_moe partly dense": (
        "qwen2_moe", {**QWEN2, "mlp_only_layers": [0], "norm_topk_prob": True, "qkv_bias": False}
    ),
    "qwen3_moe": ("qwen3_moe", {**QWEN3, "norm_topk_prob": True}),
    "qwen3_moe tied": ("qwen3_moe", {**QWEN3, "attention_bias": True, "tie_word_embeddings": True}),
    "qwen3_moe partly dense": ("qwen3_moe", {**QWEN3, "decoder_sparse_step": 2, "num_hidden_layers": 4}),
    "qwen3_moe with a window": ("qwen3_moe", {**QWEN3, "use_sliding_window": True, "sliding_window": 4}),
    "qwen3_moe gelu": ("qwen3_moe", {**QWEN3, "hidden_act": "gelu", "mlp_only_layers": [1]}),
    "qwen3_moe linear": ("qwen3_moe", {**QWEN3, "rope_parameters": {"rope_type": "linear", "factor": 3.0}}),
    "qwen3_moe dynamic": (
        "qwen3_moe",
        {**QWEN3, "rope_parameters": {"rope_type": "dynamic", "factor": 2.0}, "max_position_embeddings": 64},
    ),
    "qwen3_moe llama3": ("qwen3_moe", {**QWEN3, "rope_parameters": LLAMA3}),
    "qwen3_moe yarn": ("qwen3_moe", {**QWEN3, "rope_parameters": YARN}),
    "qwen3_moe yarn with mscale": (
        "qwen3_moe", {**QWEN3, "rope_parameters": {**YARN, "mscale": 1.0, "mscale_all_dim": 0.6, "beta_fast": 16}}
    ),
    "granitemoe": ("granitemoe", GRANITE),
    "granitemoe untied": ("granitemoe", {**GRANITE, "tie_word_embeddings": False, "attention_bias": True}),
    "granitemoeshared": ("granitemoeshared", {**GRANITE, "shared_intermediate_size": 40}),
    "glm4_moe": ("glm4_moe", GLM4),
    "glm4_moe in groups": (
        "glm4_moe", {**GLM4, "n_group": 4, "topk_group": 2, "norm_topk_prob": False, "attention_bias": True}
    ),
    "glm4_moe without norms": ("glm4_moe", {**GLM4, "use_qk_norm": False, "first_k_dense_replace": 0}),
    "gpt_oss": ("gpt_oss", GPT_OSS),
    "gpt_oss wide window": ("gpt_oss", {**GPT_OSS, "sliding_window": 128, "attention_bias": False}),
    "ernie4_5_moe": ("ernie4_5_moe", ERNIE),
    "ernie4_5_moe with biases": (
        "ernie4_5_moe",
        {**ERNIE, "use_bias": True, "tie_word_embeddings": False, "moe_layer_end_index": 1, "moe_num_shared_experts": 0}
    ),
    "ernie4_5_moe every second": ("ernie4_5_moe", {**ERNIE, "moe_layer_interval": 2, "num_hidden_layers": 4}),
    "hunyuan_v1_moe": ("hunyuan_v1_moe", HUNYUAN),
    "hunyuan_v1_moe per layer": ("hunyuan_v1_moe", {**HUNYUAN, "moe_topk": [1, 4, 2], "attention_bias": True}),
    "hunyuan_v1_moe alpha": (
        "hunyuan_v1_moe", {**HUNYUAN, "rope_parameters": {"rope_type": "dynamic", "alpha": 20.0, "factor": 1.0}}
    ),
    "minimax_m2": ("minimax_m2", MINIMAX),
    "dots1": ("dots1", {**DOTS, "norm_topk_prob": True, "first_k_dense_replace": 1, "n_group": 2, "topk_group": 1}),
    "dots1 with windows": ("dots1", {**DOTS, "sliding_window": 5, "max_window_layers": 1, "attention_bias": True}),
    "hy_v3": ("hy_v3", {**EIGHT, "intermediate_size": 64, "moe_intermediate_size": 24, "head_dim": 16}),
    "solar_open": ("solar_open", {**DOTS, "head_dim": 16}),
    "flex_olmo": ("flex_olmo", OLMOE),
    "afmoe": ("afmoe", AFMOE),
    "afmoe with biases": ("afmoe", {**AFMOE, "mup_enabled": False, "attention_bias": True, "num_dense_layers": 0}),
    "exaone_moe": ("exaone_moe", EXAONE),
    "exaone_moe in groups": (
        "exaone_moe",
        {**EXAONE, "n_group": 4, "topk_group": 2, "layer_types": ["full_attention"] * 5, "first_k_dense_replace": 2},
    ),
    "llama4": ("llama4_text", LLAMA4),
    "llama4 partly dense": (
        "llama4_text", {**LLAMA4, "interleave_moe_layer_step": 2, "use_qk_norm": False, "attention_bias": True}
    ),
    "llama4 without temperature": (
        "llama4_text",
        {**LLAMA4, "attn_temperature_tuning": False, "attention_chunk_size": 64, "rope_parameters": LLAMA3},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_parity(name: str, tmp_path: Path) -> None:
    model_type, changes = CASES[name]
    assert_parity(AutoConfig.for_model(model_type, **{**COMMON, **changes}), tmp_path)
