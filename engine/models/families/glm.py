"""GLM and Solar: DeepSeek-V3's router, over grouped-query, latent or sparse attention."""

from __future__ import annotations

from dataclasses import replace

from engine.models.config import Config
from engine.models.families.deepseek import sparse_attention_lm
from engine.models.families.parts import attention, latent_attention, llama, mlp_types, sigmoid_moe
from engine.models.spec import AttentionSpec, DecoderSpec

INDEXERS = ("full", "shared")


def glm4_moe(c: Config) -> DecoderSpec:
    """GLM-4.5 and 4.6: grouped-query attention that rotates half of each head; the first layers are dense.

    The layer for multi-token prediction is left out.
    """
    eps, first = c.number("rms_norm_eps", 1e-5), c.integer("first_k_dense_replace", 1)

    def mixer(prefix: str, i: int) -> AttentionSpec:
        own = attention(c, f"{prefix}.self_attn", partial=0.5)
        return replace(own, o_bias=False, qk_norm="head" if c.flag("use_qk_norm", False) else None, qk_norm_eps=eps)

    return llama(c, eps, mixer, lambda prefix, i: sigmoid_moe(c, f"{prefix}.mlp", i >= first))


def glm4_moe_lite(c: Config) -> DecoderSpec:
    """GLM-4.7-Flash: the attention and routing of DeepSeek-V3 at a small size. Multi-token prediction is left out."""
    sparse = mlp_types(c, c.integer("first_k_dense_replace", 1))
    return llama(
        c,
        c.number("rms_norm_eps", 1e-5),
        lambda prefix, i: latent_attention(c, f"{prefix}.self_attn", c.flag("rope_interleave", True)),
        lambda prefix, i: sigmoid_moe(c, f"{prefix}.mlp", sparse[i]),
    )


def glm_moe_dsa(c: Config) -> DecoderSpec:
    """GLM-5: DeepSeek-V3.2's sparse attention, whose choice some layers take over from the layer before.

    indexer_types, or a pattern of F and S, or a schedule, says which layers choose for themselves.
    """
    count, pattern = c.integer("num_hidden_layers"), c.raw.get("index_topk_pattern")
    if isinstance(pattern, str):
        pattern = [{"F": "full", "S": "shared"}.get(letter, letter) for letter in pattern]
    every, offset = c.integer("index_topk_freq", 1), c.integer("index_skip_topk_offset", 2)
    scheduled = [INDEXERS[max(i - offset + 1, 0) % max(every, 1) != 0] for i in range(count)]
    shared = [kind == "shared" for kind in c.layer_types(count, INDEXERS, pattern or scheduled, "indexer_types")]
    return sparse_attention_lm(c, (1, 1), c.number("rms_norm_eps", 1e-5), interleaved=True, shared=shared)


def solar_open(c: Config) -> DecoderSpec:
    """Solar Open: plain grouped-query attention, and experts in every layer."""
    c.expect("use_qk_norm", False)
    return llama(
        c,
        c.number("rms_norm_eps", 1e-5),
        lambda prefix, i: replace(attention(c, f"{prefix}.self_attn", head_dim=128, theta=1e6), o_bias=False),
        lambda prefix, i: sigmoid_moe(c, f"{prefix}.mlp", sparse=True),
    )
