"""Granite-MoE, with or without a shared expert: multipliers on embeddings, attention, residuals and logits."""

from __future__ import annotations

from typing import Any

from engine.models.config import Config
from engine.models.families.parts import causal_lm, llama_layer, plain_moe
from engine.models.spec import AttentionSpec, DecoderSpec, DenseMlpSpec, RouterSpec, SharedExpertSpec


def spec(config: dict[str, Any]) -> DecoderSpec:
    """Every layer is the same."""
    c = Config(config)
    heads, kv_heads, head_dim = c.heads()
    eps = c.number("rms_norm_eps", 1e-6)
    bias = c.flag("attention_bias", False)
    layers = []
    for i in range(c.integer("num_hidden_layers")):
        prefix = f"model.layers.{i}"
        mixer = AttentionSpec(
            f"{prefix}.self_attn", heads, kv_heads, head_dim, c.number("attention_multiplier", 1.0),
            c.rope(head_dim), qkv_bias=bias, o_bias=bias,
        )  # fmt: skip
        router = RouterSpec(f"{prefix}.block_sparse_moe.router.layer", *c.experts(), "topk_softmax")
        mlp = plain_moe(c, router, c.integer("intermediate_size"), _shared(c, f"{prefix}.shared_mlp"))
        layers.append(llama_layer(i, mixer, mlp, eps=eps, residual_multiplier=c.number("residual_multiplier", 1.0)))
    return causal_lm(
        c, layers, eps,
        embedding_multiplier=c.number("embedding_multiplier", 1.0),
        logit_multiplier=1.0 / c.positive("logits_scaling", 1.0),
    )  # fmt: skip


def _shared(c: Config, prefix: str) -> SharedExpertSpec | None:
    """granitemoeshared's; its gate and up projections are one tensor."""
    size = c.integer("shared_intermediate_size", 0) if c.family == "granitemoeshared" else 0
    if not size:
        return None
    return SharedExpertSpec(
        DenseMlpSpec(prefix, size, c.activation(), fused=True, up="input_linear", down="output_linear")
    )
