"""What DeepSeek-V3.2 and GLM-5 share: latent attention to the tokens that an indexer chooses."""

from __future__ import annotations

from engine.models.config import Config, unsupported
from engine.models.families.deepseek_parts import latent_attention, moe_with_shared, sigmoid_router
from engine.models.families.parts import causal_lm, dense_mlp, llama_layer
from engine.models.spec import DecoderSpec, IndexerSpec, MlpSpec
from engine.translatable import msg

DENSE, SPARSE = "dense", "sparse"


def sparse_attention_lm(
    c: Config, groups: int, top_groups: int, eps: float, interleaved: bool, shared: list[bool]
) -> DecoderSpec:
    """interleaved: how the indexer turns its pairs. shared: by layer, whether it takes the choice of the one before."""
    count, dense = c.integer("num_hidden_layers"), c.integer("first_k_dense_replace", 3)
    c.expect("moe_layer_freq", 1)
    bias = c.flag("mlp_bias", False)
    if shared[:1] == [True]:
        raise unsupported(msg("The first layer of this {family} model has no indexer of its own.", family=c.family))
    kinds = c.layer_types(
        count, (DENSE, SPARSE), [DENSE if i < dense else SPARSE for i in range(count)], "mlp_layer_types"
    )
    layers = []
    for i, kind in enumerate(kinds):
        prefix = f"model.layers.{i}"
        indexer = _indexer(c, f"{prefix}.self_attn.indexer", interleaved, shared[i])
        mixer = latent_attention(c, f"{prefix}.self_attn", interleaved=True, indexer=indexer)
        mlp: MlpSpec = dense_mlp(c, f"{prefix}.mlp", bias=bias)
        if kind == SPARSE:
            mlp = moe_with_shared(c, f"{prefix}.mlp", sigmoid_router(c, f"{prefix}.mlp", groups, top_groups), bias)
        layers.append(llama_layer(i, mixer, mlp, eps=eps))
    return causal_lm(c, layers, eps)


def _indexer(c: Config, prefix: str, interleaved: bool, shared: bool) -> IndexerSpec:
    head_dim, rope_dim = c.integer("index_head_dim", 128, low=1), c.integer("qk_rope_head_dim", low=1)
    if rope_dim > head_dim:
        raise unsupported(msg("The indexer of this {family} model turns more dimensions than it has.", family=c.family))
    return IndexerSpec(
        prefix,
        c.integer("index_n_heads", low=1),
        head_dim,
        c.integer("index_topk", 2048, low=1),
        c.rope(rope_dim, interleaved=interleaved),
        shared,
    )
