"""The config.json that a GGUF file's metadata stands for, family by family, under the names that transformers gives.

llama.cpp's converter reads a config.json and keeps what its own code needs; this is the way back. What it leaves out
because every model of a family has it alike is filled in here, with what those models have.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.errors import Kind, UnderhillError
from engine.formats.errors import unsupported_file, unusable_file
from engine.formats.gguf_header import GgufTensor
from engine.formats.gguf_metadata import Metadata
from engine.translatable import msg

Tensors = Mapping[str, GgufTensor]
MTP_JOINT = "nextn.eh_proj.weight"  # what only a layer for multi-token prediction has
Config = dict[str, Any]

SOFTMAX, SIGMOID = 1, 2  # expert_gating_func
_YARN = {"rope.scaling.yarn_beta_fast": "beta_fast", "rope.scaling.yarn_beta_slow": "beta_slow"}


def mixtral(m: Metadata, t: Tensors) -> Config:
    """Llama with experts."""
    return common(m, t, "mixtral") | experts(m, "num_local_experts") | {"sliding_window": None}


def qwen2_moe(m: Metadata, t: Tensors) -> Config:
    """llama.cpp computes these without renormalizing the chosen, as all published ones want it."""
    return (
        common(m, t, "qwen2_moe", "moe_intermediate_size")
        | experts(m, "num_experts")
        | {
            "shared_expert_intermediate_size": rows(t, "blk.0.ffn_up_shexp.weight"),
            "norm_topk_prob": False,
            "qkv_bias": "blk.0.attn_q.bias" in t,
        }
    )


def qwen3_moe(m: Metadata, t: Tensors) -> Config:
    """All published ones renormalize."""
    flags = {"norm_topk_prob": m.flag("expert_weights_norm", True), "attention_bias": "blk.0.attn_q.bias" in t}
    return common(m, t, "qwen3_moe", "moe_intermediate_size") | experts(m, "num_experts") | flags


def qwen3_vl_moe(m: Metadata, t: Tensors) -> Config:
    """The language model of Qwen3-VL: Qwen3-MoE, as of the axes of its rotation text has one.

    What sees is another file (mmproj), which is not read: the model is one of text.
    """
    return qwen3_moe(m, t) | {"norm_topk_prob": True}


def olmoe(m: Metadata, t: Tensors) -> Config:
    """Not renormalized. Its width is called feed_forward_length."""
    clip = m.number("attention.clamp_kqv") if m.has("attention.clamp_kqv") else None
    return common(m, t, "olmoe") | experts(m, "num_experts") | {"norm_topk_prob": False, "clip_qkv": clip}


def gpt_oss(m: Metadata, t: Tensors) -> Config:
    """Windows in every other layer, beginning with the first; YaRN without rounding its bounds."""
    found = common(m, t, "gpt_oss") | experts(m, "num_local_experts")
    found["intermediate_size"] = rows(t, "blk.0.ffn_up_exps.weight")
    if found["rope_parameters"]["rope_type"] == "yarn":
        found["rope_parameters"] = {"beta_fast": 32.0, "beta_slow": 1.0, **found["rope_parameters"], "truncate": False}
    kinds = ["full_attention" if i % 2 else "sliding_attention" for i in range(found["num_hidden_layers"])]
    window = m.integer("attention.sliding_window", 128)
    return found | {"sliding_window": window, "layer_types": kinds, "attention_bias": True, "swiglu_limit": 7.0}


def granite_moe(m: Metadata, t: Tensors) -> Config:
    """With a shared expert or without."""
    shared = "blk.0.ffn_up_shexp.weight" in t
    found = common(m, t, "granitemoeshared" if shared else "granitemoe") | experts(m, "num_local_experts")
    found["intermediate_size"] = rows(t, "blk.0.ffn_up_exps.weight")
    if shared:
        found["shared_intermediate_size"] = rows(t, "blk.0.ffn_up_shexp.weight")
    return found | {
        "attention_multiplier": m.number("attention.scale", 1.0),
        "embedding_multiplier": m.number("embedding_scale", 1.0),
        "residual_multiplier": m.number("residual_scale", 1.0),
        "logits_scaling": m.number("logit_scale", 1.0),
    }


def glm4_moe(m: Metadata, t: Tensors) -> Config:
    """GLM-4.5 to 4.7, and Solar Open, which llama.cpp takes for one of them."""
    found = common(m, t, "glm4_moe", "moe_intermediate_size") | deepseek_experts(m, t)
    return found | {"attention_bias": "blk.0.attn_q.bias" in t, "use_qk_norm": "blk.0.attn_q_norm.weight" in t}


def dots1(m: Metadata, t: Tensors) -> Config:
    """dots.llm1."""
    return common(m, t, "dots1", "moe_intermediate_size") | deepseek_experts(m, t) | {"sliding_window": None}


def deepseek(m: Metadata, t: Tensors) -> Config:
    """DeepSeek V2 (softmax) and those with V3's router: V3, R1, Kimi K2, GLM-4.7-Flash."""
    corrected = any(name.endswith("exp_probs_b.bias") for name in t)
    sigmoid = m.integer("expert_gating_func", SIGMOID if corrected else SOFTMAX) == SIGMOID
    found = common(m, t, "deepseek_v3" if sigmoid else "deepseek_v2", "moe_intermediate_size")
    found |= deepseek_experts(m, t)
    rope = m.integer("rope.dimension_count")
    key = m.integer("attention.key_length_mla", m.integer("attention.key_length"))
    del found["head_dim"]
    found["rope_parameters"].pop("partial_rotary_factor", None)  # what is rotated is a part of its own
    found |= {
        "num_key_value_heads": found["num_attention_heads"],
        "q_lora_rank": m.integer("attention.q_lora_rank") if "blk.0.attn_q_a.weight" in t else None,
        "kv_lora_rank": m.integer("attention.kv_lora_rank"),
        "qk_rope_head_dim": rope,
        "qk_nope_head_dim": key - rope,
        "v_head_dim": m.integer("attention.value_length_mla", m.integer("attention.value_length")),
    }
    if not sigmoid:
        found["topk_method"] = "group_limited_greedy" if found["n_group"] > 1 else "greedy"
        del found["scoring_func"]
    if m.has("rope.scaling.yarn_log_multiplier"):  # 0.1 times what the config calls so
        scale = round(10 * m.number("rope.scaling.yarn_log_multiplier"), 6)
        found["rope_parameters"] |= {"mscale": scale, "mscale_all_dim": scale}
    return found


def glm_dsa(m: Metadata, t: Tensors) -> Config:
    """GLM-5: layers without an indexer of their own take over the choice of the one before."""
    found = deepseek(m, t) | {"model_type": "glm_moe_dsa", "scoring_func": "sigmoid"}
    kinds = ["shared", "full"]
    return found | {
        "index_n_heads": m.integer("attention.indexer.head_count"),
        "index_head_dim": m.integer("attention.indexer.key_length"),
        "index_topk": m.integer("attention.indexer.top_k"),
        "indexer_types": [kinds[f"blk.{i}.indexer.proj.weight" in t] for i in range(found["num_hidden_layers"])],
    }


def afmoe(m: Metadata, t: Tensors) -> Config:
    """Trinity: every fourth layer sees everything, and embeddings grow, as llama.cpp has it of all of them."""
    found = common(m, t, "afmoe", "moe_intermediate_size") | experts(m, "num_experts")
    dense = m.integer("leading_dense_block_count", 0)
    return found | {
        "num_dense_layers": dense,
        "num_shared_experts": rows(t, f"blk.{dense}.ffn_up_shexp.weight", 0) // found["moe_intermediate_size"],
        "route_norm": m.flag("expert_weights_norm", True),
        "route_scale": m.number("expert_weights_scale", 1.0),
        "sliding_window": m.integer("attention.sliding_window"),
        "global_attn_every_n_layers": 4,
        "mup_enabled": True,
        "score_func": "sigmoid",
    }


def exaone_moe(m: Metadata, t: Tensors) -> Config:
    """K-EXAONE. Which layers have a window is said one by one."""
    found = common(m, t, "exaone_moe", "moe_intermediate_size") | deepseek_experts(m, t)
    found |= {"num_experts": found.pop("n_routed_experts"), "num_shared_experts": found.pop("n_shared_experts")}
    if not m.has("attention.sliding_window"):
        return found | {"sliding_window": None}
    slides = m.flags("attention.sliding_window_pattern", found["num_hidden_layers"])
    kinds = ["full_attention", "sliding_attention"]
    return found | {"sliding_window": m.integer("attention.sliding_window"), "layer_types": [kinds[s] for s in slides]}


def mimo(m: Metadata, t: Tensors) -> Config:
    """MiMo-V2-Flash. Older files do not say how far values are turned down: by what is usual."""
    count = m.integer("block_count") - m.integer("nextn_predict_layers", 0)
    slides, heads = m.flags("attention.sliding_window_pattern", count), m.integers("attention.head_count_kv", count)
    by_kind = dict(zip(slides, heads, strict=True))
    full = by_kind.get(False, heads[0])
    found = common(m, t, "mimo_v2_flash", "moe_intermediate_size", full) | deepseek_experts(m, t)
    turned = found["rope_parameters"]
    kinds, mlps = ["full_attention", "sliding_attention"], ["dense", "sparse"]
    if m.has("attention.value_scale"):
        found["attention_value_scale"] = m.number("attention.value_scale")
    return found | {
        "v_head_dim": m.integer("attention.value_length"),
        "swa_num_key_value_heads": by_kind.get(True, 2 * full),
        "sliding_window_size": m.integer("attention.sliding_window"),  # how many are seen besides the token itself
        "layer_types": [kinds[s] for s in slides],
        "mlp_layer_types": [mlps[f"blk.{i}.ffn_gate_inp.weight" in t] for i in range(count)],
        "rope_parameters": {
            kinds[0]: turned,
            kinds[1]: turned | {"rope_theta": m.number("rope.freq_base_swa", 10000.0)},
        },
    }


def bailing(m: Metadata, t: Tensors) -> Config:
    """Ling and Ring, the first generation: a norm of the head's rows is in its values already."""
    found = common(m, t, "bailing_moe", "moe_intermediate_size") | experts(m, "num_experts")
    return found | _bailing(m, t, found["moe_intermediate_size"]) | {"norm_head": False}


def bailing2(m: Metadata, t: Tensors) -> Config:
    """Ling 2 and Ring 2: DeepSeek-V3's router, norms of queries and keys."""
    found = common(m, t, "bailing_moe_v2", "moe_intermediate_size") | experts(m, "num_experts")
    return (
        found
        | _bailing(m, t, found["moe_intermediate_size"])
        | {
            "score_function": "sigmoid",
            "use_qk_norm": True,
            "n_group": m.integer("expert_group_count", 1) or 1,
            "topk_group": m.integer("expert_group_used_count", 1) or 1,
            "moe_router_enable_expert_bias": any(name.endswith("exp_probs_b.bias") for name in t),
        }
    )


def _bailing(m: Metadata, t: Tensors, width: int) -> Config:
    dense = m.integer("leading_dense_block_count", 0)
    return {
        "num_shared_experts": rows(t, f"blk.{dense}.ffn_up_shexp.weight", 0) // width,
        "first_k_dense_replace": dense,
        "norm_topk_prob": m.flag("expert_weights_norm", True),
        "routed_scaling_factor": m.number("expert_weights_scale", 1.0),
        "use_qkv_bias": False,
        "use_bias": False,
    }


def deepseek_experts(m: Metadata, t: Tensors) -> Config:
    """The routing of DeepSeek and the families that follow it."""
    dense = m.integer("leading_dense_block_count", 0)
    width = m.integer("expert_feed_forward_length")
    shared = rows(t, f"blk.{dense}.ffn_up_shexp.weight", 0)
    return experts(m, "n_routed_experts") | {
        "n_shared_experts": shared // max(1, width),
        "first_k_dense_replace": dense,
        "norm_topk_prob": m.flag("expert_weights_norm", False),
        "routed_scaling_factor": m.number("expert_weights_scale", 1.0) or 1.0,
        "n_group": m.integer("expert_group_count", 1) or 1,
        "topk_group": m.integer("expert_group_used_count", 1) or 1,
        "scoring_func": "sigmoid",
    }


def ernie(m: Metadata, t: Tensors) -> Config:
    """ERNIE 4.5."""
    dense = m.integer("leading_dense_block_count", 0)
    found = common(m, t, "ernie4_5_moe", "moe_intermediate_size") | experts(m, "moe_num_experts", "moe_k")
    shared = rows(t, f"blk.{dense}.ffn_up_shexp.weight", 0)
    return found | {
        "moe_num_shared_experts": shared // max(1, found["moe_intermediate_size"]),
        "moe_layer_start_index": dense,
        "moe_layer_end_index": -1,
        "moe_layer_interval": m.integer("interleave_moe_layer_step", 1),
        "use_bias": False,
    }


def lfm2_moe(m: Metadata, t: Tensors) -> Config:
    """Layers without key heads are convolutions."""
    found = common(m, t, "lfm2_moe", "moe_intermediate_size") | experts(m, "num_experts")
    heads = m.integers("attention.head_count_kv", found["num_hidden_layers"])
    return found | {
        "norm_eps": found.pop("rms_norm_eps"),
        "layer_types": ["full_attention" if n else "conv" for n in heads],
        "num_dense_layers": m.integer("leading_dense_block_count", 0),
        "conv_L_cache": m.integer("shortconv.l_cache"),
        "conv_bias": False,
        "use_expert_bias": any(name.endswith("exp_probs_b.bias") for name in t),
        "norm_topk_prob": True,
        "routed_scaling_factor": 1.0,
    }


def minimax_m2(m: Metadata, t: Tensors) -> Config:
    """MiniMax-M2."""
    found = common(m, t, "minimax_m2") | experts(m, "num_local_experts")
    found["intermediate_size"] = rows(t, "blk.0.ffn_up_exps.weight")
    rotary = m.integer("rope.dimension_count")
    return found | {"use_qk_norm": True, "qk_norm_type": "per_layer", "rotary_dim": rotary, "scoring_func": "sigmoid"}


def hunyuan(m: Metadata, t: Tensors) -> Config:
    """Hunyuan-A13B. Its stretch of theta ('alpha') is in the metadata's theta already."""
    found = common(m, t, "hunyuan_v1_moe") | experts(m, "num_experts", "moe_topk")
    found["intermediate_size"] = rows(t, "blk.0.ffn_up_exps.weight")
    return found | {"num_shared_expert": 1, "use_qk_norm": True, "use_mixed_mlp_moe": True}


def qwen3_next(m: Metadata, t: Tensors) -> Config:
    """Layers of linear attention and of attention."""
    found = common(m, t, "qwen3_next", "moe_intermediate_size") | experts(m, "num_experts")
    heads = max(1, m.integer("ssm.time_step_rank"))
    kinds = ["linear_attention", "full_attention"]
    return found | {
        "shared_expert_intermediate_size": rows(t, "blk.0.ffn_up_shexp.weight"),
        "norm_topk_prob": True,
        "layer_types": [kinds[f"blk.{i}.attn_q.weight" in t] for i in range(found["num_hidden_layers"])],
        "linear_conv_kernel_dim": m.integer("ssm.conv_kernel"),
        "linear_key_head_dim": m.integer("ssm.state_size"),
        "linear_num_key_heads": max(1, m.integer("ssm.group_count")),
        "linear_num_value_heads": heads,
        "linear_value_head_dim": m.integer("ssm.inner_size") // heads,
    }


def qwen35_moe(m: Metadata, t: Tensors) -> Config:
    """Qwen3.5 and 3.6; of the axes of its rotation, text has one."""
    return qwen3_next(m, t) | {"model_type": "qwen3_5_moe_text"}


# ---- what all have ------------------------------------------------------------------------------------------------


def common(m: Metadata, t: Tensors, model_type: str, expert_width: str = "", key_heads: int | None = None) -> Config:
    """Sizes, attention, rotation, special tokens.

    expert_width: the config's name of expert_feed_forward_length. key_heads: where layers have not all as many.
    """
    heads, hidden = m.integer("attention.head_count"), m.integer("embedding_length")
    if not heads or "token_embd.weight" not in t:
        raise unusable_file(msg("This GGUF file has no heads or no embeddings."))
    head_dim = m.integer("attention.key_length", hidden // heads)
    layers = m.integer("block_count") - m.integer("nextn_predict_layers", 0)
    found: Config = {
        "model_type": model_type,
        "hidden_size": hidden,
        "num_hidden_layers": layers,
        "num_nextn_predict_layers": int(f"blk.{layers}.{MTP_JOINT}" in t),  # of several the first one is of use
        "num_attention_heads": heads,
        "num_key_value_heads": key_heads or m.integer("attention.head_count_kv", heads),
        "head_dim": head_dim,
        "hidden_act": "silu",
        "rms_norm_eps": m.number("attention.layer_norm_rms_epsilon"),
        "max_position_embeddings": m.integer("context_length"),
        "vocab_size": t["token_embd.weight"].shape[0],
        "tie_word_embeddings": "output.weight" not in t,
        "rope_parameters": rope(m, head_dim),
    }
    if m.has("feed_forward_length"):
        found["intermediate_size"] = m.integer("feed_forward_length")
    if expert_width:
        found[expert_width] = m.integer("expert_feed_forward_length", rows_of_expert(t))
    for which in ("bos", "eos"):
        found[f"{which}_token_id"] = m.token(which)
    return found


def rope(m: Metadata, head_dim: int) -> Config:
    """The rotary settings. Raises UnderhillError(UNSUPPORTED_MODEL) for variants that are not kept whole in GGUF."""
    rotated = m.integer("rope.dimension_count", head_dim)
    kind = m.text("rope.scaling.type", "none")
    found: Config = {"rope_type": "default", "rope_theta": m.number("rope.freq_base", 10000.0)}
    if rotated < head_dim:
        found["partial_rotary_factor"] = rotated / head_dim
    if kind == "none":
        return found
    if kind not in ("linear", "yarn"):
        raise unsupported_file(
            msg(
                "This GGUF file stretches its context by {kind}, which Underhill does not read from GGUF.",
                kind=repr(kind),
            )
        )
    found |= {"rope_type": kind, "factor": m.number("rope.scaling.factor")}
    if kind == "yarn":
        found["original_max_position_embeddings"] = m.integer("rope.scaling.original_context_length")
        found |= {name: m.number(key) for key, name in _YARN.items() if m.has(key)}
    return found


def experts(m: Metadata, count: str, used: str = "num_experts_per_tok") -> Config:
    """How many experts a layer has, and how many compute a token, under the config's names."""
    return {count: m.integer("expert_count"), used: m.integer("expert_used_count")}


def rows(t: Tensors, name: str, default: int | None = None) -> int:
    """Rows of a matrix (of one expert's, where it holds many). Raises UnderhillError(MISSING_FILE)."""
    if name in t and len(t[name].shape) > 1:
        return t[name].shape[-2]
    if default is None:
        raise UnderhillError(
            Kind.MISSING_FILE, msg("The GGUF file lacks the tensor {name}.", name=name), msg("Download it again.")
        )
    return default


def rows_of_expert(t: Tensors) -> int:
    """The width of the routed experts of the first layer that has them."""
    return rows(t, next((n for n in t if n.endswith("ffn_up_exps.weight")), "blk.0.ffn_up_exps.weight"))
