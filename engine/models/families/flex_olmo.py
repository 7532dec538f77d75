"""FlexOlmo: OLMoE's attention and router, with the norms after the mixer and after the experts instead of before."""

from __future__ import annotations

from typing import Any

from engine.models.config import Config
from engine.models.families.parts import causal_lm, norm, plain_moe
from engine.models.spec import AttentionSpec, DecoderSpec, LayerSpec, RouterSpec


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
            f"{prefix}.self_attn", heads, kv_heads, head_dim, head_dim**-0.5, c.rope(head_dim, theta=5e5),
            qkv_bias=bias, o_bias=bias, qk_norm="full", qk_norm_eps=eps,
        )  # fmt: skip
        router = RouterSpec(
            f"{prefix}.mlp.gate", *c.experts(), "softmax", normalize=c.flag("norm_topk_prob", False)
        )  # fmt: skip
        layers.append(
            LayerSpec(
                i,
                mixer,
                plain_moe(c, router, c.integer("intermediate_size")),
                after_mixer=norm(f"{prefix}.post_attention_layernorm", eps),
                after_mlp=norm(f"{prefix}.post_feedforward_layernorm", eps),
            )
        )
    return causal_lm(c, layers, eps)
