"""Ling and Ring (Bailing), both generations: queries, keys and values in one projection, an embedding of its own name.

The second generation norms queries and keys, rotates half of each head and has DeepSeek-V3's router; its configs call
themselves bailing_moe as well.
"""

from __future__ import annotations

from dataclasses import replace

from engine.models.config import Config
from engine.models.families.parts import attention, dense_mlp, llama, plain_moe
from engine.models.spec import AttentionSpec, DecoderSpec, MlpSpec, MoeSpec, RouterSpec, SharedExpertSpec


def bailing_moe(c: Config) -> DecoderSpec:
    """The first first_k_dense_replace layers are dense. Layers for multi-token prediction are left out."""
    second = c.family == "bailing_moe_v2" or c.raw.get("score_function") == "sigmoid"
    if c.flag("tie_word_embeddings", False):
        c.expect("norm_head", False)
    for key in ("use_sliding_window", "multi_gate"):
        c.expect(key, False)
    c.expect("use_rmsnorm", True)
    eps, first = c.number("rms_norm_eps", 1e-6), c.integer("first_k_dense_replace", 0)
    bias = c.flag("use_bias", False)

    def mixer(prefix: str, i: int) -> AttentionSpec:
        return replace(
            attention(c, f"{prefix}.attention", bias="use_bias"), qkv_bias=c.flag("use_qkv_bias", False),
            qkv="query_key_value", o="dense", qk_norm="head" if c.flag("use_qk_norm", second) else None,
            qk_norm_eps=eps, q_norm="query_layernorm", k_norm="key_layernorm",
        )  # fmt: skip

    def mlp(prefix: str, i: int) -> MlpSpec:
        return dense_mlp(c, f"{prefix}.mlp", bias=bias) if i < first else _moe(c, f"{prefix}.mlp", second, bias)

    decoder = llama(c, eps, mixer, mlp, embedding="word_embeddings")
    return replace(decoder, head_normed=c.flag("norm_head", False))


def _moe(c: Config, prefix: str, second: bool, bias: bool) -> MoeSpec:
    size, count = c.integer("moe_intermediate_size"), c.integer("num_shared_experts", 0)
    width = count * c.integer("moe_shared_expert_intermediate_size", size)
    shared = SharedExpertSpec(dense_mlp(c, f"{prefix}.shared_experts", width, bias)) if width else None
    return plain_moe(c, _second(c, prefix) if second else _first(c, prefix), size, shared)


def _first(c: Config, prefix: str) -> RouterSpec:
    """Softmax over all experts, then the best of them."""
    c.expect("score_function", "softmax")
    return RouterSpec(
        f"{prefix}.gate", *c.experts(), "softmax", normalize=c.flag("norm_topk_prob", True), normalize_eps=1e-20,
        scale=c.number("routed_scaling_factor", 1.0),
    )  # fmt: skip


def _second(c: Config, prefix: str) -> RouterSpec:
    """Chosen in groups by sigmoid score plus a learned correction; always normalized where there are several."""
    corrected = c.flag("moe_router_enable_expert_bias", True)
    experts, top_k = c.experts()
    return RouterSpec(
        f"{prefix}.gate", experts, top_k, "sigmoid", choice_bias=f"{prefix}.gate.expert_bias" if corrected else None,
        groups=c.integer("n_group", 8), top_groups=c.integer("topk_group", 4), masked_score=float("-inf"),
        normalize=top_k > 1, normalize_eps=1e-20, scale=c.number("routed_scaling_factor", 2.5),
    )  # fmt: skip
