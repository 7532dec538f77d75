"""Plain grouped-query attention with experts in (nearly) every layer: Mixtral, Phi, OLMo, ERNIE, gpt-oss."""

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
)
from engine.translatable import msg


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
                i,
                replace(attention(c, f"{prefix}.self_attn", theta=5e5), qk_norm="full", qk_norm_eps=eps),
                _olmo_moe(c, f"{prefix}.mlp"),
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


# GptOssConfig's own in transformers, likewise.
_GPT_OSS_ROPE = {
    "rope_type": "yarn", "factor": 32.0, "beta_fast": 32.0, "beta_slow": 1.0, "truncate": False,
    "original_max_position_embeddings": 4096,
}  # fmt: skip


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
