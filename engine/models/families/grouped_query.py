"""Plain grouped-query attention with experts in (nearly) every layer: Mixtral, Phi, OLMo, ERNIE, gpt-oss, Ling."""

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
    moe_with_shared,
    norm,
    plain_moe,
)
from engine.models.spec import (
    ActivationSpec,
    AttentionSpec,
    DecoderSpec,
    ExpertsSpec,
    LayerSpec,
    MlpSpec,
    MoeSpec,
    RouterSpec,
    SharedExpertSpec,
)
from engine.translatable import msg

# GptOssConfig's own in transformers, likewise.
_GPT_OSS_ROPE = {
    "rope_type": "yarn", "factor": 32.0, "beta_fast": 32.0, "beta_slow": 1.0, "truncate": False,
    "original_max_position_embeddings": 4096,
}  # fmt: skip


def mixtral(c: Config) -> DecoderSpec:
    """Mixtral: softmax router over 8 experts, two of them renormalized."""
    window = c.integer("sliding_window") if c.has("sliding_window") else None

    def mixer(prefix: str, i: int) -> AttentionSpec:
        return replace(attention(c, f"{prefix}.self_attn", theta=1e6, bias=None), window=window)

    def mlp(prefix: str, i: int) -> MoeSpec:
        router = RouterSpec(f"{prefix}.block_sparse_moe.gate", *c.experts(), "softmax", normalize=True)
        return plain_moe(c, router, c.integer("intermediate_size"))

    return llama(c, c.number("rms_norm_eps", 1e-5), mixer, mlp)


def phimoe(c: Config) -> DecoderSpec:
    """Phi-3.5-MoE: LayerNorms with biases, LongRoPE, and the sparsemixer router whose two weights do not sum to 1.

    Past the original context this uses LongRoPE's long factors, as the model's own code does; transformers 5.23
    changes only the magnitude there and keeps the short factors.
    """
    window = c.integer("sliding_window") if c.has("sliding_window") else None
    experts, top_k = c.experts()
    if top_k != 2:
        raise unsupported(
            msg("This phimoe model asks for {top_k} experts per token; its router can only choose 2.", top_k=top_k)
        )
    jitter = c.number("router_jitter_noise", 0.01)

    def mixer(prefix: str, i: int) -> AttentionSpec:
        return replace(attention(c, f"{prefix}.self_attn", theta=1e6), window=window)

    def mlp(prefix: str, i: int) -> MoeSpec:
        router = RouterSpec(f"{prefix}.block_sparse_moe.gate", experts, top_k, "sparsemixer", jitter=jitter)
        return plain_moe(c, router, c.integer("intermediate_size"))

    head_bias = c.flag("lm_head_bias", False)
    return llama(c, c.number("rms_norm_eps", 1e-5), mixer, mlp, kind="layer", head_bias=head_bias)


def olmoe(c: Config) -> DecoderSpec:
    """OLMoE: norms over the whole width of queries and keys, optional clipping, softmax router."""
    eps, clip = c.number("rms_norm_eps", 1e-5), c.number("clip_qkv") if c.has("clip_qkv") else None

    def mixer(prefix: str, i: int) -> AttentionSpec:
        return replace(attention(c, f"{prefix}.self_attn"), qk_norm="full", qk_norm_eps=eps, clip_qkv=clip)

    return llama(c, eps, mixer, lambda prefix, i: _olmo_moe(c, f"{prefix}.mlp"))


def flex_olmo(c: Config) -> DecoderSpec:
    """FlexOlmo: OLMoE's attention and router, with norms after the mixer and after the experts instead of before."""
    eps, layers = c.number("rms_norm_eps", 1e-6), []
    for i in range(c.integer("num_hidden_layers")):
        prefix = f"model.layers.{i}"
        layers.append(
            LayerSpec(
                index=i,
                mixer=replace(attention(c, f"{prefix}.self_attn", theta=5e5), qk_norm="full", qk_norm_eps=eps),
                mlp=_olmo_moe(c, f"{prefix}.mlp"),
                after_mixer=norm(f"{prefix}.post_attention_layernorm", eps),
                after_mlp=norm(f"{prefix}.post_feedforward_layernorm", eps),
            )
        )
    return causal_lm(c, layers, eps)


def _olmo_moe(c: Config, prefix: str) -> MoeSpec:
    router = RouterSpec(f"{prefix}.gate", *c.experts(), "softmax", normalize=c.flag("norm_topk_prob", False))
    return plain_moe(c, router, c.integer("intermediate_size"))


def ernie4_5_moe(c: Config) -> DecoderSpec:
    """ERNIE 4.5: interleaved rotary pairs, softmax router chosen with a correction bias, shared experts.

    Experts from layer moe_layer_start_index to moe_layer_end_index, every moe_layer_interval-th.
    """
    bias, count = c.flag("use_bias", False), c.integer("num_hidden_layers")
    first, last = c.integer("moe_layer_start_index", 1), c.integer("moe_layer_end_index", -1, low=-1)
    interval = c.integer("moe_layer_interval", 1, low=1)
    sparse = range(first, count if last == -1 else last + 1)

    def mixer(prefix: str, i: int) -> AttentionSpec:
        return attention(c, f"{prefix}.self_attn", theta=5e5, interleaved=True, bias="use_bias")

    def mlp(prefix: str, i: int) -> MlpSpec:
        at = f"{prefix}.mlp"
        if i not in sparse or (i + 1) % interval:
            return dense_mlp(c, at, bias=bias)
        router = RouterSpec(
            f"{at}.gate", *c.experts(), "softmax", choice_bias=f"{at}.moe_statics.e_score_correction_bias",
            normalize=True, normalize_min=c.number("moe_norm_min", 1e-12),
        )  # fmt: skip
        return moe_with_shared(c, at, router, bias, "moe_num_shared_experts", 2)

    return llama(c, c.number("rms_norm_eps", 1e-5), mixer, mlp, tied=True, head_bias=bias)


def gpt_oss(c: Config) -> DecoderSpec:
    """gpt-oss: sinks, windows in every other layer, biases everywhere, experts with a clamped SwiGLU."""
    if not c.rope_settings():
        c.raw["rope_scaling"] = _GPT_OSS_ROPE
    count, bias = c.integer("num_hidden_layers"), c.flag("attention_bias", True)
    window = c.integer("sliding_window", 128)
    kinds = c.layer_types(count, (SLIDING, FULL), [FULL if i % 2 else SLIDING for i in range(count)])

    def mixer(prefix: str, i: int) -> AttentionSpec:
        own = attention(c, f"{prefix}.self_attn", head_dim=64, theta=150000.0, bias=None)
        seen = window if kinds[i] == SLIDING else None
        return replace(own, window=seen, qkv_bias=bias, o_bias=bias, sinks=f"{prefix}.self_attn.sinks")

    def mlp(prefix: str, i: int) -> MoeSpec:
        c.expect("hidden_act", "silu")
        router = RouterSpec(f"{prefix}.mlp.router", *c.experts(), "topk_softmax", bias=True)
        limits = ActivationSpec("clamped_swiglu", c.number("swiglu_alpha", 1.702), c.number("swiglu_limit", 7.0))
        hidden, size = c.integer("hidden_size"), c.integer("intermediate_size")
        return MoeSpec(router, ExpertsSpec(router.experts, hidden, size, limits, bias=True))

    return llama(c, c.number("rms_norm_eps", 1e-5), mixer, mlp)


def bailing_moe(c: Config) -> DecoderSpec:
    """Ling and Ring (Bailing), both generations: queries, keys and values in one projection.

    The second generation norms queries and keys, rotates half of each head and has DeepSeek-V3's router; its configs
    call themselves bailing_moe as well. The first first_k_dense_replace layers are dense. Layers for multi-token
    prediction are left out.
    """
    second = c.family == "bailing_moe_v2" or c.raw.get("score_function") == "sigmoid"
    if c.flag("tie_word_embeddings", False):
        c.expect("norm_head", False)
    for key in ("use_sliding_window", "multi_gate"):
        c.expect(key, False)
    c.expect("use_rmsnorm", True)
    eps, first = c.number("rms_norm_eps", 1e-6), c.integer("first_k_dense_replace", 0)
    bias = c.flag("use_bias", False)

    def mixer(prefix: str, i: int) -> AttentionSpec:
        return replace(
            attention(c, f"{prefix}.attention", bias="use_bias"), qkv_bias=c.flag("use_qkv_bias", False),
            qkv="query_key_value", o="dense", qk_norm="head" if c.flag("use_qk_norm", second) else None,
            qk_norm_eps=eps, q_norm="query_layernorm", k_norm="key_layernorm",
        )  # fmt: skip

    def mlp(prefix: str, i: int) -> MlpSpec:
        return dense_mlp(c, f"{prefix}.mlp", bias=bias) if i < first else _bailing_moe(c, f"{prefix}.mlp", second, bias)

    decoder = llama(c, eps, mixer, mlp, embedding="word_embeddings")
    return replace(decoder, head_normed=c.flag("norm_head", False))


def _bailing_moe(c: Config, prefix: str, second: bool, bias: bool) -> MoeSpec:
    size, count = c.integer("moe_intermediate_size"), c.integer("num_shared_experts", 0)
    width = count * c.integer("moe_shared_expert_intermediate_size", size)
    shared = SharedExpertSpec(dense_mlp(c, f"{prefix}.shared_experts", width, bias)) if width else None
    return plain_moe(c, _bailing_second_router(c, prefix) if second else _bailing_first_router(c, prefix), size, shared)


def _bailing_first_router(c: Config, prefix: str) -> RouterSpec:
    """Softmax over all experts, then the best of them."""
    c.expect("score_function", "softmax")
    return RouterSpec(
        f"{prefix}.gate", *c.experts(), "softmax", normalize=c.flag("norm_topk_prob", True), normalize_eps=1e-20,
        scale=c.number("routed_scaling_factor", 1.0),
    )  # fmt: skip


def _bailing_second_router(c: Config, prefix: str) -> RouterSpec:
    """Chosen in groups by sigmoid score plus a learned correction; always normalized where there are several."""
    corrected = c.flag("moe_router_enable_expert_bias", True)
    experts, top_k = c.experts()
    return RouterSpec(
        f"{prefix}.gate", experts, top_k, "sigmoid", choice_bias=f"{prefix}.gate.expert_bias" if corrected else None,
        groups=c.integer("n_group", 8), top_groups=c.integer("topk_group", 4), masked_score=float("-inf"),
        normalize=top_k > 1, normalize_eps=1e-20, scale=c.number("routed_scaling_factor", 2.5),
    )  # fmt: skip
