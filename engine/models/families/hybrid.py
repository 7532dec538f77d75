"""Families with a few layers of attention between Mamba-2 or short convolutions: Granite 4, LFM2-MoE, Nemotron-H."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from engine.models.config import Config, unsupported
from engine.models.families.parts import attention, causal_lm, llama, norm, plain_moe, sigmoid_router
from engine.models.spec import (
    AttentionSpec,
    DecoderSpec,
    DenseMlpSpec,
    ExpertsSpec,
    LatentSpec,
    LayerSpec,
    Mamba2Spec,
    MixerSpec,
    MlpSpec,
    MoeSpec,
    RouterSpec,
    SharedExpertSpec,
    ShortConvSpec,
)
from engine.translatable import msg

MAMBA, ATTENTION = ("mamba", "linear_attention"), ("attention", "full_attention")  # as the hub has it, and as saved
NEMOTRON_LETTERS = {"M": "linear_attention", "E": "moe", "*": "full_attention", "-": "mlp"}
NEMOTRON_OLDER = {"mamba": "linear_attention", "attention": "full_attention"}
NEMOTRON_ROOT = "backbone"


def granitemoe(c: Config) -> DecoderSpec:
    """Granite-MoE, with or without a shared expert: multipliers on embeddings, attention, residuals and logits."""
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
            return _granite_mamba(c, f"{prefix}.mamba", eps)
        own = attention(c, f"{prefix}.self_attn", rotates=rotates)
        return replace(own, scale=c.number("attention_multiplier", 1.0))

    def mlp(prefix: str, i: int) -> MoeSpec:
        router = RouterSpec(f"{prefix}.block_sparse_moe.router.layer", *c.experts(), "topk_softmax")
        beside = None
        if shared:  # its gate and up projections are one tensor
            beside = SharedExpertSpec(
                DenseMlpSpec(
                    prefix=f"{prefix}.shared_mlp",
                    intermediate=shared,
                    activation=c.activation(),
                    fused=True,
                    up="input_linear",
                    down="output_linear",
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


def _granite_mamba(c: Config, prefix: str, eps: float) -> Mamba2Spec:
    heads, inner = c.integer("mamba_n_heads", 128, low=1), c.integer("mamba_expand", 2) * c.integer("hidden_size")
    given = c.raw.get("time_step_limit") or (0.0, math.inf)
    least, most = (_time_step(limit) for limit in given)
    return Mamba2Spec(
        prefix=prefix,
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


def lfm2_moe(c: Config) -> DecoderSpec:
    """LFM2-MoE. layer_types says which layers convolve; the first num_dense_layers have no experts."""
    eps, dense = c.number("norm_eps", 1e-5), c.integer("num_dense_layers", 2)
    count = c.integer("num_hidden_layers")
    layers = []
    for i, kind in enumerate(c.layer_types(count, ("conv", "full_attention"), ())):
        prefix = f"model.layers.{i}"
        mixer: MixerSpec = _lfm_attention(c, f"{prefix}.self_attn", eps)
        if kind == "conv":
            size, taps = c.integer("hidden_size"), c.integer("conv_L_cache", 3)
            mixer = ShortConvSpec(f"{prefix}.conv", size, taps, c.flag("conv_bias", False))
        layers.append(
            LayerSpec(
                index=i,
                mixer=mixer,
                mlp=_lfm_feed_forward(c, f"{prefix}.feed_forward", i < dense),
                before_mixer=norm(f"{prefix}.operator_norm", eps),
                before_mlp=norm(f"{prefix}.ffn_norm", eps),
            )
        )
    # older files spell the tie without "word"
    return causal_lm(c, layers, eps, final_norm="embedding_norm", tied=c.flag("tie_embedding", True))


def _lfm_attention(c: Config, prefix: str, eps: float) -> AttentionSpec:
    own = attention(c, prefix, theta=1_000_000.0, bias=None)
    return replace(own, qk_norm="head", qk_norm_eps=eps, o="out_proj", q_norm="q_layernorm", k_norm="k_layernorm")


def _lfm_feed_forward(c: Config, prefix: str, dense: bool) -> MlpSpec:
    if dense:
        size = c.integer("intermediate_size")
        return DenseMlpSpec(prefix=prefix, intermediate=size, activation=c.activation(), gate="w1", up="w3", down="w2")
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


def nemotron_h(c: Config) -> DecoderSpec:
    """Nemotron-H with experts (Nemotron 3): attention without rotation, experts without a gate.

    Every block is either a mixer or a feed-forward; the block's own index is what its experts go by.
    """
    c.expect("sliding_window", None)
    c.expect("mamba_hidden_act", "silu")
    eps = c.number("layer_norm_epsilon", 1e-5)
    layers = []
    for i, kind in enumerate(blocks(c.raw)):
        prefix = f"{NEMOTRON_ROOT}.layers.{i}.mixer"
        before = norm(f"{NEMOTRON_ROOT}.layers.{i}.norm", eps)
        if kind in ("moe", "mlp"):
            mlp: MlpSpec = (
                _nemotron_moe(c, prefix) if kind == "moe" else _nemotron_mlp(c, prefix, c.integer("intermediate_size"))
            )
            layers.append(LayerSpec(index=i, mixer=None, mlp=mlp, before_mlp=before))
        else:
            mixer: MixerSpec = (
                _nemotron_attention(c, prefix) if kind == "full_attention" else _nemotron_mamba(c, prefix, eps)
            )
            layers.append(LayerSpec(index=i, mixer=mixer, mlp=None, before_mixer=before))
    return causal_lm(c, layers, eps, prefix=NEMOTRON_ROOT, final_norm="norm_f", embedding="embeddings")


def blocks(raw: dict[str, Any]) -> Sequence[str]:
    """What each block is, as letters or as a list."""
    pattern = raw.get("hybrid_override_pattern")
    listed = (
        raw.get("layers_block_type") or raw.get("layer_types") or [NEMOTRON_LETTERS.get(x, x) for x in pattern or ""]
    )
    found = [NEMOTRON_OLDER.get(str(kind), str(kind)) for kind in listed]
    unknown = set(found) - set(NEMOTRON_LETTERS.values())
    if unknown or not found:
        raise unsupported(
            msg("This nemotron_h model has blocks that Underhill does not know: {unknown}.", unknown=sorted(unknown))
        )
    return found


def _nemotron_attention(c: Config, prefix: str) -> AttentionSpec:
    c.expect("attention_bias", False)
    return attention(c, prefix, head_dim=128, rotates=False, bias=None)


def _nemotron_mamba(c: Config, prefix: str, eps: float) -> Mamba2Spec:
    return Mamba2Spec(
        prefix=prefix,
        heads=c.integer("mamba_num_heads", 128, low=1),
        head_dim=c.integer("mamba_head_dim", 64, low=1),
        state=c.integer("ssm_state_size", 128, low=1),
        groups=c.integer("n_groups", 8, low=1),
        kernel=c.integer("conv_kernel", 4, low=1),
        norm_eps=eps,
        bias=c.flag("use_bias", False),
        conv_bias=c.flag("use_conv_bias", True),
        steps=(c.number("time_step_min", 0.001), math.inf),
    )


def _nemotron_mlp(c: Config, prefix: str, size: int) -> DenseMlpSpec:
    """down(relu(up x)^2)."""
    return DenseMlpSpec(
        prefix=prefix,
        intermediate=size,
        activation=c.activation("mlp_hidden_act", "relu2"),
        bias=c.flag("mlp_bias", False),
        gate=None,
    )


def _nemotron_moe(c: Config, prefix: str) -> MoeSpec:
    router = sigmoid_router(c, prefix)
    size, activation = c.integer("moe_intermediate_size"), c.activation("mlp_hidden_act", "relu2")
    latent, width = None, c.integer("hidden_size")
    if c.has("moe_latent_size"):
        width, bias = c.integer("moe_latent_size", low=1), c.flag("mlp_bias", False)
        latent = LatentSpec(f"{prefix}.fc1_latent_proj", f"{prefix}.fc2_latent_proj", bias)
    experts = ExpertsSpec(router.experts, width, size, activation, has_gate=False)
    shared = _nemotron_mlp(c, f"{prefix}.shared_experts", c.integer("moe_shared_expert_intermediate_size", 7688))
    return MoeSpec(
        router, experts, SharedExpertSpec(shared) if c.integer("n_shared_experts", 1) else None, latent=latent
    )
