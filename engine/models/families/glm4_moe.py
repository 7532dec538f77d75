"""GLM-4.5 and 4.6: grouped-query attention that rotates half of each head, DeepSeek-V3's router, a shared expert."""

from __future__ import annotations

from typing import Any

from engine.models.config import Config
from engine.models.families.deepseek_parts import moe_with_shared, sigmoid_router
from engine.models.families.parts import causal_lm, dense_mlp, llama_layer
from engine.models.spec import AttentionSpec, DecoderSpec, MlpSpec


def spec(config: dict[str, Any]) -> DecoderSpec:
    """The first first_k_dense_replace layers are dense. The layer for multi-token prediction is left out."""
    c = Config(config)
    heads, kv_heads, head_dim = c.heads()
    eps, dense = c.number("rms_norm_eps", 1e-5), c.integer("first_k_dense_replace", 1)
    groups, top_groups = c.integer("n_group", 1), c.integer("topk_group", 1)
    layers = []
    for i in range(c.integer("num_hidden_layers")):
        prefix = f"model.layers.{i}"
        mixer = AttentionSpec(
            f"{prefix}.self_attn", heads, kv_heads, head_dim, head_dim**-0.5, c.rope(head_dim, partial=0.5),
            qkv_bias=c.flag("attention_bias", False),
            qk_norm="head" if c.flag("use_qk_norm", False) else None, qk_norm_eps=eps,
        )  # fmt: skip
        mlp: MlpSpec = dense_mlp(c, f"{prefix}.mlp")
        if i >= dense:
            mlp = moe_with_shared(c, f"{prefix}.mlp", sigmoid_router(c, f"{prefix}.mlp", groups, top_groups))
        layers.append(llama_layer(i, mixer, mlp, eps=eps))
    return causal_lm(c, layers, eps)
