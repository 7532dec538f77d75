"""Granite 4 with experts: Mamba-2 with a few layers of attention between, Granite's multipliers, a shared expert."""

from __future__ import annotations

import math
from typing import Any

from engine.models.config import Config, unsupported
from engine.models.families.parts import causal_lm, llama_layer, plain_moe
from engine.models.spec import (
    AttentionSpec,
    DecoderSpec,
    DenseMlpSpec,
    Mamba2Spec,
    MixerSpec,
    RouterSpec,
    SharedExpertSpec,
)
from engine.translatable import msg

MAMBA, ATTENTION = ("mamba", "linear_attention"), ("attention", "full_attention")  # as the hub has it, and as saved


def spec(config: dict[str, Any]) -> DecoderSpec:
    """layer_types says which layers attend; whether these rotate, position_embedding_type."""
    c = Config(config)
    c.expect("normalization_function", "rmsnorm")
    eps, count = c.number("rms_norm_eps", 1e-6), c.integer("num_hidden_layers")
    layers = []
    for i, kind in enumerate(c.layer_types(count, (*MAMBA, *ATTENTION), [MAMBA[0]] * count)):
        prefix = f"model.layers.{i}"
        mixer: MixerSpec = _mamba(c, f"{prefix}.mamba", eps)
        if kind in ATTENTION:
            mixer = _attention(c, f"{prefix}.self_attn")
        router = RouterSpec(f"{prefix}.block_sparse_moe.router.layer", *c.experts(), "topk_softmax")
        shared = DenseMlpSpec(
            f"{prefix}.shared_mlp", c.integer("shared_intermediate_size", 1024), c.activation(), fused=True,
            up="input_linear", down="output_linear",
        )  # fmt: skip
        mlp = plain_moe(c, router, c.integer("intermediate_size"), SharedExpertSpec(shared))
        layers.append(llama_layer(i, mixer, mlp, eps=eps, residual_multiplier=c.number("residual_multiplier", 1.0)))
    return causal_lm(
        c, layers, eps,
        embedding_multiplier=c.number("embedding_multiplier", 1.0),
        logit_multiplier=1.0 / c.positive("logits_scaling", 1.0),
    )  # fmt: skip


def _attention(c: Config, prefix: str) -> AttentionSpec:
    heads, kv_heads, head_dim = c.heads()
    bias = c.flag("attention_bias", False)
    turns = c.raw.get("position_embedding_type") == "rope"
    return AttentionSpec(
        prefix, heads, kv_heads, head_dim, c.number("attention_multiplier", 1.0), c.rope(head_dim) if turns else None,
        qkv_bias=bias, o_bias=bias,
    )  # fmt: skip


def _mamba(c: Config, prefix: str, eps: float) -> Mamba2Spec:
    heads, inner = c.integer("mamba_n_heads", 128, low=1), c.integer("mamba_expand", 2) * c.integer("hidden_size")
    given = c.raw.get("time_step_limit") or (0.0, math.inf)
    least, most = (_number(limit) for limit in given)
    return Mamba2Spec(
        prefix,
        heads=heads,
        head_dim=inner // heads if c.raw.get("mamba_d_head") in (None, "auto") else c.integer("mamba_d_head", low=1),
        state=c.integer("mamba_d_state", 256, low=1),
        groups=c.integer("mamba_n_groups", 1, low=1),
        kernel=c.integer("mamba_d_conv", 4, low=1),
        norm_eps=eps,
        bias=c.flag("mamba_proj_bias", False),
        conv_bias=c.flag("mamba_conv_bias", True),
        steps=(least, most),
    )


def _number(limit: object) -> float:
    """A time step; transformers spells infinity as a group of its own."""
    spelled = limit.get("__float__") if isinstance(limit, dict) else limit
    if not isinstance(spelled, int | float | str):
        raise unsupported(msg("This granitemoehybrid model bounds its time steps in a way that is not known."))
    return float(spelled)
