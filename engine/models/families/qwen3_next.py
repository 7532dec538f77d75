"""Qwen3-Next: three layers of Gated DeltaNet to one of gated attention, gated shared expert, (1 + w) norms."""

from __future__ import annotations

from typing import Any

from engine.models.config import Config
from engine.models.families.parts import causal_lm, dense_mlp, norm, plain_moe
from engine.models.spec import (
    AttentionSpec,
    DecoderSpec,
    DeltaNetSpec,
    LayerSpec,
    MixerSpec,
    MlpSpec,
    MoeSpec,
    RouterSpec,
    SharedExpertSpec,
)

LAYER_TYPES = ("linear_attention", "full_attention")


def spec(config: dict[str, Any]) -> DecoderSpec:
    """layer_types says which layers are which; by default every full_attention_interval-th has attention."""
    c = Config(config)
    step, dense = c.integer("decoder_sparse_step", 1, low=1), c.integers("mlp_only_layers")
    layers = []
    for i, kind in enumerate(layer_types(c)):
        prefix = f"model.layers.{i}"
        mlp: MlpSpec = dense_mlp(c, f"{prefix}.mlp")
        if i not in dense and (i + 1) % step == 0:
            mlp = gated_moe(c, f"{prefix}.mlp", normalize=c.flag("norm_topk_prob", True))
        layers.append(hybrid_layer(c, i, prefix, kind, mlp, fused=True))
    return causal_lm(c, layers, c.number("rms_norm_eps", 1e-6), "rms_plus_one")


def layer_types(c: Config) -> tuple[str, ...]:
    """Which layers are linear and which full attention."""
    count, interval = c.integer("num_hidden_layers"), c.integer("full_attention_interval", 4, low=1)
    default = [LAYER_TYPES[(i + 1) % interval == 0] for i in range(count)]
    return c.layer_types(count, LAYER_TYPES, default)


def hybrid_layer(c: Config, index: int, prefix: str, kind: str, mlp: MlpSpec, fused: bool) -> LayerSpec:
    """One layer of `kind` under `prefix`. fused: DeltaNet's projections are stored in two matrices, not four."""
    eps = c.number("rms_norm_eps", 1e-6)
    mixer: MixerSpec = _attention(c, f"{prefix}.self_attn", eps)
    if kind == "linear_attention":
        mixer = _delta_net(c, f"{prefix}.linear_attn", eps, fused)
    return LayerSpec(
        index,
        mixer,
        mlp,
        before_mixer=norm(f"{prefix}.input_layernorm", eps, "rms_plus_one"),
        before_mlp=norm(f"{prefix}.post_attention_layernorm", eps, "rms_plus_one"),
    )


def gated_moe(c: Config, prefix: str, normalize: bool) -> MoeSpec:
    """Softmax router, and a shared expert scaled by a sigmoid of its own."""
    router = RouterSpec(f"{prefix}.gate", *c.experts(), "softmax", normalize=normalize)
    shared = dense_mlp(c, f"{prefix}.shared_expert", c.integer("shared_expert_intermediate_size"))
    gate = f"{prefix}.shared_expert_gate"
    return plain_moe(c, router, c.integer("moe_intermediate_size"), SharedExpertSpec(shared, gate))


def _attention(c: Config, prefix: str, eps: float) -> AttentionSpec:
    heads, kv_heads, head_dim = c.heads(256)
    bias = c.flag("attention_bias", False)
    return AttentionSpec(
        prefix, heads, kv_heads, head_dim, head_dim**-0.5, c.rope(head_dim, partial=0.25), qkv_bias=bias, o_bias=bias,
        qk_norm="head", qk_norm_kind="rms_plus_one", qk_norm_eps=eps, gated=True,
    )  # fmt: skip


def _delta_net(c: Config, prefix: str, eps: float, fused: bool) -> DeltaNetSpec:
    c.expect("hidden_act", "silu")  # the convolution's activation too
    return DeltaNetSpec(
        prefix,
        k_heads=c.integer("linear_num_key_heads"),
        v_heads=c.integer("linear_num_value_heads"),
        k_dim=c.integer("linear_key_head_dim"),
        v_dim=c.integer("linear_value_head_dim"),
        kernel=c.integer("linear_conv_kernel_dim", 4),
        norm_eps=eps,
        fused=fused,
    )
