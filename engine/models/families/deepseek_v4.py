"""DeepSeek-V4: several residual streams, attention to a window and compressed entries, experts looked up by token."""

from __future__ import annotations

from dataclasses import dataclass

from engine.models.config import Config, unsupported
from engine.models.families.parts import norm
from engine.models.spec import (
    ActivationSpec,
    CompressedSpec,
    DecoderSpec,
    DenseMlpSpec,
    EntriesSpec,
    EntryIndexSpec,
    ExpertsSpec,
    LayerSpec,
    MoeSpec,
    RopeSpec,
    RouterSpec,
    SharedExpertSpec,
    StreamsSpec,
)
from engine.translatable import msg

WINDOW, SPARSE, HEAVY = "sliding_attention", "compressed_sparse_attention", "heavily_compressed_attention"
BY_TOKEN, MOE = "hash_moe", "moe"
RATIOS = {0: WINDOW, 4: SPARSE, 128: HEAVY}


@dataclass(frozen=True)
class Names:
    """What the tensors are called that go by two names."""

    layers: str
    embedding: str
    norm: str
    kv_norm: str
    streams: str


HUB = Names("layers", "embed", "norm", "kv_norm", "hc_head")
SAVED = Names("model.layers", "model.embed_tokens", "model.norm", "norm", "model.hc_head.hc")  # by transformers


def deepseek_v4(c: Config) -> DecoderSpec:
    """A config that transformers has saved has layer_types, and its tensors other names than those of the hub."""
    for key, value in (("attention_bias", False), ("mlp_bias", False), ("norm_topk_prob", True)):
        c.expect(key, value)
    c.expect("scoring_func", "sqrtsoftplus")
    c.expect("tie_word_embeddings", False)
    names = SAVED if c.has("layer_types") else HUB
    count, eps = c.integer("num_hidden_layers"), c.number("rms_norm_eps", 1e-6)
    kinds = c.layer_types(count, tuple(RATIOS.values()), _kinds(c, count))
    looked_up = c.integer("num_hash_layers", 3)
    moes = c.layer_types(
        count, (BY_TOKEN, MOE), [BY_TOKEN if i < looked_up else MOE for i in range(count)], "mlp_layer_types"
    )
    layers = []
    for i, kind in enumerate(kinds):
        prefix = f"{names.layers}.{i}"
        layers.append(
            LayerSpec(
                index=i,
                mixer=_attention(c, f"{prefix}.attn", kind, names, eps),
                mlp=_moe(c, f"{prefix}.ffn", by_token=moes[i] == BY_TOKEN),
                before_mixer=norm(f"{prefix}.attn_norm", eps),
                before_mlp=norm(f"{prefix}.ffn_norm", eps),
                streams=(_streams(c, f"{prefix}.hc_attn", eps), _streams(c, f"{prefix}.hc_ffn", eps)),
            )
        )
    return DecoderSpec(
        family=c.family,
        hidden=c.integer("hidden_size", low=1),
        vocab=c.integer("vocab_size", low=1),
        max_positions=c.integer("max_position_embeddings", low=1),
        layers=tuple(layers),
        norm=norm(names.norm, eps),
        embedding=names.embedding,
        head="head",
        streams=_streams(c, names.streams, eps),
    )


def _kinds(c: Config, count: int) -> list[str]:
    """compress_ratios, or by default two layers that compress heavily and then sparse ones by turns."""
    ratios = c.integers("compress_ratios")
    if not ratios:
        return [SPARSE if i > 1 and i % 2 else HEAVY for i in range(count)]
    unknown = set(ratios) - RATIOS.keys()
    if unknown:
        raise unsupported(
            msg(
                "This {family} model compresses by {unknown}, which Underhill does not know.",
                family=c.family,
                unknown=sorted(unknown),
            )
        )
    return [RATIOS[ratio] for ratio in ratios]


def _streams(c: Config, prefix: str, eps: float) -> StreamsSpec:
    rounds, count = c.integer("hc_sinkhorn_iters", 20, low=1), c.integer("hc_mult", 4, low=1)
    return StreamsSpec(prefix, count, rounds, c.number("hc_eps", 1e-6), eps)


def _rope(c: Config, head_dim: int, kind: str) -> RopeSpec:
    """Layers that compress have an angle of their own, stretched; cosines and sines are never scaled."""
    name = "main" if kind == WINDOW else "compress"
    own = dict(c.rope_settings(name))
    theta = {"main": ("rope_theta", 1e4), "compress": ("compress_rope_theta", 1.6e5)}[name]
    if name not in (c.raw.get("rope_parameters") or {}):  # as on the hub: one group, of layers that compress
        own = {**(own if name == "compress" else {}), "rope_theta": c.positive(*theta)}
    own.setdefault("partial_rotary_factor", c.integer("qk_rope_head_dim", 64) / head_dim)
    if c.rope_kind(own) == "yarn":
        own.setdefault("attention_factor", 1.0)
    found = Config({**c.raw, "rope_scaling": own}).rope(head_dim, interleaved=True)
    if not 0 < found.dim <= head_dim:
        raise unsupported(
            msg(
                "This {family} model turns {dim} of {head_dim} dimensions.",
                family=c.family,
                dim=found.dim,
                head_dim=head_dim,
            )
        )
    return found


def _attention(c: Config, prefix: str, kind: str, names: Names, eps: float) -> CompressedSpec:
    head_dim = c.integer("head_dim", 512, low=1)
    rope = _rope(c, head_dim, kind)
    rates = c.group("compress_rates")
    entries: tuple[EntriesSpec, ...] = ()
    index = None
    if kind == HEAVY:
        ratio = rates.integer(HEAVY, c.integer("compress_rate_hca", 128), low=1)
        entries = (EntriesSpec(f"{prefix}.compressor", ratio, head_dim, False, rope, eps),)
    elif kind == SPARSE:
        ratio = rates.integer(SPARSE, c.integer("compress_rate_csa", 4), low=1)
        index = EntryIndexSpec(c.integer("index_n_heads", 64, low=1), c.integer("index_topk", 512, low=1))
        scored = EntriesSpec(
            f"{prefix}.indexer.compressor", ratio, c.integer("index_head_dim", 128, low=rope.dim), True, rope, eps
        )
        entries = (EntriesSpec(f"{prefix}.compressor", ratio, head_dim, True, rope, eps), scored)
    return CompressedSpec(
        prefix=prefix,
        heads=c.integer("num_attention_heads", low=1),
        head_dim=head_dim,
        q_rank=c.integer("q_lora_rank", low=1),
        rope=rope,
        window=c.integer("sliding_window", 128, low=1),
        groups=c.integer("o_groups", 8, low=1),
        rank=c.integer("o_lora_rank", 1024, low=1),
        norm_eps=eps,
        kv_norm=names.kv_norm,
        compressed=entries,
        index=index,
    )


def _moe(c: Config, prefix: str, *, by_token: bool) -> MoeSpec:
    experts, top_k = c.experts()
    size, limit = c.integer("moe_intermediate_size"), c.positive("swiglu_limit", 10.0)
    activation = ActivationSpec("limited_swiglu", limit=limit)
    router = RouterSpec(
        f"{prefix}.gate", experts, top_k, "sqrtsoftplus",
        choice_bias=None if by_token else f"{prefix}.gate.bias",
        by_token=f"{prefix}.gate.tid2eid" if by_token else None, tokens=c.integer("vocab_size") if by_token else 0,
        normalize=True, normalize_eps=1e-20, scale=c.number("routed_scaling_factor", 1.5),
    )  # fmt: skip
    shared = None
    if width := size * c.integer("n_shared_experts", 1):
        shared = SharedExpertSpec(DenseMlpSpec(
            prefix=f"{prefix}.shared_experts", intermediate=width, activation=activation, gate="w1", up="w3", down="w2"
        ))  # fmt: skip
    return MoeSpec(router, ExpertsSpec(experts, c.integer("hidden_size"), size, activation), shared)
