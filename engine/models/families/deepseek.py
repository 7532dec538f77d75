"""DeepSeek and the families that have its latent attention or its router: Kimi, LongCat, Mistral 4, GLM, Solar."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from engine.models.config import Config, dense, unsupported
from engine.models.families.parts import (
    FULL,
    LINEAR,
    attention,
    causal_lm,
    dense_mlp,
    inside,
    latent_attention,
    llama,
    mlp_types,
    moe_with_shared,
    norm,
    sigmoid_moe,
)
from engine.models.spec import (
    AttentionSpec,
    DecoderSpec,
    ExpertsSpec,
    IndexerSpec,
    KdaSpec,
    LayerSpec,
    MixerSpec,
    MlaSpec,
    MlpSpec,
    MoeSpec,
    RouterSpec,
    TemperatureSpec,
)
from engine.translatable import msg

KIMI_NAMES = {  # as the hub has it -> as other families call it
    "num_expert_group": "n_group", "num_experts_per_token": "num_experts_per_tok", "moe_renormalize": "norm_topk_prob",
    "num_shared_experts": "n_shared_experts", "model_max_length": "max_position_embeddings",
}  # fmt: skip
# Mistral4Config's own in transformers, for a config.json that says nothing of it.
_MISTRAL4_ROPE: dict[str, Any] = {
    "rope_type": "yarn", "rope_theta": 10000.0, "factor": 128.0, "original_max_position_embeddings": 8192,
    "beta_fast": 32.0, "beta_slow": 1.0, "mscale_all_dim": 1.0, "mscale": 1.0, "llama_4_scaling_beta": 0.1,
}  # fmt: skip
INDEXERS = ("full", "shared")


def deepseek_v2(c: Config) -> DecoderSpec:
    """DeepSeek-V2, Lite and Coder too: softmax router, shared experts; the first first_k_dense_replace are dense."""
    c.expect("scoring_func", "softmax")
    c.expect("moe_layer_freq", 1)
    first, bias = c.integer("first_k_dense_replace", 0), c.flag("mlp_bias", False)

    def mlp(prefix: str, i: int) -> MlpSpec:
        at = f"{prefix}.mlp"
        return dense_mlp(c, at, bias=bias) if i < first else moe_with_shared(c, at, _v2_router(c, at), bias)

    return llama(
        c, c.number("rms_norm_eps", 1e-6), lambda prefix, i: latent_attention(c, f"{prefix}.self_attn", True), mlp
    )


def _v2_router(c: Config, prefix: str) -> RouterSpec:
    method = c.raw.get("topk_method") or "greedy"
    if method not in ("greedy", "group_limited_greedy"):
        raise unsupported(
            msg(
                "This {family} model chooses experts by {method}, which Underhill does not know.",
                family=c.family,
                method=repr(method),
            )
        )
    grouped = method == "group_limited_greedy"
    return RouterSpec(
        f"{prefix}.gate", *c.experts(), "softmax", groups=c.integer("n_group") if grouped else 1,
        top_groups=c.integer("topk_group") if grouped else 1, group_score="max",
        # transformers leaves norm_topk_prob out. DeepSeek's own code normalizes, then scales; so does this.
        # No published checkpoint sets it.
        normalize=c.flag("norm_topk_prob", False), normalize_eps=1e-20, scale=c.number("routed_scaling_factor", 1.0),
    )  # fmt: skip


def deepseek_v3(c: Config) -> DecoderSpec:
    """DeepSeek-V3, R1 and Kimi K2. The first first_k_dense_replace layers are dense."""
    c.expect("moe_layer_freq", 1)
    first = c.integer("first_k_dense_replace", 3)
    root, head = inside(c)
    return llama(
        c,
        c.number("rms_norm_eps", 1e-6),
        lambda prefix, i: latent_attention(c, f"{prefix}.self_attn", c.flag("rope_interleave", True)),
        lambda prefix, i: sigmoid_moe(c, f"{prefix}.mlp", i >= first, groups=(8, 4)),
        root=root,
        head=head,
    )


def deepseek_v32(c: Config) -> DecoderSpec:
    """DeepSeek-V3.2: V3 whose queries attend to the 2048 tokens that an indexer, one in every layer, finds best."""
    shared = [False] * c.integer("num_hidden_layers")
    return sparse_attention_lm(c, (8, 4), c.number("rms_norm_eps", 1e-6), interleaved=False, shared=shared)


def sparse_attention_lm(
    c: Config, groups: tuple[int, int], eps: float, *, interleaved: bool, shared: list[bool]
) -> DecoderSpec:
    """Latent attention to the tokens that an indexer chooses, as in DeepSeek-V3.2 and GLM-5.

    groups: see sigmoid_router. interleaved: how the indexer turns its pairs. shared: by layer, whether it takes over
    the choice of the one before.
    """
    c.expect("moe_layer_freq", 1)
    if shared[:1] == [True]:
        raise unsupported(msg("The first layer of this {family} model has no indexer of its own.", family=c.family))
    sparse, bias = mlp_types(c, c.integer("first_k_dense_replace", 3)), c.flag("mlp_bias", False)

    def mixer(prefix: str, i: int) -> MlaSpec:
        indexer = _indexer(c, f"{prefix}.self_attn.indexer", interleaved, shared[i])
        return latent_attention(c, f"{prefix}.self_attn", interleaved=True, indexer=indexer)

    return llama(c, eps, mixer, lambda prefix, i: sigmoid_moe(c, f"{prefix}.mlp", sparse[i], groups, bias))


def _indexer(c: Config, prefix: str, interleaved: bool, shared: bool) -> IndexerSpec:
    head_dim, rope_dim = c.integer("index_head_dim", 128, low=1), c.integer("qk_rope_head_dim", low=1)
    if rope_dim > head_dim:
        raise unsupported(msg("The indexer of this {family} model turns more dimensions than it has.", family=c.family))
    rope, top_k = c.rope(rope_dim, interleaved=interleaved), c.integer("index_topk", 2048, low=1)
    return IndexerSpec(
        prefix=prefix, heads=c.integer("index_n_heads", low=1), head_dim=head_dim, top_k=top_k, rope=rope, shared=shared
    )


# ---- Kimi Linear ----------------------------------------------------------------------------------------------------


def kimi_linear(c: Config) -> DecoderSpec:
    """Kimi Delta Attention with latent attention that does not rotate between, DeepSeek-V3's router.

    linear_attn_config or layer_types says which layers are linear; the first first_k_dense_replace are dense.
    """
    for key, name in KIMI_NAMES.items():
        if c.has(key):
            c.raw[name] = c.raw[key]
    for key, value in (("moe_router_activation_func", "sigmoid"), ("mla_use_nope", True), ("moe_layer_freq", 1)):
        c.expect(key, value)
    count, eps = c.integer("num_hidden_layers"), c.number("rms_norm_eps", 1e-5)
    own = c.group("linear_attn_config")
    full = {layer - 1 for layer in own.integers("full_attn_layers")} or {i for i in range(count) if i and i % 4 == 0}
    kinds = c.layer_types(count, (LINEAR, FULL), [FULL if i in full else LINEAR for i in range(count)])
    sparse = mlp_types(c, c.integer("first_k_dense_replace", 1))

    def mixer(prefix: str, i: int) -> MixerSpec:
        at = f"{prefix}.self_attn"
        if kinds[i] == FULL:
            latent = latent_attention(c, at, interleaved=False)
            return replace(latent, rope=None, scale=(latent.nope_dim + latent.rope_dim) ** -0.5)
        return KdaSpec(
            at, own.integer("num_heads", c.integer("linear_num_heads", 32), low=1),
            own.integer("head_dim", c.integer("linear_head_dim", 128), low=1),
            own.integer("short_conv_kernel_size", c.integer("linear_conv_kernel_dim", 4), low=1), eps,
        )  # fmt: skip

    def mlp(prefix: str, i: int) -> MlpSpec:
        return sigmoid_moe(c, f"{prefix}.{'block_sparse_moe' if sparse[i] else 'mlp'}", sparse[i])

    return llama(c, eps, mixer, mlp)


# ---- LongCat-Flash --------------------------------------------------------------------------------------------------


def longcat_flash(c: Config) -> DecoderSpec:
    """Two layers of latent attention beside one set of experts, some of which give back their input.

    Each of num_layers blocks is two layers; its experts read what the first MLP reads, and land after the second.
    """
    for key, value in (
        ("router_bias", False), ("zero_expert_type", "identity"), ("mla_scale_q_lora", True),
        ("mla_scale_kv_lora", True), ("attention_method", "MLA"),
    ):  # fmt: skip
        c.expect(key, value)
    eps = c.number("rms_norm_eps", 1e-5)
    c.raw["rope_theta"] = c.raw.get("rope_theta") or 1e7
    layers = []
    for block in range(c.integer("num_layers")):
        prefix = f"model.layers.{block}"
        for half in range(2):
            layers.append(
                LayerSpec(
                    index=block,
                    mixer=_scaled_attention(c, f"{prefix}.self_attn.{half}"),
                    mlp=dense_mlp(c, f"{prefix}.mlps.{half}", c.integer("ffn_hidden_size")),
                    before_mixer=norm(f"{prefix}.input_layernorm.{half}", eps),
                    before_mlp=norm(f"{prefix}.post_attention_layernorm.{half}", eps),
                    shortcut=None if half else _longcat_moe(c, f"{prefix}.mlp"),
                    lands=bool(half),
                )
            )
    return causal_lm(c, layers, eps)


def _scaled_attention(c: Config, prefix: str) -> MlaSpec:
    """Queries and latents are scaled by the square root of how much narrower they are than the hidden state."""
    hidden, own = c.integer("hidden_size"), latent_attention(c, prefix, interleaved=True)
    queries = (hidden / c.integer("q_lora_rank", low=1)) ** 0.5
    return replace(own, scale=own.scale * queries, latent_scale=(hidden / own.kv_rank) ** 0.5)


def _longcat_moe(c: Config, prefix: str) -> MoeSpec:
    count, passing = c.integer("n_routed_experts"), c.integer("zero_expert_num", 0)
    router = RouterSpec(
        f"{prefix}.router.classifier", count + passing, c.integer("moe_topk"), "softmax",
        choice_bias=f"{prefix}.router.e_score_correction_bias", scale=c.number("routed_scaling_factor", 6.0),
    )  # fmt: skip
    return MoeSpec(router, ExpertsSpec(count, c.integer("hidden_size"), c.integer("expert_ffn_hidden_size")))


# ---- Mistral 4 ------------------------------------------------------------------------------------------------------


def mistral4(c: Config) -> DecoderSpec:
    """Latent attention with queries that grow with their position, a softmax router, a shared expert.

    The first first_k_dense_replace layers are dense.
    """
    if not any(c.has(key) for key in ("n_routed_experts", "num_local_experts")):  # most that see are
        raise dense(c.family)
    settings = c.rope_settings() or dict(_MISTRAL4_ROPE)
    settings.pop("partial_rotary_factor", None)  # of whole heads; here only the part that turns is looked at
    c.raw |= {"rope_parameters": settings, "rope_scaling": None}
    first, rope = c.integer("first_k_dense_replace", 0), Config(settings)
    temperature = None
    if rope.has("llama_4_scaling_beta"):
        original = rope.integer("original_max_position_embeddings", low=1)
        temperature = TemperatureSpec(rope.number("llama_4_scaling_beta"), original)
    root, head = inside(c)

    def mixer(prefix: str, i: int) -> MlaSpec:
        own = latent_attention(c, f"{prefix}.self_attn", interleaved=c.flag("rope_interleave", True))
        return replace(own, temperature=temperature)

    def mlp(prefix: str, i: int) -> MlpSpec:
        if i < first:
            return dense_mlp(c, f"{prefix}.mlp")
        router = RouterSpec(
            f"{prefix}.mlp.gate", *c.experts(), "softmax", groups=c.integer("n_group", 1),
            top_groups=c.integer("topk_group", 1), normalize=c.flag("norm_topk_prob", True), normalize_eps=1e-20,
            scale=c.number("routed_scaling_factor", 1.0),
        )  # fmt: skip
        return moe_with_shared(c, f"{prefix}.mlp", router)

    return llama(c, c.number("rms_norm_eps", 1e-6), mixer, mlp, root=root, head=head)


# ---- GLM and Solar --------------------------------------------------------------------------------------------------


def glm4_moe(c: Config) -> DecoderSpec:
    """GLM-4.5 and 4.6: grouped-query attention that rotates half of each head; the first layers are dense."""
    return _glm4(c, "model")


def glm4v_moe(c: Config) -> DecoderSpec:
    """GLM-4.5V and 4.6V: the layers of GLM-4.5 with biases and without norms of queries and keys, one name deeper.

    For text its rope has one axis only (see vision/positions.py).
    """
    c.expect("use_qk_norm", False)
    c.raw["attention_bias"] = c.flag("attention_bias", True)
    outside = Config({**c.whole, "text_config": None})
    c.raw["tie_word_embeddings"] = any(part.flag("tie_word_embeddings", False) for part in (c, outside))
    return _glm4(c, "model.language_model")


def _glm4(c: Config, root: str) -> DecoderSpec:
    """root: as of llama."""
    eps, first = c.number("rms_norm_eps", 1e-5), c.integer("first_k_dense_replace", 1)

    def mixer(prefix: str, i: int) -> AttentionSpec:
        own = attention(c, f"{prefix}.self_attn", partial=0.5)
        return replace(own, o_bias=False, qk_norm="head" if c.flag("use_qk_norm", False) else None, qk_norm_eps=eps)

    return llama(c, eps, mixer, lambda prefix, i: sigmoid_moe(c, f"{prefix}.mlp", i >= first), root=root)


def glm4_moe_lite(c: Config) -> DecoderSpec:
    """GLM-4.7-Flash: the attention and routing of DeepSeek-V3 at a small size."""
    sparse = [*mlp_types(c, c.integer("first_k_dense_replace", 1)), True]  # the last: for multi-token prediction
    return llama(
        c,
        c.number("rms_norm_eps", 1e-5),
        lambda prefix, i: latent_attention(c, f"{prefix}.self_attn", c.flag("rope_interleave", True)),
        lambda prefix, i: sigmoid_moe(c, f"{prefix}.mlp", sparse[i]),
    )


def glm_moe_dsa(c: Config) -> DecoderSpec:
    """GLM-5: DeepSeek-V3.2's sparse attention, whose choice some layers take over from the layer before.

    indexer_types, or a pattern of F and S, or a schedule, says which layers choose for themselves.
    """
    count, pattern = c.integer("num_hidden_layers"), c.raw.get("index_topk_pattern")
    if isinstance(pattern, str):
        pattern = [{"F": "full", "S": "shared"}.get(letter, letter) for letter in pattern]
    every, offset = c.integer("index_topk_freq", 1), c.integer("index_skip_topk_offset", 2)
    scheduled = [INDEXERS[max(i - offset + 1, 0) % max(every, 1) != 0] for i in range(count)]
    shared = [kind == "shared" for kind in c.layer_types(count, INDEXERS, pattern or scheduled, "indexer_types")]
    return sparse_attention_lm(c, (1, 1), c.number("rms_norm_eps", 1e-5), interleaved=True, shared=shared)


def solar_open(c: Config) -> DecoderSpec:
    """Solar Open: plain grouped-query attention, and experts in every layer."""
    c.expect("use_qk_norm", False)
    return llama(
        c,
        c.number("rms_norm_eps", 1e-5),
        lambda prefix, i: replace(attention(c, f"{prefix}.self_attn", head_dim=128, theta=1e6), o_bias=False),
        lambda prefix, i: sigmoid_moe(c, f"{prefix}.mlp", sparse=True),
    )
