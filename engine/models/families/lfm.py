"""LFM2-MoE: short convolutions with a few layers of attention between, sigmoid router, dense first layers."""

from __future__ import annotations

from dataclasses import replace

from engine.models.config import Config
from engine.models.families.parts import attention, causal_lm, norm, plain_moe
from engine.models.spec import (
    AttentionSpec,
    DecoderSpec,
    DenseMlpSpec,
    LayerSpec,
    MixerSpec,
    MlpSpec,
    RouterSpec,
    ShortConvSpec,
)


def lfm2_moe(c: Config) -> DecoderSpec:
    """layer_types says which layers convolve; the first num_dense_layers have no experts."""
    eps, dense = c.number("norm_eps", 1e-5), c.integer("num_dense_layers", 2)
    count = c.integer("num_hidden_layers")
    layers = []
    for i, kind in enumerate(c.layer_types(count, ("conv", "full_attention"), ())):
        prefix = f"model.layers.{i}"
        mixer: MixerSpec = _attention(c, f"{prefix}.self_attn", eps)
        if kind == "conv":
            size, taps = c.integer("hidden_size"), c.integer("conv_L_cache", 3)
            mixer = ShortConvSpec(f"{prefix}.conv", size, taps, c.flag("conv_bias", False))
        layers.append(
            LayerSpec(
                i,
                mixer,
                _feed_forward(c, f"{prefix}.feed_forward", i < dense),
                before_mixer=norm(f"{prefix}.operator_norm", eps),
                before_mlp=norm(f"{prefix}.ffn_norm", eps),
            )
        )
    # older files spell the tie without "word"
    return causal_lm(c, layers, eps, final_norm="embedding_norm", tied=c.flag("tie_embedding", True))


def _attention(c: Config, prefix: str, eps: float) -> AttentionSpec:
    own = attention(c, prefix, theta=1_000_000.0, bias=None)
    return replace(own, qk_norm="head", qk_norm_eps=eps, o="out_proj", q_norm="q_layernorm", k_norm="k_layernorm")


def _feed_forward(c: Config, prefix: str, dense: bool) -> MlpSpec:
    if dense:
        size = c.integer("intermediate_size")
        return DenseMlpSpec(prefix, size, c.activation(), gate="w1", up="w3", down="w2")
    router = RouterSpec(
        f"{prefix}.gate",
        *c.experts(),
        "sigmoid",
        choice_bias=f"{prefix}.expert_bias" if c.flag("use_expert_bias", True) else None,
        normalize=c.flag("norm_topk_prob", True),
        normalize_eps=1e-6,
        scale=c.number("routed_scaling_factor", 1.0),
    )
    return plain_moe(c, router, c.integer("moe_intermediate_size"))
