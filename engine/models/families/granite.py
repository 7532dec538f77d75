"""Granite-MoE and Granite 4: multipliers on embeddings, attention, residuals and logits."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from engine.models.config import Config, unsupported
from engine.models.families.parts import attention, llama, plain_moe
from engine.models.spec import DecoderSpec, DenseMlpSpec, Mamba2Spec, MixerSpec, MoeSpec, RouterSpec, SharedExpertSpec
from engine.translatable import msg

MAMBA, ATTENTION = ("mamba", "linear_attention"), ("attention", "full_attention")  # as the hub has it, and as saved


def granitemoe(c: Config) -> DecoderSpec:
    """Granite-MoE, with or without a shared expert."""
    shared = c.integer("shared_intermediate_size", 0) if c.family == "granitemoeshared" else 0
    return _granite(c, ["attention"] * c.integer("num_hidden_layers"), shared, rotates=True)


def granitemoehybrid(c: Config) -> DecoderSpec:
    """Granite 4 with experts: Mamba-2 with a few layers of attention between, which layer_types names."""
    c.expect("normalization_function", "rmsnorm")
    count, rotates = c.integer("num_hidden_layers"), c.raw.get("position_embedding_type") == "rope"
    kinds = c.layer_types(count, (*MAMBA, *ATTENTION), [MAMBA[0]] * count)
    return _granite(c, kinds, c.integer("shared_intermediate_size", 1024), rotates)


def _granite(c: Config, kinds: Sequence[str], shared: int, rotates: bool) -> DecoderSpec:
    """kinds: by layer. shared: width of the shared expert, 0: none. rotates: whether attention does."""
    eps = c.number("rms_norm_eps", 1e-6)

    def mixer(prefix: str, i: int) -> MixerSpec:
        if kinds[i] in MAMBA:
            return _mamba(c, f"{prefix}.mamba", eps)
        own = attention(c, f"{prefix}.self_attn", rotates=rotates)
        return replace(own, scale=c.number("attention_multiplier", 1.0))

    def mlp(prefix: str, i: int) -> MoeSpec:
        router = RouterSpec(f"{prefix}.block_sparse_moe.router.layer", *c.experts(), "topk_softmax")
        beside = None
        if shared:  # its gate and up projections are one tensor
            beside = SharedExpertSpec(
                DenseMlpSpec(
                    f"{prefix}.shared_mlp", shared, c.activation(), fused=True, up="input_linear", down="output_linear"
                )
            )
        return plain_moe(c, router, c.integer("intermediate_size"), beside)

    return llama(
        c,
        eps,
        mixer,
        mlp,
        residual_multiplier=c.number("residual_multiplier", 1.0),
        embedding_multiplier=c.number("embedding_multiplier", 1.0),
        logit_multiplier=1.0 / c.positive("logits_scaling", 1.0),
    )


def _mamba(c: Config, prefix: str, eps: float) -> Mamba2Spec:
    heads, inner = c.integer("mamba_n_heads", 128, low=1), c.integer("mamba_expand", 2) * c.integer("hidden_size")
    given = c.raw.get("time_step_limit") or (0.0, math.inf)
    least, most = (_time_step(limit) for limit in given)
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


def _time_step(limit: object) -> float:
    """A bound of the time step; transformers spells infinity as a group of its own."""
    spelled = limit.get("__float__") if isinstance(limit, dict) else limit
    if not isinstance(spelled, int | float | str):
        raise unsupported(msg("This granitemoehybrid model bounds its time steps in a way that is not known."))
    return float(spelled)
