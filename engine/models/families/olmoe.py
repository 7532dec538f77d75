"""OLMoE: norms over the whole width of queries and keys, optional clipping, softmax router."""

from __future__ import annotations

from typing import Any

from engine.models.config import Config
from engine.models.families.parts import causal_lm, llama_layer, plain_moe
from engine.models.spec import AttentionSpec, DecoderSpec, RouterSpec


def spec(config: dict[str, Any]) -> DecoderSpec:
    """Every layer is the same."""
    c = Config(config)
    heads, kv_heads, head_dim = c.heads()
    eps = c.number("rms_norm_eps", 1e-5)
    bias = c.flag("attention_bias", False)
    layers = []
    for i in range(c.integer("num_hidden_layers")):
        prefix = f"model.layers.{i}"
        mixer = AttentionSpec(
            f"{prefix}.self_attn", heads, kv_heads, head_dim, head_dim**-0.5, c.rope(head_dim),
            qkv_bias=bias, o_bias=bias, qk_norm="full", qk_norm_eps=eps,
            clip_qkv=c.number("clip_qkv") if c.has("clip_qkv") else None,
        )  # fmt: skip
        router = RouterSpec(
            f"{prefix}.mlp.gate", *c.experts(), "softmax", normalize=c.flag("norm_topk_prob", False)
        )  # fmt: skip
        layers.append(llama_layer(i, mixer, plain_moe(c, router, c.integer("intermediate_size")), eps=eps))
    return causal_lm(c, layers, eps)
