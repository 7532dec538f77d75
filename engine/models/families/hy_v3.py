"""Hunyuan V3: grouped-query attention with per-head norms, sigmoid router with a correction, a shared expert."""

from __future__ import annotations

from typing import Any

from engine.models.config import Config
from engine.models.families.parts import causal_lm, dense_mlp, llama_layer, plain_moe
from engine.models.spec import AttentionSpec, DecoderSpec, MlpSpec, MoeSpec, RouterSpec, SharedExpertSpec


def spec(config: dict[str, Any]) -> DecoderSpec:
    """mlp_layer_types says which layers have experts: all but the first, where it does not say."""
    c = Config(config)
    heads, kv_heads, head_dim = c.heads(128)
    eps = c.number("rms_norm_eps", 1e-5)
    bias, mlp_bias = c.flag("attention_bias", False), c.flag("mlp_bias", False)
    count = c.integer("num_hidden_layers")
    kinds = c.layer_types(count, ("dense", "sparse"), ["dense"] + ["sparse"] * (count - 1), key="mlp_layer_types")
    layers = []
    for i, kind in enumerate(kinds):
        prefix = f"model.layers.{i}"
        mixer = AttentionSpec(
            f"{prefix}.self_attn", heads, kv_heads, head_dim, head_dim**-0.5, c.rope(head_dim, theta=11_158_840.0),
            qkv_bias=bias, o_bias=bias, qk_norm="head", qk_norm_eps=eps,
        )  # fmt: skip
        dense = dense_mlp(c, f"{prefix}.mlp", bias=mlp_bias)
        mlp: MlpSpec = _moe(c, f"{prefix}.mlp", mlp_bias) if kind == "sparse" else dense
        layers.append(llama_layer(i, mixer, mlp, eps=eps))
    return causal_lm(c, layers, eps)


def _moe(c: Config, prefix: str, bias: bool) -> MoeSpec:
    router = RouterSpec(
        f"{prefix}.router.gate", *c.experts(), "sigmoid", choice_bias=f"{prefix}.expert_bias",
        normalize=True, normalize_eps=1e-20, scale=c.number("router_scaling_factor", 2.826),
    )  # fmt: skip
    size = c.integer("moe_intermediate_size")
    wide = dense_mlp(c, f"{prefix}.shared_mlp", size * c.integer("num_shared_experts", 1), bias)
    return plain_moe(c, router, size, SharedExpertSpec(wide))
