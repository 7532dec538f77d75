"""MiniMax-M2 and M3: partial rotation, norms of queries and keys, sigmoid routers with a correction."""

from __future__ import annotations

from dataclasses import replace

from engine.models.config import Config, unsupported
from engine.models.families.parts import FULL, attention, inside, llama, mlp_types, plain_moe
from engine.models.spec import (
    ActivationSpec,
    AttentionSpec,
    BlocksSpec,
    DecoderSpec,
    DenseMlpSpec,
    ExpertsSpec,
    MlpSpec,
    MoeSpec,
    NormKind,
    RouterSpec,
    SharedExpertSpec,
)
from engine.translatable import msg


def minimax_m2(c: Config) -> DecoderSpec:
    """MiniMax-M2: norms over the whole width of queries and keys.

    Every layer is the same. What the checkpoint holds for multi-token prediction is left out.
    """
    for key, value in (
        ("use_qk_norm", True), ("qk_norm_type", "per_layer"), ("scoring_func", "sigmoid"),
        ("shared_intermediate_size", 0), ("attn_type_list", [1] * c.integer("num_hidden_layers")),
    ):  # fmt: skip
        c.expect(key, value)
    eps = c.number("rms_norm_eps", 1e-6)

    def mlp(prefix: str, i: int) -> MoeSpec:
        return plain_moe(c, _router(c, f"{prefix}.block_sparse_moe"), c.integer("intermediate_size"))

    def mixer(prefix: str, i: int) -> AttentionSpec:
        return replace(_rotated(c, f"{prefix}.self_attn"), qk_norm="full", qk_norm_eps=eps)

    return llama(c, eps, mixer, mlp)


def _rotated(c: Config, prefix: str) -> AttentionSpec:
    """Attention of which `rotary_dim` dimensions turn."""
    head_dim = c.heads(128)[2]
    partial = c.integer("rotary_dim", head_dim) / head_dim
    return attention(c, prefix, head_dim=128, theta=5e6, partial=partial, bias=None)


def _router(c: Config, prefix: str) -> RouterSpec:
    bias = f"{prefix}.e_score_correction_bias"
    return RouterSpec(f"{prefix}.gate", *c.experts(), "sigmoid", choice_bias=bias, normalize=True)


# ---- MiniMax-M3 -----------------------------------------------------------------------------------------------------

CHOSEN = "minimax_m3_sparse"
NORM: NormKind = "rms_plus_one"
OLDER = {  # as sparse_attention_config has it -> as transformers saves it
    "sparse_num_index_heads": "index_n_heads", "sparse_index_dim": "index_head_dim",
    "sparse_block_size": "index_block_size", "sparse_topk_blocks": "index_topk_blocks",
    "sparse_local_block": "index_local_blocks",
}  # fmt: skip
# What the published MiniMax-M3 says and the code below takes for granted; another value would be another model.
FIXED = {
    "use_gemma_norm": True, "use_qk_norm": True, "qk_norm_type": "per_head", "scoring_func": "sigmoid",
    "use_routing_bias": True, "n_shared_experts": 1,
}  # fmt: skip


def minimax_m3(c: Config) -> DecoderSpec:
    """MiniMax-M3, of which the language model: norms by head, and in most layers attention to chosen blocks.

    Kinds of layers are told by their names, or by lists of 0 and 1.
    """
    own = c.group("sparse_attention_config")
    for key, value in FIXED.items():
        c.expect(key, value)
    for key, value in (("sparse_score_type", "max"), ("sparse_init_block", 0)):
        own.expect(key, value)
    for key, name in OLDER.items():
        if own.has(key):
            c.raw.setdefault(name, own.raw[key])
    count, eps = c.integer("num_hidden_layers"), c.number("rms_norm_eps", 1e-6)
    chosen = own.integers("sparse_attention_freq") if own.raw.get("use_sparse_attention", True) else ()
    kinds = c.layer_types(count, (FULL, CHOSEN), [CHOSEN if flag else FULL for flag in chosen] or [FULL] * count)
    sparse = mlp_types(c, sparse=c.integers("moe_layer_freq"))
    root, head = inside(c)

    def mixer(prefix: str, i: int) -> AttentionSpec:
        at = f"{prefix}.self_attn"
        mixer = replace(_rotated(c, at), qk_norm="head", qk_norm_kind=NORM, qk_norm_eps=eps)
        return replace(mixer, blocks=_blocks(c, mixer, eps)) if kinds[i] == CHOSEN else mixer

    def mlp(prefix: str, i: int) -> MlpSpec:
        if sparse[i]:
            return _m3_moe(c, f"{prefix}.block_sparse_moe")
        return _m3_mlp(c, f"{prefix}.mlp", c.integer("dense_intermediate_size", 12288))

    return llama(c, eps, mixer, mlp, kind=NORM, root=root, head=head)


def _blocks(c: Config, mixer: AttentionSpec, eps: float) -> BlocksSpec:
    assert mixer.rope is not None
    blocks = BlocksSpec(
        prefix=mixer.prefix, heads=c.integer("index_n_heads", 4), head_dim=c.integer("index_head_dim", 128, low=1),
        block=c.integer("index_block_size", 128, low=1), top_k=c.integer("index_topk_blocks", 16, low=1),
        local=c.integer("index_local_blocks", 1), rope=mixer.rope, norm_eps=eps, norm_kind=NORM,
    )  # fmt: skip
    if blocks.heads != mixer.kv_heads or blocks.head_dim < mixer.rope.dim or blocks.local > blocks.top_k:
        raise unsupported(
            msg(
                "The indexer of this {family} model does not fit its {kv_heads} key heads.",
                family=c.family,
                kv_heads=mixer.kv_heads,
            )
        )
    return blocks


def _m3_mlp(c: Config, prefix: str, size: int) -> DenseMlpSpec:
    limits = ActivationSpec("clamped_swiglu", c.positive("swiglu_alpha", 1.702), c.positive("swiglu_limit", 7.0))
    return DenseMlpSpec(prefix=prefix, intermediate=size, activation=limits)


def _m3_moe(c: Config, prefix: str) -> MoeSpec:
    router = replace(_router(c, prefix), scale=c.number("routed_scaling_factor", 2.0))
    shared = _m3_mlp(c, f"{prefix}.shared_experts", c.integer("shared_intermediate_size", 3072))
    size = c.integer("intermediate_size")
    experts = ExpertsSpec(router.experts, c.integer("hidden_size"), size, shared.activation)
    return MoeSpec(router, experts, SharedExpertSpec(shared))
