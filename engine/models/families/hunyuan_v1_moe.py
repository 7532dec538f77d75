"""Hunyuan-A13B: per-head norms after the rotation, softmax router, a shared MLP as wide as an expert."""

from __future__ import annotations

from typing import Any

from engine.models.config import Config, positive, unsupported
from engine.models.families.parts import causal_lm, dense_mlp, llama_layer, plain_moe
from engine.models.spec import AttentionSpec, DecoderSpec, RopeSpec, RouterSpec, SharedExpertSpec
from engine.translatable import msg

MOST_ALPHA = 1e9  # the published one has 1000


def spec(config: dict[str, Any]) -> DecoderSpec:
    """Every layer has experts; their number and how many are chosen may differ from layer to layer."""
    c = Config(config)
    count, size = c.integer("num_hidden_layers"), c.integer("intermediate_size")
    _refuse_other_builds(c, count, size)
    heads, kv_heads, head_dim = c.heads()
    eps, bias = c.number("rms_norm_eps", 1e-5), c.flag("attention_bias", False)
    experts, chosen = c.per_layer("num_experts", count), c.per_layer("moe_topk", count, 1)
    layers = []
    for i in range(count):
        prefix = f"model.layers.{i}"
        mixer = AttentionSpec(
            f"{prefix}.self_attn", heads, kv_heads, head_dim, head_dim**-0.5, _rope(c, head_dim),
            qkv_bias=bias, o_bias=bias, qk_norm="head", qk_norm_eps=eps, qk_norm_after_rope=True,
            q_norm="query_layernorm", k_norm="key_layernorm",
        )  # fmt: skip
        router = RouterSpec(f"{prefix}.mlp.gate.wg", experts[i], chosen[i], "softmax", normalize=True)
        shared = SharedExpertSpec(dense_mlp(c, f"{prefix}.mlp.shared_mlp"))
        layers.append(llama_layer(i, mixer, plain_moe(c, router, size, shared), eps=eps))
    return causal_lm(c, layers, eps)


def _rope(c: Config, head_dim: int) -> RopeSpec:
    """'dynamic' with an alpha is a fixed stretch of theta, whatever the length of the sequence."""
    settings = c.rope_settings()
    alpha = settings.get("alpha")
    if c.rope_kind(settings) != "dynamic" or not alpha:
        return c.rope(head_dim)
    theta = positive("rope_theta", settings.get("rope_theta") or c.number("rope_theta", 10000.0))
    if (alpha := positive(msg("rope alpha"), alpha)) > MOST_ALPHA:
        raise unsupported(
            msg(
                "This {family} model stretches its context by an alpha of {alpha}.", family=c.family, alpha=f"{alpha:g}"
            )
        )
    return RopeSpec(head_dim, theta * alpha ** (head_dim / max(1, head_dim - 2)))


def _refuse_other_builds(c: Config, count: int, size: int) -> None:
    """Settings of Tencent's own code that change the arithmetic, and that the published A13B leaves as here."""
    c.expect("use_cla", False)
    c.expect("use_qk_norm", True)
    c.expect("use_mixed_mlp_moe", True)
    c.expect("moe_layer_num_skipped", 0)
    for key, value in (("num_shared_expert", 1), ("moe_intermediate_size", size)):
        if c.has(key) and set(c.per_layer(key, count)) != {value}:
            c.expect(key, value)
