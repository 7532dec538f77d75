"""Tiny random models written as GGUF by gguf's own writer, named by gguf's own tables, as llama.cpp does."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import gguf
import numpy as np
from gguf import GGMLQuantizationType as Type
from numpy.typing import NDArray
from safetensors.torch import load

from tests.engine.formats.gguf_blocks import random_blocks

Array = NDArray[Any]
K_TYPES = (Type.Q2_K, Type.Q3_K, Type.Q4_K, Type.Q5_K, Type.Q6_K, Type.IQ4_NL, Type.IQ4_XS)

SIZES: dict[str, Any] = {
    "vocab_size": 128, "hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 3, "num_attention_heads": 4,
    "num_key_value_heads": 2, "head_dim": 16, "max_position_embeddings": 512, "num_experts_per_tok": 3,
    "bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0, "tie_word_embeddings": False, "rms_norm_eps": 1e-3,
}  # fmt: skip
YARN = {"rope_type": "yarn", "rope_theta": 10000.0, "factor": 4.0, "original_max_position_embeddings": 128}
ROPE = {"rope_type": "default", "rope_theta": 50000.0}
MLA = {
    "num_key_value_heads": 4, "q_lora_rank": 32, "kv_lora_rank": 32, "qk_nope_head_dim": 32, "qk_rope_head_dim": 16,
    "v_head_dim": 32, "moe_intermediate_size": 32, "n_routed_experts": 8, "n_shared_experts": 2,
    "first_k_dense_replace": 1, "routed_scaling_factor": 1.5,
}  # fmt: skip
LINEAR = {
    "num_experts": 8, "moe_intermediate_size": 32, "shared_expert_intermediate_size": 64, "linear_num_key_heads": 2,
    "linear_num_value_heads": 6, "linear_key_head_dim": 16, "linear_value_head_dim": 32, "num_hidden_layers": 4,
    "layer_types": ["linear_attention", "full_attention"] * 2,
}  # fmt: skip

BAILING = {
    "num_experts": 8, "moe_intermediate_size": 32, "num_shared_experts": 2, "norm_topk_prob": True, "norm_head": False,
    "use_qkv_bias": False, "use_bias": False, "first_k_dense_replace": 0, "rope_theta": 50000.0,
}  # fmt: skip

# architecture of GGUF -> (model_type, what its config has beyond SIZES)
FAMILIES: dict[str, tuple[str, dict[str, Any]]] = {
    "llama": ("mixtral", {"num_local_experts": 8, "sliding_window": None, "rope_parameters": ROPE}),
    "qwen2moe": (
        "qwen2_moe",
        {"num_experts": 8, "moe_intermediate_size": 32, "shared_expert_intermediate_size": 64},
    ),
    "qwen3moe": (
        "qwen3_moe",
        {"num_experts": 8, "moe_intermediate_size": 32, "norm_topk_prob": True, "rope_parameters": YARN},
    ),
    "qwen3vlmoe": (  # what a file holds of it: see test_qwen3_vl
        "qwen3_moe",
        {"num_experts": 8, "moe_intermediate_size": 32, "norm_topk_prob": True, "rope_parameters": ROPE},
    ),
    "olmoe": ("olmoe", {"num_experts": 8}),
    "gpt-oss": (
        "gpt_oss",
        {
            "num_local_experts": 8, "intermediate_size": 32, "sliding_window": 8,
            "rope_parameters": {**YARN, "factor": 32.0, "beta_fast": 32.0, "beta_slow": 1.0, "truncate": False},
        },
    ),
    "granitemoe": (
        "granitemoeshared",
        {
            "num_local_experts": 8, "intermediate_size": 32, "shared_intermediate_size": 64,
            "attention_multiplier": 0.3, "embedding_multiplier": 2.0, "residual_multiplier": 0.5, "logits_scaling": 4.0,
        },
    ),
    "glm4moe": (
        "glm4_moe",
        {
            "moe_intermediate_size": 32, "n_routed_experts": 8, "n_shared_experts": 1, "first_k_dense_replace": 1,
            "attention_bias": True, "use_qk_norm": True, "routed_scaling_factor": 1.5, "norm_topk_prob": True,
            "rope_parameters": {**ROPE, "partial_rotary_factor": 0.5},
        },
    ),
    "dots1": (
        "dots1",
        {
            "moe_intermediate_size": 32, "n_routed_experts": 8, "n_shared_experts": 1, "first_k_dense_replace": 1,
            "norm_topk_prob": True, "routed_scaling_factor": 1.5, "sliding_window": None,
        },
    ),
    "deepseek2": ("deepseek_v3", {**MLA, "n_group": 4, "topk_group": 2, "norm_topk_prob": True,
                                  "rope_parameters": {**YARN, "mscale": 0.7, "mscale_all_dim": 0.7}}),
    "ernie4_5-moe": (
        "ernie4_5_moe",
        {
            "moe_num_experts": 8, "moe_k": 3, "moe_intermediate_size": 32, "moe_num_shared_experts": 2,
            "moe_layer_start_index": 1,
        },
    ),
    "lfm2moe": (
        "lfm2_moe",
        {
            "num_experts": 8, "moe_intermediate_size": 32, "num_dense_layers": 1, "norm_eps": 1e-3,
            "layer_types": ["conv", "full_attention", "conv"], "tie_word_embeddings": True,
        },
    ),
    "minimax-m2": (
        "minimax_m2",
        {"num_local_experts": 8, "intermediate_size": 32, "rope_parameters": {**ROPE, "partial_rotary_factor": 0.5}},
    ),
    "qwen3next": ("qwen3_next", {**LINEAR, "rope_parameters": {**ROPE, "partial_rotary_factor": 0.25}}),
    "qwen35moe": ("qwen3_5_moe_text", {**LINEAR, "rope_parameters": {
        **ROPE, "partial_rotary_factor": 0.25, "mrope_section": [1, 1, 0], "mrope_interleaved": True}}),
    "hunyuan-moe": ("hunyuan_v1_moe", {"num_experts": 8, "moe_topk": 3, "intermediate_size": 32}),
    "afmoe": (
        "afmoe",
        {
            "num_experts": 8, "moe_intermediate_size": 32, "num_shared_experts": 2, "num_hidden_layers": 5,
            "num_dense_layers": 1, "sliding_window": 8, "route_scale": 1.3, "mup_enabled": True,
        },
    ),
    "exaone-moe": (
        "exaone_moe",
        {
            "num_experts": 8, "moe_intermediate_size": 32, "num_shared_experts": 2, "num_hidden_layers": 5,
            "sliding_window": 8, "routed_scaling_factor": 1.5, "first_k_dense_replace": 1,
        },
    ),
    "glm-dsa": (
        "glm_moe_dsa",
        {**MLA, "index_n_heads": 16, "index_head_dim": 32, "index_topk": 8, "norm_topk_prob": True,
         "indexer_types": ["full", "shared", "full"]},
    ),
    "mimo2": (
        "mimo_v2_flash",
        {
            "num_hidden_layers": 4, "head_dim": 24, "v_head_dim": 16, "moe_intermediate_size": 32,
            "n_routed_experts": 8, "sliding_window": 6, "attention_value_scale": 0.6, "num_key_value_heads": 1,
            "layer_types": ["full_attention", "sliding_attention", "sliding_attention", "full_attention"],
        },
    ),
    "bailingmoe": ("bailing_moe", BAILING),
    "bailingmoe2": (
        "bailing_moe_v2",
        {**BAILING, "score_function": "sigmoid", "use_qk_norm": True, "partial_rotary_factor": 0.5, "n_group": 4,
         "topk_group": 2, "routed_scaling_factor": 2.5, "moe_router_enable_expert_bias": True,
         "first_k_dense_replace": 1, "num_shared_experts": 1},
    ),
}  # fmt: skip


def tiny(architecture: str, **changes: Any) -> Any:
    """A small config of the family, for transformers."""
    from transformers import AutoConfig

    model_type, own = FAMILIES[architecture]
    return AutoConfig.for_model(model_type, **{**SIZES, **own, **changes})


def write(
    folder: Path,
    config: Mapping[str, Any],
    target: Path,
    architecture: str,
    type_of: Callable[[str, Array], Type] = lambda name, array: Type.F32,
    extra: Callable[[gguf.GGUFWriter], None] = lambda writer: None,
    split: int = 0,
) -> dict[str, Array]:
    """Write the hub's checkpoint in `folder` as GGUF.

    type_of: of each tensor, by its GGUF name. Returns GGUF name -> values as they were before any quantization
    (K_TYPES hold random blocks instead of them).
    split: tensors of a part; 0 writes one file.
    """
    arrays: dict[str, Array] = {}
    for file in sorted(folder.glob("*.safetensors")):
        arrays |= {name: tensor.float().numpy() for name, tensor in load(file.read_bytes()).items()}
    tensors = converted(arrays, dict(config), architecture)
    writer = gguf.GGUFWriter(target, architecture, split_max_tensors=split)
    describe(writer, dict(config))
    extra(writer)
    for seed, (name, array) in enumerate(sorted(tensors.items())):  # in no order that differs from run to run
        kind = type_of(name, array)
        if kind in K_TYPES:  # which the package cannot encode: others of this type stand for these values
            data = random_blocks(kind, array.shape, seed)
        else:
            data = gguf.quantize(np.ascontiguousarray(array), kind)
        writer.add_tensor(name, data, raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return tensors


def describe(w: gguf.GGUFWriter, c: dict[str, Any]) -> None:
    """The metadata that llama.cpp's converter keeps of a config."""
    rope = c.get("rope_parameters") or {}
    by_kind, rope = rope, rope.get("full_attention", rope)
    head_dim = c.get("head_dim") or c["hidden_size"] // c["num_attention_heads"]
    deepseek = "kv_lora_rank" in c
    w.add_block_count(c["num_hidden_layers"] + c.get("num_nextn_predict_layers", 0))
    w.add_context_length(c["max_position_embeddings"])
    w.add_embedding_length(c["hidden_size"])
    if "intermediate_size" in c:
        w.add_feed_forward_length(c["intermediate_size"])
    w.add_head_count(c["num_attention_heads"])
    kinds = c.get("layer_types") or []
    if c["model_type"] == "exaone_moe":
        w.add_sliding_window_pattern([k == "sliding_attention" for k in kinds])
    mimo = c["model_type"] == "mimo_v2_flash"
    if mimo:  # as the hub has it: how many are seen besides the token itself; of predicted tokens' layers nothing
        slides = [k == "sliding_attention" for k in kinds]
        w.add_head_count_kv([c["num_key_value_heads"] * (2 if slid else 1) for slid in slides])
        w.add_sliding_window_pattern(slides)
        w.add_rope_freq_base_swa(by_kind["sliding_attention"]["rope_theta"])
        w.add_float32("mimo2.attention.value_scale", c["attention_value_scale"])
    elif "conv" in kinds:
        w.add_head_count_kv([c["num_key_value_heads"] if k == "full_attention" else 0 for k in kinds])
        w.add_shortconv_l_cache(c["conv_L_cache"])
    else:
        w.add_head_count_kv(1 if deepseek else c["num_key_value_heads"])
    if w.arch == "qwen3vlmoe":
        w.add_rope_dimension_sections([3, 3, 2, 0])
        w.add_num_deepstack_layers(2)
    w.add_layer_norm_rms_eps(c.get("norm_eps") or c["rms_norm_eps"])
    w.add_rope_freq_base(rope.get("rope_theta") or c.get("rope_theta", 10000.0))
    if rope.get("rope_type") == "yarn":
        w.add_rope_scaling_type(gguf.RopeScalingType.YARN)
        w.add_rope_scaling_factor(rope["factor"])
        w.add_rope_scaling_orig_ctx_len(rope["original_max_position_embeddings"])
        if "mscale_all_dim" in rope:
            w.add_rope_scaling_yarn_log_mul(0.1 * rope["mscale_all_dim"])
    if deepseek:
        w.add_rope_dimension_count(c["qk_rope_head_dim"])
        w.add_kv_lora_rank(c["kv_lora_rank"])
        w.add_key_length(c["kv_lora_rank"] + c["qk_rope_head_dim"])
        w.add_value_length(c["kv_lora_rank"])
        w.add_key_length_mla(c["qk_nope_head_dim"] + c["qk_rope_head_dim"])
        w.add_value_length_mla(c["v_head_dim"])
        if c.get("q_lora_rank"):
            w.add_q_lora_rank(c["q_lora_rank"])
    else:
        w.add_key_length(head_dim)
        w.add_value_length(c["v_head_dim"] if mimo else head_dim)
        w.add_rope_dimension_count(
            int(head_dim * rope.get("partial_rotary_factor", c.get("partial_rotary_factor", 1.0)))
        )
    experts = next(c[k] for k in ("num_experts", "num_local_experts", "n_routed_experts", "moe_num_experts") if k in c)
    w.add_expert_count(experts)
    w.add_expert_used_count(c.get("moe_k") or c.get("moe_topk") or c["num_experts_per_tok"])
    numbers = {
        "moe_intermediate_size": w.add_expert_feed_forward_length,
        "n_shared_experts": w.add_expert_shared_count,
        "num_shared_experts": w.add_expert_shared_count,
        "route_scale": w.add_expert_weights_scale,
        "index_n_heads": w.add_indexer_head_count,
        "index_head_dim": w.add_indexer_key_length,
        "index_topk": w.add_indexer_top_k,
        "moe_num_shared_experts": w.add_expert_shared_count,
        "shared_expert_intermediate_size": w.add_expert_shared_feed_forward_length,
        "shared_intermediate_size": w.add_expert_shared_feed_forward_length,
        "first_k_dense_replace": w.add_leading_dense_block_count,
        "num_dense_layers": w.add_leading_dense_block_count,
        "moe_layer_start_index": w.add_leading_dense_block_count,
        "moe_layer_interval": w.add_interleave_moe_layer_step,
        "n_group": w.add_expert_group_count,
        "topk_group": w.add_expert_group_used_count,
        "routed_scaling_factor": w.add_expert_weights_scale,
        "num_nextn_predict_layers": w.add_nextn_predict_layers,
        "attention_multiplier": w.add_attention_scale,
        "embedding_multiplier": w.add_embedding_scale,
        "residual_multiplier": w.add_residual_scale,
        "logits_scaling": w.add_logit_scale,
    }
    for key, add in numbers.items():
        if c.get(key) is not None and not (key == "routed_scaling_factor" and "conv" in kinds):
            add(c[key])
    if c["model_type"] in ("gpt_oss", "hunyuan_v1_moe", "minimax_m2"):
        w.add_expert_feed_forward_length(c["intermediate_size"])
    if "moe_num_shared_experts" in c:
        w.add_expert_shared_feed_forward_length(c["moe_intermediate_size"] * c["moe_num_shared_experts"])
    if c["model_type"] in ("lfm2_moe", "minimax_m2"):
        w.add_expert_gating_func(gguf.ExpertGatingFuncType.SIGMOID)
    if "linear_num_key_heads" in c:
        w.add_ssm_conv_kernel(c["linear_conv_kernel_dim"])
        w.add_ssm_state_size(c["linear_key_head_dim"])
        w.add_ssm_group_count(c["linear_num_key_heads"])
        w.add_ssm_time_step_rank(c["linear_num_value_heads"])
        w.add_ssm_inner_size(c["linear_value_head_dim"] * c["linear_num_value_heads"])
        w.add_full_attention_interval(2)
        w.add_expert_shared_feed_forward_length(c["shared_expert_intermediate_size"])
        w.add_rope_dimension_sections([1, 1, 0, 0])
    if c.get("sliding_window"):
        w.add_sliding_window(c["sliding_window"] - mimo)
    if c["model_type"] == "afmoe":
        w.add_expert_weights_norm(c.get("route_norm", True))
    if c["model_type"] == "bailing_moe":
        w.add_expert_weights_scale(1.0)
    if deepseek or c["model_type"] in (
        "glm4_moe",
        "dots1",
        "exaone_moe",
        "mimo_v2_flash",
        "bailing_moe",
        "bailing_moe_v2",
    ):
        w.add_expert_weights_norm(bool(c.get("norm_topk_prob")))
    if deepseek or c["model_type"] in ("glm4_moe", "dots1", "exaone_moe", "bailing_moe_v2"):
        sigmoid = c["model_type"] != "deepseek_v2"
        kind = gguf.ExpertGatingFuncType
        w.add_expert_gating_func(kind.SIGMOID if sigmoid else kind.SOFTMAX)


def converted(arrays: dict[str, Array], c: dict[str, Any], architecture: str) -> dict[str, Array]:
    """The hub's tensors as llama.cpp's converter leaves them, under gguf's names for them."""
    arch = next(k for k, v in gguf.MODEL_ARCH_NAMES.items() if v == architecture)
    names = gguf.get_tensor_name_map(arch, c["num_hidden_layers"] + 1)  # one may be for multi-token prediction
    found: dict[str, Array] = {}
    stacks: dict[str, dict[int, Array]] = {}

    def put(name: str, array: Array) -> None:
        name = name.replace("e_score_correction_bias", "e_score_correction.bias")
        name = name.replace("expert_bias", "expert_bias.bias").replace("self_attn.sinks", "self_attn.sinks.weight")
        name = name.replace("attention_sink_bias", "attention_sink_bias.weight")
        name = name.removeprefix("model.") if "feed_forward.experts" in name else name
        mapped = names.get_name(name, try_suffixes=(".weight", ".bias")) or _predicting(name)
        assert mapped is not None, name
        found[mapped] = array

    for name, value in arrays.items():
        name = _numbered(name, c["num_hidden_layers"])
        name, array = _linear(name, value, c) if "linear_num_key_heads" in c else (name, value)
        if name.endswith("in_proj_qkvz.weight"):
            kinds = _apart(array, c)
            put(name.replace("qkvz", "qkv"), np.concatenate(kinds[:3]))
            put(name.replace("qkvz", "z"), kinds[3])
            continue
        parts = name.split(".")
        layer = parts[2] if parts[1:2] == ["layers"] else ""
        if ".experts." in name and parts[-3].isdigit():  # one tensor per expert and matrix
            key = ".".join([*parts[:-3], parts[-2], parts[-1]])
            stacks.setdefault(key, {})[int(parts[-3])] = array
        elif name.endswith((".gate_up_proj", ".gate_up_proj_bias", ".down_proj_bias", "s.down_proj")):
            ending = ".bias" if name.endswith("_bias") else ".weight"
            turned = array.swapaxes(-1, -2) if ending == ".weight" else array  # [experts, out, in]
            stem = ".".join(parts[:-1])
            if "gate_up" in name:
                put(f"{stem}.gate_proj{ending}", turned[:, ::2])
                put(f"{stem}.up_proj{ending}", turned[:, 1::2])
            else:
                put(f"{stem}.down_proj{ending}", turned)
        elif name.endswith("input_linear.weight"):
            half = array.shape[-2] // 2
            which = "exps" if "block_sparse" in name else "shexp"
            found[f"blk.{layer}.ffn_gate_{which}.weight"] = array[..., :half, :]
            found[f"blk.{layer}.ffn_up_{which}.weight"] = array[..., half:, :]
        elif architecture == "bailingmoe" and name.endswith("query_key_value.weight"):
            counts = [c["num_attention_heads"], *[c["num_key_value_heads"]] * 2]
            cuts = np.cumsum([n * c["head_dim"] for n in counts])[:2]
            for x, heads, own in zip("qkv", counts, np.split(array, cuts)):
                turned = own.reshape(heads, 2, c["head_dim"] // 2, -1).swapaxes(1, 2).reshape(own.shape)
                found[f"blk.{layer}.attn_{x}.weight"] = own if x == "v" else turned
        elif name.endswith("kv_b_proj.weight"):
            heads, nope, v = c["num_attention_heads"], c["qk_nope_head_dim"], c["v_head_dim"]
            both = array.reshape(heads, nope + v, -1)
            put(name.replace("kv_b_proj", "k_b_proj"), both[:, :nope].swapaxes(1, 2))
            put(name.replace("kv_b_proj", "v_b_proj"), both[:, nope:])
        elif architecture in ("llama", "granitemoe") and name.endswith(("q_proj.weight", "k_proj.weight")):
            heads = c["num_attention_heads" if "q_proj" in name else "num_key_value_heads"]
            each = array.shape[0] // heads
            put(name, array.reshape(heads, 2, each // 2, -1).swapaxes(1, 2).reshape(array.shape))
        elif "conv.conv" in name:
            put(name, array.squeeze(1))
        elif name.endswith("shared_expert_gate.weight") or "moe_statics" in name:
            put(name, array.reshape(-1))
        else:
            put(name, array)
    for key, stack in stacks.items():
        put(key, np.stack([stack[e] for e in range(len(stack))]))
    return found


def _predicting(name: str) -> str | None:
    """What joins multi-token prediction, as all of llama.cpp's newer architectures call it; the package knows one."""
    match = re.fullmatch(
        r"model\.layers\.(\d+)\.(eh_proj|enorm|hnorm|embed_tokens|shared_head\.(?:norm|head))\.weight", name
    )
    return f"blk.{match[1]}.nextn.{match[2].replace('.', '_')}.weight" if match else None


def _numbered(name: str, layers: int) -> str:
    """What the converter calls a tensor of Qwen's multi-token prediction: of a layer behind all others."""
    joining = {
        "fc": "eh_proj", "pre_fc_norm_embedding": "enorm", "pre_fc_norm_hidden": "hnorm", "norm": "shared_head.norm",
    }  # fmt: skip
    own, prefix = name.removeprefix("mtp.").removesuffix(".weight"), f"model.layers.{layers}."
    if own in joining and name.startswith("mtp."):
        return f"{prefix}{joining[own]}.weight"
    return name.replace("mtp.layers.0.", prefix)


def _linear(name: str, array: Array, c: dict[str, Any]) -> tuple[str, Array]:
    """What the converter does to Qwen3-Next's tensors, and to Qwen3.5's."""
    if name.endswith("A_log"):
        array = -np.exp(array)
    elif name.endswith("norm.weight") and not name.endswith("linear_attn.norm.weight"):
        array = array + 1
    elif name.endswith("conv1d.weight"):
        array = array.squeeze(1)
    keys, count = c["linear_num_key_heads"], c["linear_num_value_heads"]
    start, dim = 0, c["linear_value_head_dim"]
    if "linear_attn" in name and c["model_type"] != "qwen3_next":
        if "in_proj_qkv" in name or "conv1d" in name:
            start = 2 * keys * c["linear_key_head_dim"]
        elif not ("in_proj_z" in name or "out_proj" in name):
            dim = 1
        if "out_proj" in name:
            array = array.reshape(len(array), keys, count // keys, dim).swapaxes(1, 2).reshape(array.shape)
        elif ".norm." not in name:
            heads = array[start:].reshape(keys, count // keys, dim, -1).swapaxes(0, 1)
            array = np.concatenate((array[:start], heads.reshape(array[start:].shape)))
    return name.replace(".dt_bias", ".dt_proj.bias"), array


def _apart(array: Array, c: dict[str, Any]) -> list[Array]:
    """Queries, keys, values and gates of all key heads, each kind together."""
    heads, k = c["linear_num_key_heads"], c["linear_key_head_dim"]
    v = c["linear_num_value_heads"] // heads * c["linear_value_head_dim"]
    by_head = array.reshape(heads, 2 * k + 2 * v, -1)
    kinds = np.split(by_head, [k, 2 * k, 2 * k + v], axis=1)
    return [kind.reshape(-1, array.shape[-1]) for kind in kinds]
