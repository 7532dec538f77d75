"""Step 3.5 and 3.7: windows with heads of their own number, a gate for each head, and limits in the last layers."""

from __future__ import annotations

from engine.models.config import Config, unsupported
from engine.models.families.parts import FULL, SLIDING, llama, mlp_types
from engine.models.spec import (
    ActivationSpec,
    AttentionSpec,
    DecoderSpec,
    DenseMlpSpec,
    ExpertsSpec,
    MlpSpec,
    MoeSpec,
    RopeSpec,
    RouterSpec,
    SharedExpertSpec,
)
from engine.translatable import msg

NAMES = {  # as the hub has it -> as other families call it
    "num_attention_groups": "num_key_value_heads", "moe_num_experts": "n_routed_experts",
    "moe_top_k": "num_experts_per_tok", "share_expert_dims": "share_expert_dim",
}  # fmt: skip


def step3p5(c: Config) -> DecoderSpec:
    """The language model alone, or that of one with images: its tensors have the same names."""
    for key, name in NAMES.items():
        if c.has(key):
            c.raw.setdefault(name, c.raw[key])
    for key, value in (("use_head_wise_attn_gate", True), ("norm_expert_weight", True), ("attention_bias", False)):
        c.expect(key, value)
    c.expect("moe_router_activation", "sigmoid")
    count, eps = c.integer("num_hidden_layers"), c.number("rms_norm_eps", 1e-5)
    kinds = c.layer_types(count, (SLIDING, FULL), [FULL] * count)
    sparse = mlp_types(c, sparse=_sparse(c, count))

    def mixer(prefix: str, i: int) -> AttentionSpec:
        return _attention(c, f"{prefix}.self_attn", i, kinds[i], eps)

    def mlp(prefix: str, i: int) -> MlpSpec:
        limits = _limited(c, "swiglu_limits_shared", i)
        if sparse[i]:
            return _moe(c, prefix, i, limits)
        return DenseMlpSpec(f"{prefix}.mlp", c.integer("intermediate_size"), limits, c.flag("mlp_bias", False))

    return llama(c, eps, mixer, mlp, kind="rms_plus_one")


def _sparse(c: Config, count: int) -> list[bool]:
    """moe_layers_enum, as numbers or as one text of them; by default all but the first three."""
    given = c.raw.get("moe_layers_enum")
    numbers = given.split(",") if isinstance(given, str) else range(3, count) if given is None else given
    chosen = {int(number) for number in numbers}
    return [i in chosen for i in range(count)]


def _limited(c: Config, key: str, index: int) -> ActivationSpec:
    """SwiGLU, with what both halves are at most where the list has a number for this layer."""
    limits = c.raw.get(key) or []
    limit = limits[index] if isinstance(limits, list) and index < len(limits) else None
    return ActivationSpec("late_limited_swiglu", limit=float(limit)) if limit else ActivationSpec()


def _attention(c: Config, prefix: str, index: int, kind: str, eps: float) -> AttentionSpec:
    heads, kv_heads, head_dim = c.heads(128)
    other = c.group("attention_other_setting")
    if kind == SLIDING:
        heads = c.integer("num_sliding_attention_heads", other.integer("num_attention_heads", heads), low=1)
    if heads % kv_heads:
        raise unsupported(
            msg(
                "This {family} model has {heads} heads in some layers, for {kv_heads} key heads.",
                family=c.family,
                heads=heads,
                kv_heads=kv_heads,
            )
        )
    return AttentionSpec(
        prefix, heads, kv_heads, head_dim, c.number("query_pre_attn_scalar", head_dim) ** -0.5,
        _rope(c, head_dim, index, kind), window=c.integer("sliding_window") if kind == SLIDING else None,
        qk_norm="head", qk_norm_kind="rms_plus_one", qk_norm_eps=eps, head_gate="g_proj",
    )  # fmt: skip


def _rope(c: Config, head_dim: int, index: int, kind: str) -> RopeSpec:
    """By kind of layer, as transformers saves it; or by layer, with a stretch for full attention alone."""
    if kind in c.rope_settings():
        return c.rope(head_dim, layer_type=kind)
    thetas, shares = c.raw.get("rope_theta"), c.raw.get("partial_rotary_factors")
    own = {
        "rope_theta": thetas[index] if isinstance(thetas, list) else thetas,
        "partial_rotary_factor": shares[index] if isinstance(shares, list) else None,
        "rope_scaling": c.raw.get("rope_scaling") if kind == FULL else None,
    }
    return Config({**c.raw, **own, "rope_parameters": None}).rope(head_dim)


def _moe(c: Config, prefix: str, index: int, beside: ActivationSpec) -> MoeSpec:
    router = RouterSpec(
        f"{prefix}.moe.gate", c.integer("n_routed_experts"), c.integer("num_experts_per_tok"), "sigmoid",
        choice_bias=f"{prefix}.moe.router_bias", normalize=True, scale=c.number("moe_router_scaling_factor", 1.0),
    )  # fmt: skip
    size, limit = c.integer("moe_intermediate_size"), _limited(c, "swiglu_limits", index)
    shared = DenseMlpSpec(f"{prefix}.share_expert", c.integer("share_expert_dim"), beside)
    return MoeSpec(
        router, ExpertsSpec(router.experts, c.integer("hidden_size"), size, limit), SharedExpertSpec(shared)
    )  # fmt: skip
