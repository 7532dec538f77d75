"""Tiny random configs: any MoE family's own config class, shrunk to what a test can build in a blink."""

from __future__ import annotations

import copy
from typing import Any

from transformers import CONFIG_MAPPING, PretrainedConfig

LAYERS = 4

# Fields that mean the same wherever they stand. A field is set only where the family's config has it.
SIZES: dict[str, Any] = {
    "vocab_size": 96,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": LAYERS,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 8,
    "max_position_embeddings": 512,
    "sliding_window": 8,
    "sliding_window_size": 8,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
    # experts
    "num_experts": 8,
    "num_local_experts": 8,
    "n_routed_experts": 8,
    "moe_num_experts": 8,
    "num_experts_per_tok": 2,
    "num_experts_per_token": 2,
    "moe_k": 2,
    "moe_topk": 2,
    "n_group": 2,
    "topk_group": 1,
    "num_expert_group": 2,
    "first_k_dense_replace": 1,
    "num_dense_layers": 1,
    "moe_intermediate_size": 24,  # twice this is not hidden_size: a matrix shows which way it lies
    "dense_intermediate_size": 40,
    "moe_hidden_size": 32,
    "moe_latent_size": 16,
    "moe_shared_expert_intermediate_size": 24,
    "shared_expert_intermediate_size": 24,
    "shared_experts_intermediate_size": 24,
    "shared_intermediate_size": 24,
    "moe_layer_end_index": LAYERS - 1,
    "router_hidden_size": 16,
    # latent attention
    "kv_lora_rank": 16,
    "q_lora_rank": 24,
    "o_lora_rank": 16,
    "qk_nope_head_dim": 8,
    "qk_rope_head_dim": 4,
    "v_head_dim": 8,
    # indexers
    "index_n_heads": 16,  # with few heads most scores are exactly zero, and top-k among equals is nobody's to say
    "index_head_dim": 8,
    "index_topk": 8,
    "index_kpool": 4,
    # linear attention and state spaces
    "linear_num_heads": 4,
    "linear_head_dim": 8,
    "linear_num_key_heads": 2,
    "linear_num_value_heads": 4,
    "linear_key_head_dim": 8,
    "linear_value_head_dim": 8,
    "block_size": 8,
    "chunk_size": 8,
    "mamba_chunk_size": 8,
    "mamba_d_head": 16,
    "mamba_n_heads": 4,
    "mamba_d_state": 8,
    "mamba_dt_rank": 4,
    "mamba_head_dim": 16,
    "mamba_num_heads": 4,
    "ssm_state_size": 8,
    "n_groups": 2,
    # the rest
    "rotary_dim": 4,
    "d_rel": 4,
    "rel_extent": 16,
    "swa_head_dim": 8,
    "swa_num_attention_heads": 4,
    "swa_num_key_value_heads": 2,
    "hidden_size_per_layer_input": 8,
    "vocab_size_per_layer_input": 96,
    "o_groups": 2,
    "hc_mult": 2,
}

# What a family needs beyond the sizes: a mix of its layer kinds, and what its class derives wrongly from small numbers.
FAMILY: dict[str, dict[str, Any]] = {
    "beam": {"mlp_layer_types": ["dense", "sparse", "sparse", "sparse"]},
    "bailing_hybrid": {"layer_group_size": 2, "qk_rope_head_dim": 8, "num_local_experts": 8},
    "deepseek_v4": {
        "layer_types": [
            "sliding_attention",
            "heavily_compressed_attention",
            "compressed_sparse_attention",
            "sliding_attention",
        ],
        "mlp_layer_types": ["hash_moe", "moe", "moe", "moe"],
        "swiglu_limit": 0.05,  # so small, here and below, that limits count
    },
    "deepseek_v2": {"num_experts_per_tok": 2},
    "dots1": {"n_routed_experts": 8, "n_shared_experts": 1, "num_experts_per_tok": 2},
    "dots3_note_text": {
        "swa_num_attention_heads": 4,
        "swa_num_key_value_heads": 4,
        "swa_q_lora_rank": 24,
        "swa_kv_lora_rank": 16,
        "swa_head_dim": 12,
        "swa_qk_nope_head_dim": 8,
        "swa_v_head_dim": 8,
        "head_dim": 8,
    },
    "ernie4_5_vl_moe_text": {
        "moe_intermediate_size": [16, 8],
        "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0, "mrope_section": [1, 1, 2]},
    },
    "glm4v_moe_text": {
        "rope_parameters": {
            "rope_type": "default",
            "rope_theta": 10000.0,
            "partial_rotary_factor": 0.5,
            "mrope_section": [1, 1, 0],
        },
        "head_dim": 8,
    },
    "glm5_next_text": {"qk_rope_head_dim": 0, "layer_types": None, "swiglu_limit": 0.05},
    "gemma4_text": {
        "enable_moe_block": True,
        "num_experts": 8,
        "top_k_experts": 2,
        "moe_intermediate_size": 16,
        "global_head_dim": 16,
        "layer_types": ["sliding_attention", "full_attention", "sliding_attention", "full_attention"],
    },
    "granitemoehybrid": {"layer_types": ["linear_attention", "full_attention", "linear_attention", "full_attention"]},
    "hunyuan_v1_moe": {"head_dim": 8},
    "hy_v4": {"swiglu_limit": 0.05},
    "inkling2_text": {"mlp_gate_softcap": 0.1, "mlp_up_softcap": 0.2},
    "jamba": {"attn_layer_period": 2, "attn_layer_offset": 1},
    "kimi_linear": {
        "layer_types": ["linear_attention", "full_attention", "linear_attention", "full_attention"],
        "mlp_layer_types": ["sparse"] * 4,  # transformers saves a dense layer under a name that the hub does not have
    },
    "kolibri1": {"layer_types": ["sliding_attention", "sliding_attention", "sliding_attention", "full_attention"]},
    "minimax_m3_vl_text": {
        "layer_types": ["full_attention", "minimax_m3_sparse", "minimax_m3_sparse", "minimax_m3_sparse"],
        "mlp_layer_types": ["dense", "sparse", "sparse", "sparse"],
        "index_n_heads": 2,
        "index_head_dim": 6,
        "index_block_size": 4,
        "index_topk_blocks": 3,
        "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0, "partial_rotary_factor": 0.5},
        "swiglu_limit": 0.05,
    },
    "nemotron_h": {"time_step_min": 1e-6},  # transformers bounds time steps in prompts alone: see compat/modules.py
    "step3p5": {
        "layer_types": ["full_attention", "sliding_attention", "sliding_attention", "full_attention"],
        "mlp_layer_types": ["dense", "sparse", "sparse", "sparse"],
        "num_sliding_attention_heads": 6,
        "sliding_window": 8,
        "share_expert_dim": 20,
        "moe_router_scaling_factor": 1.7,
        "swiglu_limits": [None, 0.02, None, 0.05],
        "swiglu_limits_shared": [0.03, None, 0.02, None],
    },
    "longcat_flash": {
        "num_layers": 2,
        "ffn_hidden_size": 40,
        "expert_ffn_hidden_size": 24,
        "zero_expert_num": 4,
        "moe_topk": 5,
        "qk_head_dim": 12,
        "head_dim": 4,
    },
    "llama4_text": {
        "intermediate_size": 24,
        "intermediate_size_mlp": 40,
        "num_experts_per_tok": 1,
        "attention_chunk_size": 8,
        "floor_scale": 8,
        "moe_layers": [1, 3],
    },
    "laguna": {
        "layer_types": ["sliding_attention", "full_attention", "sliding_attention", "full_attention"],
        "num_attention_heads_per_layer": [4, 2, 4, 2],
    },
    "lfm2_moe": {"layer_types": ["conv", "full_attention", "conv", "full_attention"]},
    "mellum": {"layer_types": ["sliding_attention", "full_attention", "sliding_attention", "full_attention"]},
    "qwen4_exp_text": {
        "indexer_n_heads": 2,
        "indexer_kv_heads": 1,
        "indexer_head_dim": 8,
        "indexer_budget": 8,
        "indexer_compress_ratio": 2,
    },
    "dots3_note.vision_config": {
        "mlp_layer_types": ["dense", "dense"],
        "per_layer_config": {},
        "adapter_in_dim": 32,
        "adapter_out_dim": 32,
    },
    "dots3_note.audio_config": {"adapter_input_size": 32, "adapter_out_dim": 32},
    "inkling_mm_model.vision_config": {"num_hidden_layers": 6, "patch_size": 8},
    "muse_spark.vision_config": {"layer_types": ["window_attention", "full_attention"]},
    "muse_spark.audio_config": {"num_hidden_layers": 4, "hidden_sizes": [8, 8, 8, 8], "depths": [1, 1, 1, 1]},
    "zaya": {"num_experts_per_tok": 1},
}


# One family for each thing that can be different.
DIFFERENT = {
    "aria_text": "transposed experts, gate and up one after the other",
    "deepseek_v32": "an indexer with keys of its own in the cache",
    "deepseek_v4": "SwiGLU with limits, a router that looks up the token",
    "gpt_oss": "transposed and interleaved experts with biases",
    "granitemoe_swa": "all experts of a layer in one tensor",
    "inkling2_text": "softcapped SwiGLU",
    "inkling_text": "convolutions beside sliding attention in one cache layer",
    "jamba": "several tokens after a state have to be fed one by one",
    "kimi_linear": "dense tensors that are merged, recurrent layers",
    "kolibri1": "sliding windows, whose rows have to outlive the window",
    "minimax": "a cache of its own",
    "minimax_m3_vl": "a vision tower that is never loaded, clamped SwiGLU",
    "muse_spark": "a norm between the expert and its weight",
    "nemotron_h": "experts without a gate, in a latent space",
    "qwen3_vl_moe": "experts that may lie transposed, positions in three axes",
    "zaya": "a router that can choose nobody",
}

# Towers that see or hear: built because the model's class builds them, and never run.
TOWER: dict[str, Any] = {
    "depth": 2,
    "num_layers": 2,
    "num_hidden_layers": 2,
    "encoder_layers": 2,
    "hidden_size": 32,
    "d_model": 32,
    "embed_dim": 32,
    "num_heads": 4,
    "num_attention_heads": 4,
    "num_key_value_heads": 4,
    "encoder_attention_heads": 4,
    "head_dim": 8,
    "intermediate_size": 48,
    "encoder_ffn_dim": 48,
    "out_hidden_size": 32,
    "output_dim": 32,
    "text_hidden_size": 32,
    "projection_hidden_dim": 32,
    "num_position_embeddings": 64,
}


def tiny_config(model_type: str, **overrides: Any) -> PretrainedConfig:
    """A small config of this family, every layer kind in it. overrides win over everything."""
    config_class = CONFIG_MAPPING[model_type]
    default = config_class()
    parts = {name: getattr(default, name) for name in config_class.sub_configs}
    if parts:
        text = tiny_config(default.get_text_config().model_type, **overrides)
        towers = [name for name in parts if name != "text_config"]
        return config_class(text_config=text, **{name: _tower(model_type, name, parts[name]) for name in towers})
    known = default.to_dict()
    fields = {name: value for name, value in SIZES.items() if known.get(name) is not None}
    if "kv_lora_rank" in fields:
        fields["num_key_value_heads"] = fields["num_attention_heads"]  # latent attention has no groups
        fields.pop("head_dim", None)  # derived from the rotary and the other part
    return config_class(**copy.deepcopy({**fields, **FAMILY.get(model_type, {}), **overrides}))


def _tower(model_type: str, name: str, default: PretrainedConfig | None) -> PretrainedConfig | None:
    if default is None:
        return None
    known = default.to_dict()
    fields = {field: value for field, value in TOWER.items() if known.get(field) is not None}
    return type(default)(**{**fields, **FAMILY.get(f"{model_type}.{name}", {})})
