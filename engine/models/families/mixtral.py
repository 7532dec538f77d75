"""Mixtral: grouped-query attention, softmax router over 8 experts, two of them renormalized."""

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
    window = c.integer("sliding_window") if c.has("sliding_window") else None
    layers = []
    for i in range(c.integer("num_hidden_layers")):
        prefix = f"model.layers.{i}"
        rope = c.rope(head_dim, theta=1e6)
        mixer = AttentionSpec(f"{prefix}.self_attn", heads, kv_heads, head_dim, head_dim**-0.5, rope, window=window)
        router = RouterSpec(f"{prefix}.block_sparse_moe.gate", *c.experts(), "softmax", normalize=True)
        layers.append(llama_layer(i, mixer, plain_moe(c, router, c.integer("intermediate_size")), eps=eps))
    return causal_lm(c, layers, eps)
