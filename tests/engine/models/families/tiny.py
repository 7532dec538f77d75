"""Small configs of the families whose layers are not plain grouped-query attention."""

from __future__ import annotations

from typing import Any

from transformers import AutoConfig

COMMON = {
    "vocab_size": 97, "hidden_size": 48, "num_hidden_layers": 3, "num_attention_heads": 4, "num_key_value_heads": 2,
    "max_position_embeddings": 512, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2,
    "rms_norm_eps": 1e-3,  # large, so that a wrong one shows
}  # fmt: skip
MLA = {
    "num_key_value_heads": 4, "q_lora_rank": 14, "kv_lora_rank": 16, "qk_nope_head_dim": 12, "qk_rope_head_dim": 16,
    "v_head_dim": 10, "intermediate_size": 64, "moe_intermediate_size": 24, "n_routed_experts": 8,
    "num_experts_per_tok": 3, "n_shared_experts": 1,
}  # fmt: skip
YARN = {
    "rope_type": "yarn", "rope_theta": 10000.0, "factor": 4.0, "mscale": 0.7, "mscale_all_dim": 0.9, "beta_fast": 4,
    "beta_slow": 0.5, "original_max_position_embeddings": 128,
}  # fmt: skip
LINEAR = {
    "num_hidden_layers": 4, "head_dim": 16, "linear_num_key_heads": 2, "linear_num_value_heads": 4,
    "linear_key_head_dim": 8, "linear_value_head_dim": 6, "moe_intermediate_size": 24,
    "shared_expert_intermediate_size": 20, "num_experts": 8, "num_experts_per_tok": 3,
    "layer_types": ["linear_attention", "linear_attention", "full_attention", "linear_attention"],
}  # fmt: skip
CONV = {
    "intermediate_size": 40, "moe_intermediate_size": 24, "num_experts": 8, "num_experts_per_tok": 3,
    "num_dense_layers": 1, "layer_types": ["conv", "full_attention", "conv"], "routed_scaling_factor": 1.3,
    "norm_eps": 1e-3,
}  # fmt: skip
GEMMA = {
    "num_hidden_layers": 4, "head_dim": 8, "global_head_dim": 16, "num_global_key_value_heads": 1,
    "attention_k_eq_v": True, "intermediate_size": 40, "hidden_size_per_layer_input": 0, "enable_moe_block": True,
    "num_experts": 8, "top_k_experts": 3, "moe_intermediate_size": 24, "sliding_window": 6,
    "layer_types": ["sliding_attention", "full_attention", "sliding_attention", "full_attention"],
}  # fmt: skip

FAMILIES: dict[str, dict[str, Any]] = {
    "deepseek_v2": {**MLA, "first_k_dense_replace": 1},
    "deepseek_v3": {**MLA, "first_k_dense_replace": 1, "n_group": 4, "topk_group": 2},
    "glm4_moe_lite": MLA,
    "qwen3_next": {**LINEAR, "intermediate_size": 40},
    "qwen3_5_moe_text": LINEAR,
    "lfm2_moe": CONV,
    "gemma4_text": GEMMA,
}


def tiny(family: str, **changes: Any) -> Any:
    """A small config of a family, for transformers."""
    return AutoConfig.for_model(family, **{**COMMON, **FAMILIES[family], **changes})


def raw(family: str, **changes: Any) -> dict[str, Any]:
    """A small config as a parsed config.json has it, only with what is given here."""
    return {"model_type": family, **COMMON, **FAMILIES[family], **changes}
