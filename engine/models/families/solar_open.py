"""Solar Open: plain grouped-query attention, DeepSeek-V3's router and a shared expert in every layer."""

from __future__ import annotations

from typing import Any

from engine.models.config import Config
from engine.models.families.deepseek_parts import moe_with_shared, sigmoid_router
from engine.models.families.parts import causal_lm, llama_layer
from engine.models.spec import AttentionSpec, DecoderSpec


def spec(config: dict[str, Any]) -> DecoderSpec:
    """Every layer is the same."""
    c = Config(config)
    c.expect("use_qk_norm", False)
    heads, kv_heads, head_dim = c.heads(128)
    eps = c.number("rms_norm_eps", 1e-5)
    groups, top_groups = c.integer("n_group", 1), c.integer("topk_group", 1)
    layers = []
    for i in range(c.integer("num_hidden_layers")):
        prefix = f"model.layers.{i}"
        mixer = AttentionSpec(
            f"{prefix}.self_attn", heads, kv_heads, head_dim, head_dim**-0.5, c.rope(head_dim, theta=1e6),
            qkv_bias=c.flag("attention_bias", False),
        )  # fmt: skip
        mlp = moe_with_shared(c, f"{prefix}.mlp", sigmoid_router(c, f"{prefix}.mlp", groups, top_groups))
        layers.append(llama_layer(i, mixer, mlp, eps=eps))
    return causal_lm(c, layers, eps)
