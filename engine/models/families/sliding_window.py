"""Windows between layers of full attention, experts by sigmoid scores: AFMoE, dots.llm1, K-EXAONE, MiMo, Step."""

from __future__ import annotations

from dataclasses import replace

from engine.models.config import Config, unsupported
from engine.models.families.parts import (
    FULL,
    SLIDING,
    attention,
    causal_lm,
    dense_mlp,
    llama,
    mlp_types,
    moe_with_shared,
    norm,
    sigmoid_moe,
    sigmoid_router,
)
from engine.models.spec import (
    ActivationSpec,
    AttentionSpec,
    DecoderSpec,
    DenseMlpSpec,
    ExpertsSpec,
    LayerSpec,
    MlpSpec,
    MoeSpec,
    RopeSpec,
    RouterSpec,
    SharedExpertSpec,
)
from engine.translatable import msg

KINDS = (SLIDING, FULL)
# For a config.json that says nothing of them, under the names that it would have there.
MIMO_THETA = {FULL: ("rope_theta", 5_000_000.0), SLIDING: ("swa_rope_theta", 10_000.0)}
STEP_NAMES = {  # as the hub has it -> as other families call it
    "num_attention_groups": "num_key_value_heads", "moe_num_experts": "n_routed_experts",
    "moe_top_k": "num_experts_per_tok", "share_expert_dims": "share_expert_dim",
}  # fmt: skip


def afmoe(c: Config) -> DecoderSpec:
    """Trinity (AFMoE): gated attention, windows that rotate and full layers that do not, norms on both sides.

    The first num_dense_layers are dense; every global_attn_every_n_layers-th layer has full attention.
    """
    for key, value in (("score_func", "sigmoid"), ("route_norm", True), ("n_group", 1), ("topk_group", 1)):
        c.expect(key, value)
    eps, dense = c.number("rms_norm_eps", 1e-5), c.integer("num_dense_layers", 1)
    count, every = c.integer("num_hidden_layers"), c.integer("global_attn_every_n_layers", 4, low=1)
    layers = []
    for i, kind in enumerate(c.layer_types(count, KINDS, _full_every(every, count))):
        prefix, sliding = f"model.layers.{i}", kind == SLIDING
        own = attention(c, f"{prefix}.self_attn", head_dim=128, rotates=sliding)
        window = c.integer("sliding_window", 1024) if sliding else None
        layers.append(
            LayerSpec(
                index=i,
                mixer=replace(own, window=window, qk_norm="head", qk_norm_eps=eps, gated=True, gate="gate_proj"),
                mlp=dense_mlp(c, f"{prefix}.mlp") if i < dense else _afmoe_experts(c, f"{prefix}.mlp"),
                before_mixer=norm(f"{prefix}.input_layernorm", eps),
                after_mixer=norm(f"{prefix}.post_attention_layernorm", eps),
                before_mlp=norm(f"{prefix}.pre_mlp_layernorm", eps),
                after_mlp=norm(f"{prefix}.post_mlp_layernorm", eps),
            )
        )
    grown = c.integer("hidden_size") ** 0.5 if c.flag("mup_enabled", False) else 1.0
    return causal_lm(c, layers, eps, embedding_multiplier=grown)


def _full_every(every: int, count: int) -> list[str]:
    return [SLIDING if (i + 1) % every else FULL for i in range(count)]


def _afmoe_experts(c: Config, prefix: str) -> MlpSpec:
    router = RouterSpec(
        f"{prefix}.router.gate", *c.experts(), "sigmoid", choice_bias=f"{prefix}.expert_bias",
        normalize=True, normalize_eps=1e-20, scale=c.number("route_scale", 1.0),
    )  # fmt: skip
    return moe_with_shared(c, prefix, router, shared="num_shared_experts")


def dots1(c: Config) -> DecoderSpec:
    """dots.llm1: per-head norms, windows by layer_types or from layer max_window_layers on, DeepSeek-V3's router.

    The first first_k_dense_replace layers are dense.
    """
    eps, first = c.number("rms_norm_eps", 1e-6), c.integer("first_k_dense_replace", 0)
    count = c.integer("num_hidden_layers")
    windows: list[int | None] = [None] * count
    if c.has("sliding_window"):
        begin = c.integer("max_window_layers", 62)
        kinds = c.layer_types(count, KINDS, [SLIDING if i >= begin else FULL for i in range(count)])
        windows = [c.integer("sliding_window") if kind == SLIDING else None for kind in kinds]

    def mixer(prefix: str, i: int) -> AttentionSpec:
        return replace(attention(c, f"{prefix}.self_attn"), window=windows[i], qk_norm="head", qk_norm_eps=eps)

    return llama(c, eps, mixer, lambda prefix, i: sigmoid_moe(c, f"{prefix}.mlp", i >= first))


def exaone_moe(c: Config) -> DecoderSpec:
    """K-EXAONE: windows that rotate between full layers that do not, per-head norms, DeepSeek-V3's router.

    sliding_window_pattern says which layers slide where layer_types does not; without windows all layers rotate.
    """
    eps, count = c.number("rms_norm_eps", 1e-5), c.integer("num_hidden_layers")
    window = c.integer("sliding_window", 4096) if "sliding_window" not in c.raw or c.has("sliding_window") else None
    kinds = c.layer_types(count, KINDS, _exaone_pattern(c, count, window))
    sparse = mlp_types(c, c.integer("first_k_dense_replace", 1))

    def mixer(prefix: str, i: int) -> AttentionSpec:
        sliding = kinds[i] == SLIDING
        own = attention(c, f"{prefix}.self_attn", rotates=window is None or sliding, bias=None)
        return replace(own, window=window if sliding else None, qk_norm="head", qk_norm_eps=eps)

    def mlp(prefix: str, i: int) -> MlpSpec:
        at = f"{prefix}.mlp"
        if not sparse[i]:
            return dense_mlp(c, at)
        router = sigmoid_router(c, at, correction="e_score_correction_bias")
        return moe_with_shared(c, at, router, shared="num_shared_experts")

    return llama(c, eps, mixer, mlp)


def _exaone_pattern(c: Config, count: int, window: int | None) -> list[str]:
    """'LLLG' repeated, or its length; the last layer of a pattern of letters is full."""
    pattern = c.raw.get("sliding_window_pattern", 4)
    if window is None or not pattern:
        return [FULL] * count
    if not isinstance(pattern, str):
        return _full_every(c.integer("sliding_window_pattern", 4, low=1), count)
    if set(pattern) - {"L", "G"}:
        raise unsupported(
            msg(
                "This {family} model has the pattern of windows {pattern}, which is not known.",
                family=c.family,
                pattern=repr(pattern),
            )
        )
    return [SLIDING if pattern[i % len(pattern)] == "L" and i < count - 1 else FULL for i in range(count)]


# ---- MiMo-V2-Flash --------------------------------------------------------------------------------------------------


def mimo_v2_flash(c: Config) -> DecoderSpec:
    """MiMo-V2-Flash: narrow values, windows with sinks and twice the key heads, DeepSeek-V3's router.

    hybrid_layer_pattern or layer_types says which layers slide; by default all but the first and every sixth.
    """
    count = c.integer("num_hidden_layers")
    c.expect("add_full_attention_sink_bias", False)
    c.expect("add_swa_attention_sink_bias", True)
    pattern, frequency = c.integers("hybrid_layer_pattern"), c.raw.get("moe_layer_freq")
    usual = [FULL if i == 0 or (i + 1) % 6 == 0 else SLIDING for i in range(count)]
    kinds = c.layer_types(count, KINDS, [SLIDING if n else FULL for n in pattern] or usual)
    sparse = mlp_types(c, 1, frequency if isinstance(frequency, list) else ())
    return llama(
        c,
        c.number("rms_norm_eps", 1e-5),
        lambda prefix, i: _mimo_attention(c, f"{prefix}.self_attn", kinds[i]),
        lambda prefix, i: sigmoid_moe(c, f"{prefix}.mlp", sparse[i]),
    )


def _mimo_attention(c: Config, prefix: str, kind: str) -> AttentionSpec:
    heads, kv_heads, head_dim = c.heads(192)
    sliding, width = kind == SLIDING, c.integer("v_head_dim", 128, low=1)
    null = "attention_value_scale" in c.raw and not c.has("attention_value_scale")
    return AttentionSpec(
        prefix=prefix,
        heads=heads,
        kv_heads=c.integer("swa_num_key_value_heads", 2 * kv_heads) if sliding else kv_heads,
        head_dim=head_dim,
        scale=head_dim**-0.5,
        rope=_mimo_rope(c, head_dim, kind),
        window=_mimo_window(c) if sliding else None,
        qkv_bias=c.flag("attention_bias", False),
        value_dim=None if width == head_dim else width,
        value_scale=1.0 if null else c.number("attention_value_scale", 0.707),
        sinks=f"{prefix}.attention_sink_bias" if sliding else None,
    )


def _mimo_window(c: Config) -> int:
    """A query sees sliding_window_size tokens before it, and itself."""
    return c.integer("sliding_window_size") + 1 if c.has("sliding_window_size") else c.integer("sliding_window", 129)


def _mimo_rope(c: Config, head_dim: int, kind: str) -> RopeSpec:
    if kind in c.rope_settings():
        return c.rope(head_dim, partial=0.334, layer_type=kind)
    share = c.number("partial_rotary_factor", 0.334)
    return RopeSpec(int(head_dim * share), c.positive(*MIMO_THETA[kind]))


def step3p5(c: Config) -> DecoderSpec:
    """The language model alone, or that of one with images: its tensors have the same names."""
    for key, name in STEP_NAMES.items():
        if c.has(key):
            c.raw.setdefault(name, c.raw[key])
    for key, value in (("use_head_wise_attn_gate", True), ("norm_expert_weight", True), ("attention_bias", False)):
        c.expect(key, value)
    c.expect("moe_router_activation", "sigmoid")
    count, eps = c.integer("num_hidden_layers"), c.number("rms_norm_eps", 1e-5)
    kinds = c.layer_types(count, (SLIDING, FULL), [FULL] * count)
    sparse = mlp_types(c, sparse=_step_sparse(c, count))

    def mixer(prefix: str, i: int) -> AttentionSpec:
        return _step_attention(c, f"{prefix}.self_attn", i, kinds[i], eps)

    def mlp(prefix: str, i: int) -> MlpSpec:
        limits = _step_limited(c, "swiglu_limits_shared", i)
        if sparse[i]:
            return _step_moe(c, prefix, i, limits)
        return DenseMlpSpec(
            prefix=f"{prefix}.mlp",
            intermediate=c.integer("intermediate_size"),
            activation=limits,
            bias=c.flag("mlp_bias", False),
        )

    return llama(c, eps, mixer, mlp, kind="rms_plus_one")


def _step_sparse(c: Config, count: int) -> list[bool]:
    """moe_layers_enum, as numbers or as one text of them; by default all but the first three."""
    given = c.raw.get("moe_layers_enum")
    numbers = given.split(",") if isinstance(given, str) else range(3, count) if given is None else given
    chosen = {int(number) for number in numbers}
    return [i in chosen for i in range(count)]


def _step_limited(c: Config, key: str, index: int) -> ActivationSpec:
    """SwiGLU, with what both halves are at most where the list has a number for this layer."""
    limits = c.raw.get(key) or []
    limit = limits[index] if isinstance(limits, list) and index < len(limits) else None
    return ActivationSpec("late_limited_swiglu", limit=float(limit)) if limit else ActivationSpec()


def _step_attention(c: Config, prefix: str, index: int, kind: str, eps: float) -> AttentionSpec:
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
        prefix=prefix,
        heads=heads,
        kv_heads=kv_heads,
        head_dim=head_dim,
        scale=c.number("query_pre_attn_scalar", head_dim) ** -0.5,
        rope=_step_rope(c, head_dim, index, kind),
        window=c.integer("sliding_window") if kind == SLIDING else None,
        qk_norm="head",
        qk_norm_kind="rms_plus_one",
        qk_norm_eps=eps,
        head_gate="g_proj",
    )


def _step_rope(c: Config, head_dim: int, index: int, kind: str) -> RopeSpec:
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


def _step_moe(c: Config, prefix: str, index: int, beside: ActivationSpec) -> MoeSpec:
    router = RouterSpec(
        f"{prefix}.moe.gate", c.integer("n_routed_experts"), c.integer("num_experts_per_tok"), "sigmoid",
        choice_bias=f"{prefix}.moe.router_bias", normalize=True, scale=c.number("moe_router_scaling_factor", 1.0),
    )  # fmt: skip
    size, limit = c.integer("moe_intermediate_size"), _step_limited(c, "swiglu_limits", index)
    shared = DenseMlpSpec(
        prefix=f"{prefix}.share_expert", intermediate=c.integer("share_expert_dim"), activation=beside
    )
    return MoeSpec(
        router, ExpertsSpec(router.experts, c.integer("hidden_size"), size, limit), SharedExpertSpec(shared)
    )  # fmt: skip
