"""Qwen3-MoE: grouped-query attention with per-head norms, softmax router, no shared expert."""

from __future__ import annotations

from typing import Any

from engine.models.config import Config
from engine.models.families.parts import causal_lm, dense_mlp, llama_layer, plain_moe
from engine.models.spec import AttentionSpec, DecoderSpec, MlpSpec, RouterSpec


def spec(config: dict[str, Any]) -> DecoderSpec:
    """Every layer has experts but those in mlp_only_layers and those off the beat of decoder_sparse_step."""
    c = Config(config)
    heads, kv_heads, head_dim = c.heads()
    eps = c.number("rms_norm_eps", 1e-6)
    window = c.integer("sliding_window") if c.flag("use_sliding_window", False) and c.has("sliding_window") else None
    bias = c.flag("attention_bias", False)
    step, dense = c.integer("decoder_sparse_step", 1, low=1), c.integers("mlp_only_layers")
    layers = []
    for i in range(c.integer("num_hidden_layers")):
        prefix = f"model.layers.{i}"
        mixer = AttentionSpec(
            f"{prefix}.self_attn", heads, kv_heads, head_dim, head_dim**-0.5, c.rope(head_dim),
            window=window, qkv_bias=bias, o_bias=bias, qk_norm="head", qk_norm_eps=eps,
        )  # fmt: skip
        mlp: MlpSpec = dense_mlp(c, f"{prefix}.mlp")
        if i not in dense and (i + 1) % step == 0:
            router = RouterSpec(
                f"{prefix}.mlp.gate", *c.experts(), "softmax", normalize=c.flag("norm_topk_prob", False)
            )
            mlp = plain_moe(c, router, c.integer("moe_intermediate_size"))
        layers.append(llama_layer(i, mixer, mlp, eps=eps))
    return causal_lm(c, layers, eps)
