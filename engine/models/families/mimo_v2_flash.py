"""MiMo-V2-Flash: narrow values, windows with sinks and twice the key heads, DeepSeek-V3's router."""

from __future__ import annotations

from typing import Any

from engine.models.config import Config
from engine.models.families.deepseek_parts import moe_with_shared, sigmoid_router
from engine.models.families.parts import causal_lm, dense_mlp, llama_layer
from engine.models.spec import AttentionSpec, DecoderSpec, MlpSpec, RopeSpec

SLIDING, FULL = "sliding_attention", "full_attention"
DENSE, SPARSE = "dense", "sparse"
THETA = {FULL: ("rope_theta", 5_000_000.0), SLIDING: ("swa_rope_theta", 10_000.0)}


def spec(config: dict[str, Any]) -> DecoderSpec:
    """hybrid_layer_pattern or layer_types says which layers slide; by default all but the first and every sixth."""
    c = Config(config)
    count, eps = c.integer("num_hidden_layers"), c.number("rms_norm_eps", 1e-5)
    c.expect("add_full_attention_sink_bias", False)
    c.expect("add_swa_attention_sink_bias", True)
    groups, top_groups = c.integer("n_group", 1), c.integer("topk_group", 1)
    pattern, frequency = c.integers("hybrid_layer_pattern"), c.raw.get("moe_layer_freq")
    default = [FULL if i == 0 or (i + 1) % 6 == 0 else SLIDING for i in range(count)]
    kinds = c.layer_types(count, (SLIDING, FULL), [SLIDING if n else FULL for n in pattern] or default)
    sparse = [SPARSE if n else DENSE for n in frequency] if isinstance(frequency, list) else None
    mlps = c.layer_types(count, (DENSE, SPARSE), sparse or [DENSE] + [SPARSE] * (count - 1), "mlp_layer_types")
    layers = []
    for i, kind in enumerate(kinds):
        prefix = f"model.layers.{i}"
        mlp: MlpSpec = dense_mlp(c, f"{prefix}.mlp")
        if mlps[i] == SPARSE:
            mlp = moe_with_shared(c, f"{prefix}.mlp", sigmoid_router(c, f"{prefix}.mlp", groups, top_groups))
        layers.append(llama_layer(i, _attention(c, f"{prefix}.self_attn", kind), mlp, eps=eps))
    return causal_lm(c, layers, eps)


def _attention(c: Config, prefix: str, kind: str) -> AttentionSpec:
    heads, kv_heads, head_dim = c.heads(192)
    sliding = kind == SLIDING
    width = c.integer("v_head_dim", 128, low=1)
    return AttentionSpec(
        prefix, heads, c.integer("swa_num_key_value_heads", 2 * kv_heads) if sliding else kv_heads, head_dim,
        head_dim**-0.5, _rope(c, head_dim, kind), window=_window(c) if sliding else None,
        qkv_bias=c.flag("attention_bias", False), value_dim=None if width == head_dim else width,
        value_scale=c.number("attention_value_scale", 0.707) if "attention_value_scale" not in c.raw
        or c.has("attention_value_scale") else 1.0,
        sinks=f"{prefix}.attention_sink_bias" if sliding else None,
    )  # fmt: skip


def _window(c: Config) -> int:
    """A query sees sliding_window_size tokens before it, and itself."""
    return c.integer("sliding_window_size") + 1 if c.has("sliding_window_size") else c.integer("sliding_window", 129)


def _rope(c: Config, head_dim: int, kind: str) -> RopeSpec:
    if kind in c.rope_settings():
        return c.rope(head_dim, partial=0.334, layer_type=kind)
    key, theta = THETA[kind]
    share = c.number("partial_rotary_factor", 0.334)
    return RopeSpec(int(head_dim * share), c.positive(key, theta))
