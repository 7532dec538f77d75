"""Trinity (AFMoE): gated attention, windows that rotate and full layers that do not, norms on both sides."""

from __future__ import annotations

from typing import Any

from engine.models.config import Config
from engine.models.families.deepseek_parts import moe_with_shared
from engine.models.families.parts import causal_lm, dense_mlp, norm
from engine.models.spec import AttentionSpec, DecoderSpec, LayerSpec, MlpSpec, RouterSpec

SLIDING, FULL = "sliding_attention", "full_attention"


def spec(config: dict[str, Any]) -> DecoderSpec:
    """The first num_dense_layers are dense; every global_attn_every_n_layers-th layer has full attention."""
    c = Config(config)
    for key, value in (("score_func", "sigmoid"), ("route_norm", True), ("n_group", 1), ("topk_group", 1)):
        c.expect(key, value)
    heads, kv_heads, head_dim = c.heads(128)
    eps, dense, bias = c.number("rms_norm_eps", 1e-5), c.integer("num_dense_layers", 1), c.flag("attention_bias", False)
    count, every = c.integer("num_hidden_layers"), c.integer("global_attn_every_n_layers", 4, low=1)
    layers = []
    for i, kind in enumerate(c.layer_types(count, (SLIDING, FULL), [_kind(i, every) for i in range(count)])):
        prefix, sliding = f"model.layers.{i}", kind == SLIDING
        mixer = AttentionSpec(
            f"{prefix}.self_attn", heads, kv_heads, head_dim, head_dim**-0.5, c.rope(head_dim) if sliding else None,
            window=c.integer("sliding_window", 1024) if sliding else None, qkv_bias=bias, o_bias=bias,
            qk_norm="head", qk_norm_eps=eps, gated=True, gate="gate_proj",
        )  # fmt: skip
        mlp: MlpSpec = dense_mlp(c, f"{prefix}.mlp")
        if i >= dense:
            mlp = moe_with_shared(c, f"{prefix}.mlp", _router(c, f"{prefix}.mlp"), key="num_shared_experts")
        layers.append(
            LayerSpec(
                i,
                mixer,
                mlp,
                before_mixer=norm(f"{prefix}.input_layernorm", eps),
                after_mixer=norm(f"{prefix}.post_attention_layernorm", eps),
                before_mlp=norm(f"{prefix}.pre_mlp_layernorm", eps),
                after_mlp=norm(f"{prefix}.post_mlp_layernorm", eps),
            )
        )
    grown = c.integer("hidden_size") ** 0.5 if c.flag("mup_enabled", False) else 1.0
    return causal_lm(c, layers, eps, embedding_multiplier=grown)


def _kind(index: int, every: int) -> str:
    return SLIDING if (index + 1) % every else FULL


def _router(c: Config, prefix: str) -> RouterSpec:
    return RouterSpec(
        f"{prefix}.router.gate", *c.experts(), "sigmoid", choice_bias=f"{prefix}.expert_bias",
        normalize=True, normalize_eps=1e-20, scale=c.number("route_scale", 1.0),
    )  # fmt: skip
