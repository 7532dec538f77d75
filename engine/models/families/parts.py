"""What families' specs have in common: attention, feed-forward and layers as most configs describe them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from engine.formats.families import MtpNames, mtp_layer, mtp_names
from engine.models.config import Config, positive, yarn_mscale
from engine.models.spec import (
    AttentionSpec,
    DecoderSpec,
    DenseMlpSpec,
    ExpertsSpec,
    IndexerSpec,
    LayerSpec,
    MixerSpec,
    MlaSpec,
    MlpSpec,
    MoeSpec,
    MtpSpec,
    NormKind,
    NormSpec,
    RouterSpec,
    SharedExpertSpec,
)
from engine.translatable import msg

SLIDING, FULL, LINEAR = "sliding_attention", "full_attention", "linear_attention"  # of layer_types
DENSE, SPARSE = "dense", "sparse"  # of mlp_layer_types

# ---- mixers ---------------------------------------------------------------------------------------------------------


def attention(
    c: Config, prefix: str, *, head_dim: int | None = None, theta: float = 10000.0, partial: float = 1.0,
    interleaved: bool = False, rotates: bool = True, bias: str | None = "attention_bias",
) -> AttentionSpec:  # fmt: skip
    """Grouped-query attention as most configs describe it; families replace what differs.

    head_dim, theta, partial: what the family takes where the config does not say. bias: the key that says whether all
    four projections have biases; None: they have none. A layer that does not rotate has no positions.
    """
    heads, kv_heads, dim = c.heads(head_dim)
    biased = bias is not None and c.flag(bias, False)
    rope = c.rope(dim, theta=theta, partial=partial, interleaved=interleaved) if rotates else None
    return AttentionSpec(
        prefix=prefix,
        heads=heads,
        kv_heads=kv_heads,
        head_dim=dim,
        scale=dim**-0.5,
        rope=rope,
        qkv_bias=biased,
        o_bias=biased,
    )


def latent_attention(c: Config, prefix: str, interleaved: bool, indexer: IndexerSpec | None = None) -> MlaSpec:
    """DeepSeek's MLA. Its norms keep an eps of 1e-6 whatever rms_norm_eps says, as in the original code."""
    nope, rope_dim = c.integer("qk_nope_head_dim"), c.integer("qk_rope_head_dim", low=1)
    scale = (nope + rope_dim) ** -0.5
    settings = c.rope_settings()
    if c.rope_kind(settings) != "default" and settings.get("mscale_all_dim"):
        # YaRN sharpens the softmax: queries and keys both carry the factor, the nope part included
        factor, all_dim = (
            positive(msg("rope {key}", key=key), settings.get(key)) for key in ("factor", "mscale_all_dim")
        )
        scale *= yarn_mscale(factor, all_dim) ** 2
    bias = c.flag("attention_bias", False)
    return MlaSpec(
        prefix=prefix, heads=c.integer("num_attention_heads"),
        q_rank=c.integer("q_lora_rank") if c.has("q_lora_rank") else None,
        kv_rank=c.integer("kv_lora_rank"), nope_dim=nope, rope_dim=rope_dim, v_dim=c.integer("v_head_dim"), scale=scale,
        rope=c.rope(rope_dim, interleaved=interleaved), a_bias=bias, o_bias=bias, indexer=indexer,
    )  # fmt: skip


# ---- feed-forward ---------------------------------------------------------------------------------------------------


def dense_mlp(c: Config, prefix: str, intermediate: int | None = None, bias: bool = False) -> DenseMlpSpec:
    """A gated MLP of gate_proj, up_proj and down_proj."""
    size = c.integer("intermediate_size") if intermediate is None else intermediate
    return DenseMlpSpec(prefix=prefix, intermediate=size, activation=c.activation(), bias=bias)


def plain_moe(c: Config, router: RouterSpec, intermediate: int, shared: SharedExpertSpec | None = None) -> MoeSpec:
    """Routed experts without biases, of the config's activation."""
    return MoeSpec(router, ExpertsSpec(router.experts, c.integer("hidden_size"), intermediate, c.activation()), shared)


def moe_with_shared(
    c: Config, prefix: str, router: RouterSpec, bias: bool = False, shared: str = "n_shared_experts", default: int = 0
) -> MoeSpec:
    """Routed experts, and as many shared ones as the key `shared` says, in one MLP that is so many times as wide."""
    size = c.integer("moe_intermediate_size")
    width = size * c.integer(shared, default)
    beside = SharedExpertSpec(dense_mlp(c, f"{prefix}.shared_experts", width, bias)) if width else None
    return plain_moe(c, router, size, beside)


def sigmoid_router(
    c: Config, prefix: str, groups: tuple[int, int] = (1, 1), correction: str = "gate.e_score_correction_bias"
) -> RouterSpec:
    """DeepSeek-V3's: chosen by sigmoid score plus a learned correction, weighted by the score alone.

    groups: how many there are, and how many of them are chosen, where the config does not say.
    """
    c.expect("scoring_func", "sigmoid")
    c.expect("topk_method", "noaux_tc")
    return RouterSpec(
        f"{prefix}.gate", *c.experts(), "sigmoid", choice_bias=f"{prefix}.{correction}",
        groups=c.integer("n_group", groups[0]), top_groups=c.integer("topk_group", groups[1]), group_score="top2",
        masked_score=float("-inf"),  # a corrected score may be negative, so 0 would let other groups in
        normalize=c.flag("norm_topk_prob", True), normalize_eps=1e-20, scale=c.number("routed_scaling_factor", 1.0),
    )  # fmt: skip


def sigmoid_moe(
    c: Config, prefix: str, sparse: bool, groups: tuple[int, int] = (1, 1), bias: bool = False
) -> MlpSpec:  # fmt: skip
    """DeepSeek-V3's feed-forward: its router and a shared expert, or in a layer that is not sparse a dense MLP."""
    if not sparse:
        return dense_mlp(c, prefix, bias=bias)
    return moe_with_shared(c, prefix, sigmoid_router(c, prefix, groups), bias)


def mlp_types(c: Config, dense: int = 0, sparse: Sequence[object] = ()) -> list[bool]:
    """By layer, whether mlp_layer_types calls it sparse.

    Where the config does not say: those that are true in `sparse`, or, without that, all but the first `dense`.
    """
    count = c.integer("num_hidden_layers")
    usual = [SPARSE if is_sparse else DENSE for is_sparse in sparse or [i >= dense for i in range(count)]]
    return [kind == SPARSE for kind in c.layer_types(count, (DENSE, SPARSE), usual, "mlp_layer_types")]


def sparse_steps(c: Config) -> list[bool]:
    """By layer, whether it has experts: not mlp_only_layers, nor those off the beat of decoder_sparse_step (Qwen)."""
    step, dense = c.integer("decoder_sparse_step", 1, low=1), c.integers("mlp_only_layers")
    return [i not in dense and (i + 1) % step == 0 for i in range(c.integer("num_hidden_layers"))]


# ---- layers and the decoder -----------------------------------------------------------------------------------------


def norm(name: str, eps: float, kind: NormKind = "rms") -> NormSpec:
    """A norm with a learned scale."""
    return NormSpec(name, eps, kind)


def inside(c: Config, alone: str = "model") -> tuple[str, str]:
    """What a decoder's tensors are under, and its head's name: of a language model alone, or beside what sees."""
    return ("language_model.model", "language_model.lm_head") if c.has("text_config") else (alone, "lm_head")


def llama(
    c: Config, eps: float, mixer: Callable[[str, int], MixerSpec], mlp: Callable[[str, int], MlpSpec], *,
    kind: NormKind = "rms", root: str = "model", head: str = "lm_head", residual_multiplier: float = 1.0,
    tied: bool = False, head_bias: bool = False, embedding: str = "embed_tokens", embedding_multiplier: float = 1.0,
    logit_multiplier: float = 1.0,
) -> DecoderSpec:  # fmt: skip
    """A decoder of pre-norm layers, whose norms have the names that Llama gave them.

    mixer, mlp: called with the prefix of each layer's tensors ('model.layers.3') and its index, which is that behind
    the last for the layer of multi-token prediction. root: what the layers are under. The others are those of
    `causal_lm` and LayerSpec.
    """

    def layer(i: int, prefix: str) -> LayerSpec:
        return LayerSpec(
            index=i, mixer=mixer(prefix, i), mlp=mlp(prefix, i), residual_multiplier=residual_multiplier,
            before_mixer=norm(f"{prefix}.input_layernorm", eps, kind),
            before_mlp=norm(f"{prefix}.post_attention_layernorm", eps, kind),
        )  # fmt: skip

    mtp = mtp_layer(c.whole)
    layers = [layer(i, f"{root}.layers.{i}") for i in range(c.integer("num_hidden_layers"))]
    decoder = causal_lm(
        c, layers, eps, kind, prefix=root, head=head, tied=tied,
        head_bias=head_bias, embedding=embedding, embedding_multiplier=embedding_multiplier,
        logit_multiplier=logit_multiplier,
    )  # fmt: skip
    if mtp is None:
        return decoder
    prefix = mtp_names(c.whole).layer(root, mtp)
    return replace(decoder, mtp=_mtp(layer(mtp, prefix), prefix, mtp_names(c.whole), eps, kind))


def _mtp(layer: LayerSpec, prefix: str, names: MtpNames, eps: float, kind: NormKind) -> MtpSpec | None:
    """Of a layer with experts; None for one without, which no published model has."""
    if not isinstance(layer.mlp, MoeSpec):
        return None
    beside = names.apart or prefix
    return MtpSpec(
        joint=f"{beside}.{names.joint}",
        embedding_norm=norm(f"{beside}.{names.embedding_norm}", eps, kind),
        hidden_norm=norm(f"{beside}.{names.hidden_norm}", eps, kind),
        layer=layer,
        norm=norm(f"{beside}.{names.norm}", eps, kind),
    )


def causal_lm(
    c: Config, layers: Sequence[LayerSpec], eps: float, kind: NormKind = "rms", *, prefix: str = "model",
    final_norm: str = "norm", embedding: str = "embed_tokens", head: str = "lm_head", tied: bool = False,
    head_bias: bool = False, embedding_multiplier: float = 1.0, logit_multiplier: float = 1.0,
    logit_softcap: float | None = None,
) -> DecoderSpec:  # fmt: skip
    """A decoder under `prefix` with its head beside it. tied: what the family takes where the config does not say."""
    return DecoderSpec(
        family=c.family,
        hidden=c.integer("hidden_size", low=1),
        vocab=c.integer("vocab_size", low=1),
        max_positions=c.integer("max_position_embeddings", low=1),
        layers=tuple(layers),
        norm=norm(f"{prefix}.{final_norm}", eps, kind),
        embedding=f"{prefix}.{embedding}",
        head=None if c.flag("tie_word_embeddings", tied) else head,
        head_bias=head_bias,
        embedding_multiplier=embedding_multiplier,
        logit_multiplier=logit_multiplier,
        logit_softcap=logit_softcap,
    )
