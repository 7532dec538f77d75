"""What llama.cpp calls the tensors of each family, and what they are called on the hub."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from engine.formats import gguf_configs as configs
from engine.formats.gguf_header import GgufTensor
from engine.formats.gguf_metadata import Metadata

TOP = {
    "token_embd.weight": "model.embed_tokens.weight",
    "output_norm.weight": "model.norm.weight",
    "output.weight": "lm_head.weight",
}
_ATTENTION = {
    "attn_norm.weight": "input_layernorm.weight",
    "attn_q.weight": "self_attn.q_proj.weight",
    "attn_k.weight": "self_attn.k_proj.weight",
    "attn_v.weight": "self_attn.v_proj.weight",
    "attn_output.weight": "self_attn.o_proj.weight",
    "ffn_norm.weight": "post_attention_layernorm.weight",
}
_BIASES = {f"attn_{x}.bias": f"self_attn.{x}_proj.bias" for x in "qkv"}
_QK_NORMS = {f"attn_{x}_norm.weight": f"self_attn.{x}_norm.weight" for x in "qk"}
_AFTER = {"post_attention_norm.weight": "post_attention_layernorm.weight"}


# Beside a layer for multi-token prediction: by what families.MtpNames calls it.
MTP = {
    configs.MTP_JOINT: "joint",
    "nextn.enorm.weight": "embedding_norm",
    "nextn.hnorm.weight": "hidden_norm",
    "nextn.shared_head_norm.weight": "norm",
}
_MTP_NORMS = tuple(name for name in MTP if name != configs.MTP_JOINT)


def _mlp(ending: str, path: str) -> dict[str, str]:
    """A gated MLP of three matrices."""
    return {f"ffn_{x}{ending}.weight": f"{path}.{x}_proj.weight" for x in ("gate", "up", "down")}


def _router(path: str, correction: str = "") -> dict[str, str]:
    names = {"ffn_gate_inp.weight": f"{path}.weight"}
    return names | ({"exp_probs_b.bias": correction} if correction else {})


_DEEPSEEK_MLP = (
    _mlp("", "mlp") | _mlp("_shexp", "mlp.shared_experts") | _router("mlp.gate", "mlp.gate.e_score_correction_bias")
)


@dataclass(frozen=True, kw_only=True)
class Architecture:
    """How one of llama.cpp's architectures becomes one of the hub's.

    config: metadata and tensors to config.json. layer: names below ``blk.{i}.`` to names below ``model.layers.{i}.``.
    permuted: query and key rows were reordered, from halves to pairs, for rotations of neighbours.
    row: vectors that are a matrix of one row on the hub. conv: matrices with an axis of one in their middle.
    shared_fused: gate and up of the shared expert are one tensor on the hub. plus_one: norms that are stored with 1
    added, by their ending. linear: there are layers of linear attention, see gguf_deltanet.py. joined: what queries
    and keys, both permuted, and values are together on the hub.
    """

    config: Callable[[Metadata, Mapping[str, GgufTensor]], dict[str, Any]]
    layer: Mapping[str, str]
    top: Mapping[str, str] = field(default_factory=lambda: TOP)
    permuted: bool = False
    row: tuple[str, ...] = ()
    conv: tuple[str, ...] = ()
    shared_fused: bool = False
    plus_one: tuple[str, ...] = ()
    linear: bool = False
    joined: str = ""


def _qwen3(config: Callable[[Metadata, Mapping[str, GgufTensor]], dict[str, Any]]) -> Architecture:
    """Qwen3-MoE, and the language model of what sees with it."""
    return Architecture(config=config, layer=_ATTENTION | _BIASES | _QK_NORMS | _router("mlp.gate"))


def _next(config: Callable[[Metadata, Mapping[str, GgufTensor]], dict[str, Any]]) -> Architecture:
    """Qwen3-Next and what follows it: gated attention in some layers, Gated DeltaNet in the others."""
    return Architecture(
        config=config,
        layer=_ATTENTION
        | _QK_NORMS
        | _AFTER
        | _router("mlp.gate")
        | _mlp("_shexp", "mlp.shared_expert")
        | {"ffn_gate_inp_shexp.weight": "mlp.shared_expert_gate.weight"},
        row=("ffn_gate_inp_shexp.weight",),
        plus_one=("attn_norm.weight", "post_attention_norm.weight", "output_norm.weight", *_QK_NORMS, *_MTP_NORMS),
        linear=True,
    )


_LATENT = {
    "attn_q_a.weight": "self_attn.q_a_proj.weight",
    "attn_q_a_norm.weight": "self_attn.q_a_layernorm.weight",
    "attn_q_b.weight": "self_attn.q_b_proj.weight",
    "attn_kv_a_mqa.weight": "self_attn.kv_a_proj_with_mqa.weight",
    "attn_kv_a_norm.weight": "self_attn.kv_a_layernorm.weight",
    "attn_kv_b.weight": "self_attn.kv_b_proj.weight",
}
_INDEXER = {
    "indexer.k_norm.weight": "self_attn.indexer.k_norm.weight",
    "indexer.k_norm.bias": "self_attn.indexer.k_norm.bias",
    "indexer.proj.weight": "self_attn.indexer.weights_proj.weight",
    "indexer.attn_k.weight": "self_attn.indexer.wk.weight",
    "indexer.attn_q_b.weight": "self_attn.indexer.wq_b.weight",
}
_BAILING_TOP = {**TOP, "token_embd.weight": "model.word_embeddings.weight"}
_BAILING = {
    "attn_norm.weight": "input_layernorm.weight",
    "attn_output.weight": "attention.dense.weight",
    "ffn_norm.weight": "post_attention_layernorm.weight",
} | _mlp("_shexp", "mlp.shared_experts")

ARCHITECTURES: dict[str, Architecture] = {
    "afmoe": Architecture(
        config=configs.afmoe,
        layer=_ATTENTION
        | _QK_NORMS
        | _mlp("", "mlp")
        | _mlp("_shexp", "mlp.shared_experts")
        | _router("mlp.router.gate", "mlp.expert_bias")
        | {
            "attn_gate.weight": "self_attn.gate_proj.weight",
            "post_attention_norm.weight": "post_attention_layernorm.weight",
            "ffn_norm.weight": "pre_mlp_layernorm.weight",
            "post_ffw_norm.weight": "post_mlp_layernorm.weight",
        },
    ),
    "bailingmoe": Architecture(
        config=configs.bailing,
        layer=_BAILING | _router("mlp.gate"),
        top=_BAILING_TOP,
        joined="attention.query_key_value.weight",
    ),
    "bailingmoe2": Architecture(
        config=configs.bailing2,
        layer=_BAILING
        | _mlp("", "mlp")
        | _router("mlp.gate", "mlp.gate.expert_bias")
        | {
            "attn_qkv.weight": "attention.query_key_value.weight",
            "attn_q_norm.weight": "attention.query_layernorm.weight",
            "attn_k_norm.weight": "attention.key_layernorm.weight",
        },
        top=_BAILING_TOP,
    ),
    "deepseek2": Architecture(config=configs.deepseek, layer=_ATTENTION | _DEEPSEEK_MLP | _LATENT),
    "dots1": Architecture(config=configs.dots1, layer=_ATTENTION | _QK_NORMS | _DEEPSEEK_MLP),
    "ernie4_5-moe": Architecture(
        config=configs.ernie,
        layer=_ATTENTION
        | _mlp("", "mlp")
        | _mlp("_shexp", "mlp.shared_experts")
        | _router("mlp.gate", "mlp.moe_statics.e_score_correction_bias"),
        row=("exp_probs_b.bias",),
    ),
    "exaone-moe": Architecture(
        config=configs.exaone_moe,
        layer=_ATTENTION
        | _QK_NORMS
        | _mlp("", "mlp")
        | _mlp("_shexp", "mlp.shared_experts")
        | _router("mlp.gate", "mlp.e_score_correction_bias"),
    ),
    "glm-dsa": Architecture(config=configs.glm_dsa, layer=_ATTENTION | _DEEPSEEK_MLP | _LATENT | _INDEXER),
    "glm4moe": Architecture(config=configs.glm4_moe, layer=_ATTENTION | _BIASES | _QK_NORMS | _AFTER | _DEEPSEEK_MLP),
    "gpt-oss": Architecture(
        config=configs.gpt_oss,
        layer=_ATTENTION
        | _BIASES
        | _AFTER
        | {
            "attn_output.bias": "self_attn.o_proj.bias",
            "attn_sinks.weight": "self_attn.sinks",
            "ffn_gate_inp.weight": "mlp.router.weight",
            "ffn_gate_inp.bias": "mlp.router.bias",
        },
    ),
    "granitemoe": Architecture(
        config=configs.granite_moe,
        layer=_ATTENTION
        | _router("block_sparse_moe.router.layer")
        | {"ffn_down_shexp.weight": "shared_mlp.output_linear.weight"},
        permuted=True,
        shared_fused=True,
    ),
    "hunyuan-moe": Architecture(
        config=configs.hunyuan,
        layer=_ATTENTION
        | {"attn_q_norm.weight": "self_attn.query_layernorm.weight"}
        | {"attn_k_norm.weight": "self_attn.key_layernorm.weight"}
        | _mlp("_shexp", "mlp.shared_mlp")
        | _router("mlp.gate.wg"),
    ),
    "lfm2moe": Architecture(
        config=configs.lfm2_moe,
        layer={
            "attn_norm.weight": "operator_norm.weight",
            "attn_q.weight": "self_attn.q_proj.weight",
            "attn_k.weight": "self_attn.k_proj.weight",
            "attn_v.weight": "self_attn.v_proj.weight",
            "attn_output.weight": "self_attn.out_proj.weight",
            "attn_q_norm.weight": "self_attn.q_layernorm.weight",
            "attn_k_norm.weight": "self_attn.k_layernorm.weight",
            "ffn_norm.weight": "ffn_norm.weight",
            "ffn_gate.weight": "feed_forward.w1.weight",
            "ffn_up.weight": "feed_forward.w3.weight",
            "ffn_down.weight": "feed_forward.w2.weight",
            "shortconv.conv.weight": "conv.conv.weight",
            "shortconv.in_proj.weight": "conv.in_proj.weight",
            "shortconv.out_proj.weight": "conv.out_proj.weight",
        }
        | _router("feed_forward.gate", "feed_forward.expert_bias"),
        top=TOP
        | {
            "token_embd_norm.weight": "model.embedding_norm.weight",
            "output_norm.weight": "model.embedding_norm.weight",
        },
        conv=("shortconv.conv.weight",),
    ),
    "llama": Architecture(config=configs.mixtral, layer=_ATTENTION | _router("block_sparse_moe.gate"), permuted=True),
    "mimo2": Architecture(
        config=configs.mimo,
        layer=_ATTENTION
        | _mlp("", "mlp")
        | _router("mlp.gate", "mlp.gate.e_score_correction_bias")
        | {"attn_sinks.weight": "self_attn.attention_sink_bias"},
    ),
    "minimax-m2": Architecture(
        config=configs.minimax_m2,
        layer=_ATTENTION | _QK_NORMS | _router("block_sparse_moe.gate", "block_sparse_moe.e_score_correction_bias"),
    ),
    "olmoe": Architecture(config=configs.olmoe, layer=_ATTENTION | _QK_NORMS | _router("mlp.gate")),
    "qwen2moe": Architecture(
        config=configs.qwen2_moe,
        layer=_ATTENTION
        | _BIASES
        | _router("mlp.gate")
        | _mlp("_shexp", "mlp.shared_expert")
        | {"ffn_gate_inp_shexp.weight": "mlp.shared_expert_gate.weight"},
        row=("ffn_gate_inp_shexp.weight",),
    ),
    "qwen35moe": _next(configs.qwen35_moe),
    "qwen3next": _next(configs.qwen3_next),
    "qwen3moe": _qwen3(configs.qwen3_moe),
    "qwen3vlmoe": _qwen3(configs.qwen3_vl_moe),
}
