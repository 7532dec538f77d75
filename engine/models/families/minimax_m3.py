"""MiniMax-M3: norms of queries and keys by head, a partial rotation, and in most layers attention to chosen blocks."""

from __future__ import annotations

from typing import Any

from engine.models.config import Config, unsupported
from engine.models.families.parts import causal_lm, inside, llama_layer
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

FULL, CHOSEN = "full_attention", "minimax_m3_sparse"
DENSE, SPARSE = "dense", "sparse"
NORM: NormKind = "rms_plus_one"
OLDER = {  # as sparse_attention_config has it -> as transformers saves it
    "sparse_num_index_heads": "index_n_heads", "sparse_index_dim": "index_head_dim",
    "sparse_block_size": "index_block_size", "sparse_topk_blocks": "index_topk_blocks",
    "sparse_local_block": "index_local_blocks",
}  # fmt: skip
FIXED = {
    "use_gemma_norm": True, "use_qk_norm": True, "qk_norm_type": "per_head", "scoring_func": "sigmoid",
    "use_routing_bias": True, "n_shared_experts": 1,
}  # fmt: skip


def spec(config: dict[str, Any]) -> DecoderSpec:
    """The language model of one that also sees. Kinds of layers are told by their names, or by lists of 0 and 1."""
    c = Config(config)
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
    kinds = c.layer_types(count, (FULL, CHOSEN), _named(chosen, (FULL, CHOSEN)) or [FULL] * count)
    mlps = c.layer_types(
        count, (DENSE, SPARSE), _named(c.integers("moe_layer_freq"), (DENSE, SPARSE)) or [SPARSE] * count,
        "mlp_layer_types",
    )  # fmt: skip
    root, head = inside(c)
    layers = []
    for i, kind in enumerate(kinds):
        prefix = f"{root}.layers.{i}"
        mixer = _attention(c, f"{prefix}.self_attn", eps, chooses=kind == CHOSEN)
        mlp: MlpSpec = _mlp(c, f"{prefix}.mlp", c.integer("dense_intermediate_size", 12288))
        if mlps[i] == SPARSE:
            mlp = _moe(c, f"{prefix}.block_sparse_moe")
        layers.append(llama_layer(i, mixer, mlp, eps=eps, kind=NORM, root=root))
    return causal_lm(c, layers, eps, NORM, prefix=root, head=head)


def _named(flags: tuple[int, ...], names: tuple[str, str]) -> list[str]:
    return [names[bool(flag)] for flag in flags]


def _attention(c: Config, prefix: str, eps: float, *, chooses: bool) -> AttentionSpec:
    heads, kv_heads, head_dim = c.heads(128)
    rope = c.rope(head_dim, theta=5e6, partial=c.integer("rotary_dim", head_dim) / head_dim)
    blocks = None
    if chooses:
        blocks = BlocksSpec(
            prefix, c.integer("index_n_heads", 4), c.integer("index_head_dim", 128, low=1),
            c.integer("index_block_size", 128, low=1), c.integer("index_topk_blocks", 16, low=1),
            c.integer("index_local_blocks", 1), rope, eps, NORM,
        )  # fmt: skip
        if blocks.heads != kv_heads or blocks.head_dim < rope.dim or blocks.local > blocks.top_k:
            raise unsupported(
                msg(
                    "The indexer of this {family} model does not fit its {kv_heads} key heads.",
                    family=c.family,
                    kv_heads=kv_heads,
                )
            )
    return AttentionSpec(
        prefix, heads, kv_heads, head_dim, head_dim**-0.5, rope, qk_norm="head", qk_norm_kind=NORM, qk_norm_eps=eps,
        blocks=blocks,
    )  # fmt: skip


def _mlp(c: Config, prefix: str, size: int) -> DenseMlpSpec:
    limits = ActivationSpec("clamped_swiglu", c.positive("swiglu_alpha", 1.702), c.positive("swiglu_limit", 7.0))
    return DenseMlpSpec(prefix, size, limits)


def _moe(c: Config, prefix: str) -> MoeSpec:
    router = RouterSpec(
        f"{prefix}.gate", *c.experts(), "sigmoid", choice_bias=f"{prefix}.e_score_correction_bias", normalize=True,
        scale=c.number("routed_scaling_factor", 2.0),
    )  # fmt: skip
    shared = _mlp(c, f"{prefix}.shared_experts", c.integer("shared_intermediate_size", 3072))
    size = c.integer("intermediate_size")
    experts = ExpertsSpec(router.experts, c.integer("hidden_size"), size, shared.activation)
    return MoeSpec(router, experts, SharedExpertSpec(shared))
