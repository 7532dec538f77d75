"""dots.llm1: grouped-query attention with per-head norms, windows in its last layers, DeepSeek-V3's router."""

from __future__ import annotations

from typing import Any

from engine.models.config import Config
from engine.models.families.deepseek_parts import moe_with_shared, sigmoid_router
from engine.models.families.parts import causal_lm, dense_mlp, llama_layer
from engine.models.spec import AttentionSpec, DecoderSpec, MlpSpec


def spec(config: dict[str, Any]) -> DecoderSpec:
    """The first first_k_dense_replace layers are dense."""
    c = Config(config)
    heads, kv_heads, head_dim = c.heads()
    eps, dense = c.number("rms_norm_eps", 1e-6), c.integer("first_k_dense_replace", 0)
    bias = c.flag("attention_bias", False)
    groups, top_groups = c.integer("n_group", 1), c.integer("topk_group", 1)
    count = c.integer("num_hidden_layers")
    layers = []
    for i, window in enumerate(_windows(c, count)):
        prefix = f"model.layers.{i}"
        mixer = AttentionSpec(
            f"{prefix}.self_attn", heads, kv_heads, head_dim, head_dim**-0.5, c.rope(head_dim),
            window=window, qkv_bias=bias, o_bias=bias, qk_norm="head", qk_norm_eps=eps,
        )  # fmt: skip
        mlp: MlpSpec = dense_mlp(c, f"{prefix}.mlp")
        if i >= dense:
            mlp = moe_with_shared(c, f"{prefix}.mlp", sigmoid_router(c, f"{prefix}.mlp", groups, top_groups))
        layers.append(llama_layer(i, mixer, mlp, eps=eps))
    return causal_lm(c, layers, eps)


def _windows(c: Config, count: int) -> list[int | None]:
    """By layer_types, or from layer max_window_layers on; none without sliding_window."""
    if not c.has("sliding_window"):
        return [None] * count
    sliding, full = "sliding_attention", "full_attention"
    first = c.integer("max_window_layers", 62)
    kinds = c.layer_types(count, (sliding, full), [sliding if i >= first else full for i in range(count)])
    return [c.integer("sliding_window") if kind == sliding else None for kind in kinds]
