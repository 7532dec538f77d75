"""Phi-3.5-MoE: LayerNorms with biases, LongRoPE, and the sparsemixer router whose two weights do not sum to 1."""

from __future__ import annotations

from typing import Any

from engine.models.config import Config, unsupported
from engine.models.families.parts import causal_lm, llama_layer, plain_moe
from engine.models.spec import AttentionSpec, DecoderSpec, RouterSpec
from engine.translatable import msg


def spec(config: dict[str, Any]) -> DecoderSpec:
    """Every layer is the same.

    Past the original context this uses LongRoPE's long factors, as the model's own code does; transformers 5.23
    changes only the magnitude there and keeps the short factors.
    """
    c = Config(config)
    heads, kv_heads, head_dim = c.heads()
    eps = c.number("rms_norm_eps", 1e-5)
    bias = c.flag("attention_bias", False)
    window = c.integer("sliding_window") if c.has("sliding_window") else None
    experts, top_k = c.experts()
    if top_k != 2:
        raise unsupported(
            msg("This phimoe model asks for {top_k} experts per token; its router can only choose 2.", top_k=top_k)
        )
    layers = []
    for i in range(c.integer("num_hidden_layers")):
        prefix = f"model.layers.{i}"
        mixer = AttentionSpec(
            f"{prefix}.self_attn", heads, kv_heads, head_dim, head_dim**-0.5, c.rope(head_dim, theta=1e6),
            window=window, qkv_bias=bias, o_bias=bias,
        )  # fmt: skip
        router = RouterSpec(
            f"{prefix}.block_sparse_moe.gate", experts, top_k, "sparsemixer",
            jitter=c.number("router_jitter_noise", 0.01),
        )  # fmt: skip
        layers.append(
            llama_layer(i, mixer, plain_moe(c, router, c.integer("intermediate_size")), eps=eps, kind="layer")
        )
    return causal_lm(c, layers, eps, "layer", head_bias=c.flag("lm_head_bias", False))
