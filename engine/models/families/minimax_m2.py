"""MiniMax-M2: norms over the whole width of queries and keys, partial rotation, sigmoid router with a correction."""

from __future__ import annotations

from typing import Any

from engine.models.config import Config
from engine.models.families.parts import causal_lm, llama_layer, plain_moe
from engine.models.spec import AttentionSpec, DecoderSpec, RouterSpec


def spec(config: dict[str, Any]) -> DecoderSpec:
    """Every layer is the same. What the checkpoint holds for multi-token prediction is left out."""
    c = Config(config)
    count = c.integer("num_hidden_layers")
    c.expect("use_qk_norm", True)
    c.expect("qk_norm_type", "per_layer")
    c.expect("scoring_func", "sigmoid")
    c.expect("shared_intermediate_size", 0)
    c.expect("attn_type_list", [1] * count)
    heads, kv_heads, head_dim = c.heads(128)
    eps = c.number("rms_norm_eps", 1e-6)
    partial = c.integer("rotary_dim", head_dim) / head_dim
    layers = []
    for i in range(count):
        prefix = f"model.layers.{i}"
        mixer = AttentionSpec(
            f"{prefix}.self_attn", heads, kv_heads, head_dim, head_dim**-0.5,
            c.rope(head_dim, theta=5e6, partial=partial), qk_norm="full", qk_norm_eps=eps,
        )  # fmt: skip
        moe = f"{prefix}.block_sparse_moe"
        router = RouterSpec(
            f"{moe}.gate", *c.experts(), "sigmoid", choice_bias=f"{moe}.e_score_correction_bias", normalize=True
        )  # fmt: skip
        layers.append(llama_layer(i, mixer, plain_moe(c, router, c.integer("intermediate_size")), eps=eps))
    return causal_lm(c, layers, eps)
