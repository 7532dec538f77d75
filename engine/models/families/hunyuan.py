"""Hunyuan: grouped-query attention with norms by head, and a shared MLP beside the experts."""

from __future__ import annotations

from dataclasses import replace

from engine.models.config import Config, positive, unsupported
from engine.models.families.parts import attention, dense_mlp, llama, mlp_types, plain_moe
from engine.models.spec import AttentionSpec, DecoderSpec, MlpSpec, MoeSpec, RopeSpec, RouterSpec, SharedExpertSpec
from engine.translatable import msg

MOST_ALPHA = 1e9  # the published one has 1000; far beyond, theta overflows


def hunyuan_v1_moe(c: Config) -> DecoderSpec:
    """Hunyuan-A13B: norms after the rotation, softmax router, a shared MLP as wide as an expert.

    Every layer has experts; their number and how many are chosen may differ from layer to layer.
    """
    count, size = c.integer("num_hidden_layers"), c.integer("intermediate_size")
    _refuse_other_builds(c, count, size)
    eps = c.number("rms_norm_eps", 1e-5)
    experts, chosen = c.per_layer("num_experts", count), c.per_layer("moe_topk", count, 1)

    def mixer(prefix: str, i: int) -> AttentionSpec:
        own = attention(c, f"{prefix}.self_attn", rotates=False)
        return replace(
            own, rope=_hunyuan_rope(c, own.head_dim), qk_norm="head", qk_norm_eps=eps, qk_norm_after_rope=True,
            q_norm="query_layernorm", k_norm="key_layernorm",
        )  # fmt: skip

    def mlp(prefix: str, i: int) -> MoeSpec:
        router = RouterSpec(f"{prefix}.mlp.gate.wg", experts[i], chosen[i], "softmax", normalize=True)
        return plain_moe(c, router, size, SharedExpertSpec(dense_mlp(c, f"{prefix}.mlp.shared_mlp")))

    return llama(c, eps, mixer, mlp)


def _hunyuan_rope(c: Config, head_dim: int) -> RopeSpec:
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
    for key, value in (
        ("use_cla", False), ("use_qk_norm", True), ("use_mixed_mlp_moe", True), ("moe_layer_num_skipped", 0),
    ):  # fmt: skip
        c.expect(key, value)
    for key, value in (("num_shared_expert", 1), ("moe_intermediate_size", size)):
        if c.has(key) and set(c.per_layer(key, count)) != {value}:
            c.expect(key, value)


def hy_v3(c: Config) -> DecoderSpec:
    """Hunyuan V3: sigmoid router with a correction, a shared expert; all layers but the first have experts."""
    eps, bias, sparse = c.number("rms_norm_eps", 1e-5), c.flag("mlp_bias", False), mlp_types(c, 1)

    def mixer(prefix: str, i: int) -> AttentionSpec:
        own = attention(c, f"{prefix}.self_attn", head_dim=128, theta=11_158_840.0)
        return replace(own, qk_norm="head", qk_norm_eps=eps)

    def mlp(prefix: str, i: int) -> MlpSpec:
        at = f"{prefix}.mlp"
        if not sparse[i]:
            return dense_mlp(c, at, bias=bias)
        router = RouterSpec(
            f"{at}.router.gate", *c.experts(), "sigmoid", choice_bias=f"{at}.expert_bias",
            normalize=True, normalize_eps=1e-20, scale=c.number("router_scaling_factor", 2.826),
        )  # fmt: skip
        size = c.integer("moe_intermediate_size")
        wide = dense_mlp(c, f"{at}.shared_mlp", size * c.integer("num_shared_experts", 1), bias)
        return plain_moe(c, router, size, SharedExpertSpec(wide))

    return llama(c, eps, mixer, mlp)
