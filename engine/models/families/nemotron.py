"""Nemotron-H with experts (Nemotron 3): Mamba-2, attention without rotation, and experts without a gate, one by one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from engine.models.config import Config, unsupported
from engine.models.families.parts import attention, causal_lm, norm, sigmoid_router
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
    SharedExpertSpec,
)
from engine.translatable import msg

LETTERS = {"M": "linear_attention", "E": "moe", "*": "full_attention", "-": "mlp"}
OLDER = {"mamba": "linear_attention", "attention": "full_attention"}
ROOT = "backbone"


def nemotron_h(c: Config) -> DecoderSpec:
    """Every block is either a mixer or a feed-forward; the block's own index is what its experts go by."""
    c.expect("sliding_window", None)
    c.expect("mamba_hidden_act", "silu")
    eps = c.number("layer_norm_epsilon", 1e-5)
    layers = []
    for i, kind in enumerate(blocks(c.raw)):
        prefix = f"{ROOT}.layers.{i}.mixer"
        before = norm(f"{ROOT}.layers.{i}.norm", eps)
        if kind in ("moe", "mlp"):
            mlp: MlpSpec = _moe(c, prefix) if kind == "moe" else _mlp(c, prefix, c.integer("intermediate_size"))
            layers.append(LayerSpec(i, None, mlp, before_mlp=before))
        else:
            mixer: MixerSpec = _attention(c, prefix) if kind == "full_attention" else _mamba(c, prefix, eps)
            layers.append(LayerSpec(i, mixer, None, before_mixer=before))
    return causal_lm(c, layers, eps, prefix=ROOT, final_norm="norm_f", embedding="embeddings")


def blocks(raw: dict[str, Any]) -> Sequence[str]:
    """What each block is, as letters or as a list."""
    pattern = raw.get("hybrid_override_pattern")
    listed = raw.get("layers_block_type") or raw.get("layer_types") or [LETTERS.get(x, x) for x in pattern or ""]
    found = [OLDER.get(str(kind), str(kind)) for kind in listed]
    unknown = set(found) - set(LETTERS.values())
    if unknown or not found:
        raise unsupported(
            msg("This nemotron_h model has blocks that Underhill does not know: {unknown}.", unknown=sorted(unknown))
        )
    return found


def _attention(c: Config, prefix: str) -> AttentionSpec:
    c.expect("attention_bias", False)
    return attention(c, prefix, head_dim=128, rotates=False, bias=None)


def _mamba(c: Config, prefix: str, eps: float) -> Mamba2Spec:
    return Mamba2Spec(
        prefix,
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


def _mlp(c: Config, prefix: str, size: int) -> DenseMlpSpec:
    """down(relu(up x)^2)."""
    return DenseMlpSpec(prefix, size, c.activation("mlp_hidden_act", "relu2"), c.flag("mlp_bias", False), gate=None)


def _moe(c: Config, prefix: str) -> MoeSpec:
    router = sigmoid_router(c, prefix)
    size, activation = c.integer("moe_intermediate_size"), c.activation("mlp_hidden_act", "relu2")
    latent, width = None, c.integer("hidden_size")
    if c.has("moe_latent_size"):
        width, bias = c.integer("moe_latent_size", low=1), c.flag("mlp_bias", False)
        latent = LatentSpec(f"{prefix}.fc1_latent_proj", f"{prefix}.fc2_latent_proj", bias)
    experts = ExpertsSpec(router.experts, width, size, activation, has_gate=False)
    shared = _mlp(c, f"{prefix}.shared_experts", c.integer("moe_shared_expert_intermediate_size", 7688))
    return MoeSpec(
        router, experts, SharedExpertSpec(shared) if c.integer("n_shared_experts", 1) else None, latent=latent
    )
