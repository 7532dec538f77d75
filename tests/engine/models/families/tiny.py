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
QWEN = {
    "head_dim": 16, "intermediate_size": 40, "moe_intermediate_size": 24, "num_experts": 8, "num_experts_per_tok": 3,
    "mlp_only_layers": [1],
}  # fmt: skip
GEMMA = {
    "num_hidden_layers": 4, "head_dim": 8, "global_head_dim": 16, "num_global_key_value_heads": 1,
    "attention_k_eq_v": True, "intermediate_size": 40, "hidden_size_per_layer_input": 0, "enable_moe_block": True,
    "num_experts": 8, "top_k_experts": 3, "moe_intermediate_size": 24, "sliding_window": 6,
    "layer_types": ["sliding_attention", "full_attention", "sliding_attention", "full_attention"],
}  # fmt: skip

SCALED = {**YARN, "llama_4_scaling_beta": 0.3, "original_max_position_embeddings": 8}
DSA = {**MLA, "index_n_heads": 16, "index_head_dim": 24, "index_topk": 8, "first_k_dense_replace": 1}

HYBRID = ["linear_attention", "full_attention", "linear_attention", "full_attention"]
NEMOTRON = {
    "layers_block_type": ["linear_attention", "moe", "full_attention", "moe", "linear_attention", "mlp", "moe"],
    "head_dim": 16, "ssm_state_size": 12, "mamba_num_heads": 6, "mamba_head_dim": 10, "n_groups": 2, "chunk_size": 8,
    "n_routed_experts": 8, "num_experts_per_tok": 3, "moe_intermediate_size": 24, "intermediate_size": 40,
    "moe_shared_expert_intermediate_size": 20, "layer_norm_epsilon": 1e-3, "time_step_min": 0.05,
    "routed_scaling_factor": 1.7,
}  # fmt: skip
GRANITE4 = {
    "num_hidden_layers": 4, "layer_types": HYBRID, "num_local_experts": 8, "num_experts_per_tok": 3,
    "intermediate_size": 24, "shared_intermediate_size": 20, "mamba_n_heads": 6, "mamba_d_state": 12,
    "mamba_n_groups": 2, "mamba_chunk_size": 8, "embedding_multiplier": 3.0, "attention_multiplier": 0.2,
    "residual_multiplier": 0.7, "logits_scaling": 1.5, "tie_word_embeddings": True,
}  # fmt: skip
LONGCAT = {
    "num_layers": 2, "num_key_value_heads": 4, "q_lora_rank": 14, "kv_lora_rank": 16, "qk_nope_head_dim": 12,
    "qk_rope_head_dim": 16, "head_dim": 16, "v_head_dim": 10, "ffn_hidden_size": 40, "expert_ffn_hidden_size": 24,
    "n_routed_experts": 6, "zero_expert_num": 3, "moe_topk": 3, "routed_scaling_factor": 1.6,
}  # fmt: skip
MIMO = {
    "num_hidden_layers": 4, "head_dim": 24, "v_head_dim": 16, "intermediate_size": 40, "moe_intermediate_size": 24,
    "n_routed_experts": 8, "num_experts_per_tok": 3, "sliding_window": 6,
    "layer_types": ["full_attention", "sliding_attention", "sliding_attention", "full_attention"],
}  # fmt: skip
KIMI = {
    **MLA, "q_lora_rank": None, "num_hidden_layers": 4, "layer_types": HYBRID, "linear_head_dim": 8,
    "linear_num_heads": 3, "num_local_experts": 8, "mlp_layer_types": ["sparse"] * 4, "n_group": 4, "topk_group": 2,
}  # fmt: skip
del KIMI["n_routed_experts"]
V4 = {
    "num_key_value_heads": 1, "num_hidden_layers": 4, "head_dim": 16, "partial_rotary_factor": 0.5, "q_lora_rank": 14,
    "o_lora_rank": 12, "o_groups": 2, "moe_intermediate_size": 24, "n_routed_experts": 8, "num_experts_per_tok": 3,
    "hc_mult": 2, "index_n_heads": 16, "index_head_dim": 12, "index_topk": 2, "sliding_window": 6, "swiglu_limit": 0.5,
    "compress_rates": {"compressed_sparse_attention": 4, "heavily_compressed_attention": 6},
    "layer_types": [
        "sliding_attention", "heavily_compressed_attention", "compressed_sparse_attention", "sliding_attention",
    ],
    "mlp_layer_types": ["hash_moe", "moe", "moe", "moe"],
}  # fmt: skip

FAMILIES: dict[str, dict[str, Any]] = {
    "nemotron_h": NEMOTRON,
    "granitemoehybrid": GRANITE4,
    "longcat_flash": LONGCAT,
    "mimo_v2_flash": MIMO,
    "kimi_linear": KIMI,
    "deepseek_v2": {**MLA, "first_k_dense_replace": 1},
    "deepseek_v3": {**MLA, "first_k_dense_replace": 1, "n_group": 4, "topk_group": 2},
    "deepseek_v32": {**DSA, "n_group": 4, "topk_group": 2},
    "deepseek_v4": V4,
    "glm4_moe_lite": MLA,
    "glm_moe_dsa": DSA,
    "mistral4": {**MLA, "rope_parameters": SCALED, "n_group": 4, "topk_group": 2, "first_k_dense_replace": 1},
    "qwen3_next": {**LINEAR, "intermediate_size": 40},
    "qwen3_5_moe_text": LINEAR,
    "lfm2_moe": CONV,
    "gemma4_text": GEMMA,
}


SAME = {"kimi_k2": "deepseek_v3"}  # under another name


def tiny(family: str, **changes: Any) -> Any:
    """A small config of a family, for transformers."""
    return AutoConfig.for_model(family, **{**COMMON, **FAMILIES[family], **changes})


def raw(family: str, **changes: Any) -> dict[str, Any]:
    """A small config as a parsed config.json has it, only with what is given here."""
    return {"model_type": family, **COMMON, **FAMILIES[SAME.get(family, family)], **changes}
