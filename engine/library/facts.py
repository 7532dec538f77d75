"""A store as the planner wants it, and what its family's decoder says about it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from engine.convert.skeleton import build_skeleton, routed_experts
from engine.experts.precision import low_tier
from engine.formats.families import text_config, vision_prefixes
from engine.kernels.activation import Activation
from engine.library.entries import ModelCard
from engine.models.families import is_known, read_spec
from engine.models.footprint import (
    Matrix,
    StoredMatrix,
    matrices,
    mtp_matrices,
    mtp_working_bytes,
    nbytes,
    opening_bytes,
    token_bytes,
    working_bytes,
)
from engine.models.layers.state import SNAPSHOT_BYTES, SNAPSHOTS
from engine.models.layers.weight_format import KINDS, weight_kinds
from engine.models.shapes import disagreement
from engine.models.spec import (
    AttentionSpec,
    CompressedSpec,
    DecoderSpec,
    DeltaNetSpec,
    EntriesSpec,
    KdaSpec,
    Mamba2Spec,
    MixerSpec,
    MlaSpec,
    ShortConvSpec,
)
from engine.models.vision.footprint import vision_footprint
from engine.native.kv_rows import row_width
from engine.planning.facts import ModelFacts
from engine.store import dtypes
from engine.store.manifest import DenseTensor
from engine.store.reader import Store
from engine.translatable import msg

CONTEXT = 4096  # tokens, where a config does not say


def spec_of(store: Store) -> DecoderSpec | None:
    """The lean decoder's spec; None where the family has no file and the compatibility backend serves.

    Raises UnderhillError: BROKEN_FILE when the store's experts are not those of its config, and what read_spec raises.
    """
    if not is_known(store.config):
        return None
    spec = read_spec(store.config)
    if spec.mtp is not None and store.mtp != (spec.mtp.layer.index,):
        spec = replace(spec, mtp=None)  # imported without it, or from a checkpoint that did not hold it
    if beyond := set(store.layers) - set(spec.moe_layers):
        raise disagreement(msg("there are experts of layer {beyond}, which should have none", beyond=min(beyond)))
    further = {} if spec.mtp is None else {spec.mtp.layer.index: spec.mtp.moe}
    for layer, moe in {**spec.moe_layers, **further}.items():
        known = layer in store.layers or layer in store.mtp
        stored = (store.experts(layer), store.spec(layer).hidden) if known else (0, 0)
        if stored != (moe.experts.count, moe.experts.hidden):
            raise disagreement(
                msg(
                    "layer {layer} holds {stored} experts of width {stored2} and should hold {count} of width {hidden}",
                    layer=layer,
                    stored=stored[0],
                    stored2=stored[1],
                    count=moe.experts.count,
                    hidden=moe.experts.hidden,
                )
            )
    return spec


def activation_of(store: Store, spec: DecoderSpec | None) -> Activation | dict[int, Activation]:
    """What stands between the up and down projections of this model's experts, by layer where it is known."""
    if spec is None:
        return routed_experts(build_skeleton(store.config).experts[0]).activation
    found = {layer: moe.experts.activation for layer, moe in spec.moe_layers.items()}
    return {layer: Activation(one.kind, one.alpha, one.limit) for layer, one in found.items()}


def model_facts(store: Store, card: ModelCard, spec: DecoderSpec | None) -> ModelFacts:
    """What the planner needs."""
    held, looked_up, head = _dense_bytes(store, spec)
    image_bytes, image_tokens = vision_footprint(store.config, store.path) if card.reads_images else (0, 0)
    specs = [store.spec(layer, expert) for layer in store.layers for expert in range(store.experts(layer))]
    tiers = sorted({tier for s in specs for tier in s.tiers})
    return ModelFacts(
        name=card.title,
        expert_bytes={t: store.expert_bytes(t) for t in tiers},
        record_bytes={t: max(s.layout.bytes_for(t if t in s.tiers else s.top) for s in set(specs)) for t in tiers},
        dense_bytes=held,
        looked_up_bytes=looked_up,
        head_bytes=head,
        kv_bytes=(compat_kv_values(card.layers) if spec is None else kv_values(spec)) * 2,
        packed_kv_bytes=0 if spec is None else packed_kv_bytes(spec),
        moe_layers=card.moe_layers,
        experts=card.experts,
        experts_per_token=card.experts_per_token,
        context_length=card.context_length or CONTEXT,
        state_bytes=0 if spec is None else state_bytes(spec),
        opening_bytes=_opening_bytes(store, spec),
        token_bytes=compat_token_bytes(card.experts_per_token) if spec is None else token_bytes(spec),
        working_bytes=0 if spec is None else working_bytes(spec),
        image_bytes=image_bytes,
        image_tokens=image_tokens,
        lean=spec is not None,
        vocabulary=vocabulary(store) if spec is None else spec.vocab,
        windowed={} if spec is None else windowed(spec),
        latent_products=0 if spec is None else latent_products(spec),
        disk_bytes=card.disk_bytes,
        dense_found="" if store.manifest.lowering is None else store.manifest.lowering.dense,
        mtp_bytes=_mtp_bytes(store, spec),
        mtp_expert_bytes={t: store.expert_bytes(t, mtp=True) for t in tiers if spec is not None and spec.mtp},
    )


def vocabulary(store: Store) -> int:
    """Words that its config says it knows."""
    return int(text_config(store.config).get("vocab_size") or 0)


def _dense_bytes(store: Store, spec: DecoderSpec | None) -> tuple[dict[str, int], dict[str, int], dict[str, int]]:
    """Bytes of everything but the routed experts, by how it is held; of them what is only looked up, and the head."""
    entries = _for_text(store)
    if spec is None:  # the compatibility backend knows float32 and bf16 only
        values = sum(math.prod(entry.shape) for entry in entries)
        return {"f32": 4 * values, "bf16": 2 * values}, {}, {}
    small = sum(
        4 * math.prod(entry.shape) for entry in entries if len(entry.shape) != 2
    )  # norms, biases, short filters
    found, kept = [_where_it_can_be(store, m) for m in matrices(spec, _own_vocab(store, spec))], _kept(store)
    held: dict[str, int] = {}
    looked_up: dict[str, int] = {}
    head: dict[str, int] = {}
    for kind in KINDS:
        sizes = [(m.role, nbytes(m, weight_kinds(kind), kept)) for m in found]
        held[kind] = small + sum(size for _, size in sizes)
        looked_up[kind] = sum(size for role, size in sizes if role == "table")
        head[kind] = sum(size for role, size in sizes if role == "head")
    return held, looked_up, head


def _mtp_bytes(store: Store, spec: DecoderSpec | None) -> dict[str, int]:
    """What multi-token prediction takes beside its experts, by how its weights are held."""
    if spec is None or spec.mtp is None:
        return {}
    found, kept = tuple(mtp_matrices(spec.mtp, spec.hidden)), _kept(store)
    at_work = mtp_working_bytes(spec, _row(spec.mtp.layer.mixer))
    return {kind: at_work + sum(nbytes(m, weight_kinds(kind), kept) for m in found) for kind in KINDS}


def _for_text(store: Store) -> list[DenseTensor]:
    """All but what it sees pictures with, which is not held."""
    seeing = vision_prefixes(store.config)
    return [store.dense.entry(name) for name in store.dense if not name.startswith(seeing)]


def _where_it_can_be(store: Store, matrix: Matrix) -> Matrix:
    """A table is looked up on the disk only where its rows are plain numbers: see DenseWeights.table."""
    if matrix.role != "table":
        return matrix
    entries = [store.dense.entry(f"{name}.weight") for name in matrix.names]
    return replace(matrix, plain=all(e.coding is None and e.dtype in dtypes.FLOATS for e in entries))


def _kept(store: Store) -> dict[str, StoredMatrix]:
    """By module, the matrices beside the experts that are stored as codes."""
    entries = (store.dense.entry(name) for name in store.dense)
    return {e.name.removesuffix(".weight"): StoredMatrix(e.shape[0], e.nbytes) for e in entries if e.coding is not None}


def _opening_bytes(store: Store, spec: DecoderSpec | None) -> dict[str, int]:
    """By how it is held: most that is there beside it while it is being opened."""
    entries = _for_text(store)
    if spec is None:  # a tensor as it is stored, and once more as it is wanted
        largest = max((math.prod(entry.shape) for entry in entries), default=0)
        return {"f32": 8 * largest, "bf16": 6 * largest}
    float8 = any(entry.dtype.startswith("F8") for entry in entries)  # multiplied out in float32, scales laid out
    item = 14 if float8 else max(dtypes.TORCH[entry.dtype].itemsize for entry in entries)
    own_vocab = _own_vocab(store, spec)
    return dict.fromkeys(KINDS, opening_bytes(spec, item, own_vocab))


def _own_vocab(store: Store, spec: DecoderSpec) -> int:
    own = spec.per_layer_inputs
    return 0 if own is None else store.dense.entry(f"{own.embedding}.weight").shape[0]


def compat_token_bytes(experts_per_token: int) -> int:
    """Not known without building the model: attention and experts of usual widths, in float32."""
    return 4 * 64 * 1024 + 4 * 16 * 1024 * max(1, experts_per_token // 4)


def state_bytes(spec: DecoderSpec) -> int:
    """What recurrent layers keep in float32, with the snapshots that bring them back; and, of those with native ops,
    what a pass that checks a draft began with (SequenceState.keeps_start)."""
    values = kept = 0
    for layer in spec.layers:
        match layer.mixer:
            case DeltaNetSpec() as d:
                channels = 2 * d.k_heads * d.k_dim + d.v_heads * d.v_dim
                kept += (d.kernel - 1) * channels + d.v_heads * d.k_dim * d.v_dim
            case Mamba2Spec() as m:
                values += (m.kernel - 1) * m.channels + m.inner * m.state
            case KdaSpec() as k:
                values += 3 * (k.kernel - 1) * k.heads * k.head_dim + k.heads * k.head_dim**2
            case CompressedSpec() as w:
                tails = (own.ratio * (2 if own.overlaps else 1) * _compressed_row(own) for own in w.compressed)
                values += w.window * w.head_dim + sum(tails)
            case ShortConvSpec() as c:
                kept += (c.kernel - 1) * c.hidden
    values += kept
    return 4 * (values + kept) + min(SNAPSHOTS * 4 * values, SNAPSHOT_BYTES)


def _compressed_row(spec: EntriesSpec) -> int:
    """Numbers of a token that is not compressed yet: what it gives, and how that weighs."""
    return 2 * spec.dim * (2 if spec.overlaps else 1)


def compat_kv_values(layers: int) -> int:
    """Not known without building the model: what grouped attention of usual width would leave."""
    return 2 * 8 * 128 * layers


def kv_values(spec: DecoderSpec) -> int:
    """Numbers that a token of context leaves behind over all layers; recurrent layers leave none."""
    return sum(_row(layer.mixer) for layer in spec.layers)


def packed_kv_bytes(spec: DecoderSpec) -> int:
    """As kv_values in bytes, keys and values in 8 bits where they can be, the rest in bf16; 0: none can be."""
    mixers = [layer.mixer for layer in spec.layers]
    packable = [mixer for mixer in mixers if isinstance(mixer, AttentionSpec) and mixer.packable]
    rest = sum(2 * _row(mixer) for mixer in mixers if mixer not in packable)
    packed = sum(2 * mixer.kv_heads * row_width(mixer.head_dim, torch.int8) for mixer in packable)
    return packed + rest if packable else 0


def windowed(spec: DecoderSpec) -> dict[int, int]:
    """Bytes in bf16 that a token leaves behind in layers with a window, by how many tokens are seen in it."""
    found: Counter[int] = Counter()
    for layer in spec.layers:
        if isinstance(layer.mixer, AttentionSpec) and layer.mixer.window is not None:
            found[layer.mixer.window] += 2 * _row(layer.mixer)
    return dict(found)


def _row(mixer: MixerSpec | None) -> int:
    match mixer:
        case AttentionSpec() as a:
            return 2 * a.kv_heads * a.head_dim + (0 if a.blocks is None else a.blocks.head_dim)
        case MlaSpec() as m:
            return m.kv_rank + m.rope_dim + (0 if m.indexer is None or m.indexer.shared else m.indexer.head_dim)
        case CompressedSpec() as w:
            return sum(-(-own.dim // own.ratio) for own in w.compressed)
    return 0


def latent_products(spec: DecoderSpec) -> int:
    """Multiplications of a token with the latent rows of another, over all layers: for scores, and for sums."""
    latent = [layer.mixer for layer in spec.layers if isinstance(layer.mixer, MlaSpec)]
    return sum(mla.heads * (2 * mla.kv_rank + mla.rope_dim) for mla in latent)


def largest_file(store: Store) -> Path:
    """A data file to measure the disk with."""
    return max((store.path / layer.file for layer in store.manifest.layers), key=lambda p: p.stat().st_size)


def coarse_bits(model: ModelFacts, chosen: Mapping[str, Any]) -> int:
    """Bits of this model's coarse experts under these settings."""
    full = max(model.tiers) if chosen["tier"] == "top" else int(chosen["tier"])
    return low_tier(sorted(model.tiers), full, None if chosen["low"] == "coarsest" else int(chosen["low"]))
