"""What a decoder holds beside its routed experts, and what it computes in: bytes, known before anything is read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from engine.kernels.dense import packed_bytes
from engine.models.layers.deltanet import CHANNEL_CHUNK
from engine.models.layers.latent_cache import SCORES_LIMIT
from engine.models.layers.mamba2 import CHUNK
from engine.models.layers.weight_format import BITS, Kind, WeightKinds
from engine.models.spec import (
    AttentionSpec,
    CompressedSpec,
    DecoderSpec,
    DeltaNetSpec,
    DenseMlpSpec,
    KdaSpec,
    LayerSpec,
    Mamba2Spec,
    MixerSpec,
    MlaSpec,
    MlpSpec,
    MoeSpec,
    MtpSpec,
    ShortConvSpec,
)
from engine.native.op_graph import MOST_ROWS
from engine.record.layout import ROWS_PER_TILE
from engine.store.table import stays

CHECKSUM = 4  # bytes for each row that stays on the disk

# exact: always float32. by_head: one of MLA's two, head below head; bf16 where no tiles are whole for every head.
Role = Literal["linear", "head", "table", "exact", "by_head"]


@dataclass(frozen=True)
class Matrix:
    """One matrix [rows, cols] as it is held: stacked where several tensors of the checkpoint are, or many heads.

    names: of the modules whose weights these are, row below row, as they are stored; none where they are put in another
    order or reckoned with. plain: of a table, whether it is stored as numbers that can be looked up on the disk.
    """

    role: Role
    rows: int
    cols: int
    head_rows: int = 0
    names: tuple[str, ...] = ()
    plain: bool = True

    @property
    def stays(self) -> bool:
        """Whether it stays on the disk, and rows are read when they are asked for (store/table.py)."""
        return self.role == "table" and self.plain and stays((self.rows, self.cols))


@dataclass(frozen=True)
class StoredMatrix:
    """A matrix of the checkpoint that is stored as the codes of its source: its rows, and the bytes that they take."""

    rows: int
    nbytes: int


NONE_KEPT: Mapping[str, StoredMatrix] = {}


def matrices(spec: DecoderSpec, own_vocab: int = 0) -> Iterator[Matrix]:
    """Every matrix of a decoder but those of the routed experts. own_vocab: rows of the table of per-layer inputs."""
    if spec.head is not None:
        yield Matrix("table", spec.vocab, spec.hidden, names=(spec.embedding,))
    yield Matrix("head", spec.vocab, spec.hidden, names=(spec.head or spec.embedding,))
    if spec.per_layer_inputs is not None:
        width = len(spec.layers) * spec.per_layer_inputs.dim
        own = spec.per_layer_inputs
        yield Matrix("table", own_vocab, width, names=(own.embedding,))
        yield Matrix("linear", width, spec.hidden, names=(own.projection,))
        for each in (layer.per_layer for layer in spec.layers if layer.per_layer is not None):
            yield Matrix("linear", own.dim, spec.hidden, names=(each.gate,))
            yield Matrix("linear", spec.hidden, own.dim, names=(each.projection,))
    if spec.streams is not None:
        yield Matrix("exact", spec.streams.count, spec.streams.count * spec.hidden)
    for layer in spec.layers:
        yield from _layer(layer, spec.hidden)


def mtp_matrices(spec: MtpSpec, hidden: int) -> Iterator[Matrix]:
    """Every matrix for multi-token prediction but those of its routed experts, and the model's own."""
    yield Matrix("linear", hidden, 2 * hidden, names=(spec.joint,))
    yield from _layer(spec.layer, hidden)


def nbytes(matrix: Matrix, dense: WeightKinds, kept: Mapping[str, StoredMatrix] = NONE_KEPT) -> int:
    """Bytes that it takes, held so, for native kernels. kept: by module, what is stored as codes."""
    if matrix.stays:
        return CHECKSUM * matrix.rows
    rows, cols = matrix.rows, matrix.cols
    kind = _kind(matrix, dense)
    if kind in BITS:
        own = [kept[name] for name in matrix.names if name in kept]
        rest = rows - sum(k.rows for k in own)
        return sum(k.nbytes for k in own) + (packed_bytes(rest, cols, BITS[kind]) if rest else 0)
    return {"f32": 4 * rows * cols, "bf16": 2 * rows * cols}[kind]


def _kind(matrix: Matrix, dense: WeightKinds) -> Kind:
    match matrix.role:
        case "linear":
            return dense.kind
        case "head":
            return dense.for_head.kind
        case "table":
            return dense.for_table.kind
        case "exact":
            return "f32"
        case "by_head":
            tiled = not matrix.head_rows % ROWS_PER_TILE
            return dense.kind if tiled or dense.kind not in BITS else "bf16"


def _named(role: Role, rows: int, cols: int, prefix: str, *names: str) -> Matrix:
    return Matrix(role, rows, cols, names=tuple(f"{prefix}.{name}" for name in names))


def _layer(layer: LayerSpec, hidden: int) -> Iterator[Matrix]:
    if layer.mixer is not None:
        yield from _mixer(layer.mixer, hidden)
    for mlp in (layer.mlp, layer.shortcut):
        if mlp is not None:
            yield from _mlp(mlp, hidden)
    for streams in layer.streams or ():
        yield Matrix("exact", (2 + streams.count) * streams.count, streams.count * hidden)


def _mixer(spec: MixerSpec, hidden: int) -> Iterator[Matrix]:
    match spec:
        case AttentionSpec():
            yield from _attention(spec, hidden)
        case MlaSpec():
            yield from _mla(spec, hidden)
        case DeltaNetSpec():
            yield from _deltanet(spec, hidden)
        case Mamba2Spec():
            yield from _mamba2(spec, hidden)
        case KdaSpec():
            yield from _kda(spec, hidden)
        case CompressedSpec():
            yield from _compressed(spec, hidden)
        case _:
            yield from _short_convolution(spec, hidden)


def _attention(spec: AttentionSpec, hidden: int) -> Iterator[Matrix]:
    queries, keys = spec.heads * spec.head_dim, spec.kv_heads * spec.head_dim
    rows = queries * (2 if spec.gated else 1) + keys * (1 if spec.v is None else 2)
    kept = spec.projections if spec.plain_values else spec.projections[:-1]
    gate = () if spec.gate is None else (f"{spec.prefix}.{spec.gate}",)
    yield Matrix("linear", rows, hidden, names=(*kept, *gate))
    yield _named("linear", hidden, spec.heads * spec.value_width, spec.prefix, spec.o)
    if spec.head_gate is not None:
        yield _named("linear", spec.heads, hidden, spec.prefix, spec.head_gate)
    if spec.blocks is not None:
        chosen = spec.blocks
        yield _named("linear", chosen.heads * chosen.head_dim, hidden, chosen.prefix, "index_q_proj")
        yield _named("linear", chosen.head_dim, hidden, chosen.prefix, "index_k_proj")


def _mla(spec: MlaSpec, hidden: int) -> Iterator[Matrix]:
    queries = spec.heads * (spec.nope_dim + spec.rope_dim)
    if spec.q_rank is None:
        yield _named("linear", queries, hidden, spec.prefix, "q_proj")
    else:
        yield _named("linear", spec.q_rank, hidden, spec.prefix, "q_a_proj")
        yield _named("linear", queries, spec.q_rank, spec.prefix, "q_b_proj")
    yield _named("linear", spec.kv_rank + spec.rope_dim, hidden, spec.prefix, "kv_a_proj_with_mqa")
    yield Matrix("by_head", spec.heads * spec.kv_rank, spec.nope_dim, spec.kv_rank)
    yield Matrix("by_head", spec.heads * spec.v_dim, spec.kv_rank, spec.v_dim)
    yield _named("linear", hidden, spec.heads * spec.v_dim, spec.prefix, "o_proj")
    if spec.indexer is not None and not spec.indexer.shared:
        own = spec.indexer
        yield _named("linear", own.heads * own.head_dim, spec.q_rank or hidden, own.prefix, "wq_b")
        yield _named("linear", own.head_dim, hidden, own.prefix, "wk")
        yield Matrix("exact", own.heads, hidden)


def _deltanet(spec: DeltaNetSpec, hidden: int) -> Iterator[Matrix]:
    keys, values = spec.k_heads * spec.k_dim, spec.v_heads * spec.v_dim
    inward = ("in_proj_qkvz",) if spec.fused else ("in_proj_qkv", "in_proj_z")
    yield _named("linear", 2 * keys + 2 * values, hidden, spec.prefix, *inward)
    yield Matrix("exact", 2 * spec.v_heads, hidden)
    yield _named("linear", hidden, values, spec.prefix, "out_proj")


def _mamba2(spec: Mamba2Spec, hidden: int) -> Iterator[Matrix]:
    yield Matrix("linear", spec.inner + spec.channels, hidden)
    yield Matrix("exact", spec.heads, hidden)
    yield _named("linear", hidden, spec.inner, spec.prefix, "out_proj")


def _kda(spec: KdaSpec, hidden: int) -> Iterator[Matrix]:
    width = spec.heads * spec.head_dim
    yield _named("linear", 3 * width, hidden, spec.prefix, "q_proj", "k_proj", "v_proj")
    yield Matrix("exact", spec.head_dim, hidden)
    yield Matrix("exact", width, spec.head_dim)
    yield Matrix("exact", spec.heads, hidden)
    yield _named("linear", spec.head_dim, hidden, spec.prefix, "g_a_proj")
    yield _named("linear", width, spec.head_dim, spec.prefix, "g_b_proj")
    yield _named("linear", hidden, width, spec.prefix, "o_proj")


def _compressed(spec: CompressedSpec, hidden: int) -> Iterator[Matrix]:
    queries = spec.heads * spec.head_dim
    yield _named("linear", spec.q_rank, hidden, spec.prefix, "wq_a")
    yield _named("linear", queries, spec.q_rank, spec.prefix, "wq_b")
    yield _named("linear", spec.head_dim, hidden, spec.prefix, "wkv")
    for _ in range(spec.groups):
        yield Matrix("linear", spec.rank, queries // spec.groups)
    yield _named("linear", hidden, spec.groups * spec.rank, spec.prefix, "wo_b")
    for entries in spec.compressed:
        rows = entries.dim * (2 if entries.overlaps else 1)
        yield _named("linear", 2 * rows, hidden, entries.prefix, "wkv", "wgate")
        yield Matrix("exact", entries.ratio, rows)
    if spec.index is not None:
        scored = spec.index.heads * spec.compressed[1].dim
        yield _named("linear", scored, spec.q_rank, spec.prefix, "indexer.wq_b")
        yield Matrix("exact", spec.index.heads, hidden)


def _short_convolution(spec: ShortConvSpec, hidden: int) -> Iterator[Matrix]:
    yield _named("linear", 3 * spec.hidden, hidden, spec.prefix, "in_proj")
    yield _named("linear", hidden, spec.hidden, spec.prefix, "out_proj")


def _mlp(spec: MlpSpec, hidden: int) -> Iterator[Matrix]:
    match spec:
        case DenseMlpSpec():
            first = (spec.up,) if spec.fused or spec.gate is None else (spec.gate, spec.up)
            rows = spec.intermediate * (1 if spec.gate is None else 2)
            yield _named("linear", rows, hidden, spec.prefix, *first)
            yield _named("linear", hidden, spec.intermediate, spec.prefix, spec.down)
        case MoeSpec():
            yield Matrix("exact", spec.router.experts, hidden)
            if spec.router.by_token is not None:
                yield Matrix("exact", spec.router.tokens, spec.router.top_k)
            if spec.latent is not None:
                yield Matrix("linear", spec.experts.hidden, hidden, names=(spec.latent.down,))
                yield Matrix("linear", hidden, spec.experts.hidden, names=(spec.latent.up,))
            if spec.shared is not None:
                yield from _mlp(spec.shared.mlp, hidden)
                if spec.shared.gate is not None:
                    yield Matrix("exact", 1, hidden)
        case _:
            yield from _mlp(spec.dense, hidden)
            yield from _mlp(spec.moe, hidden)


# ---- the memory that it computes in ----------------------------------------------------------------------------------

FLOAT = 4  # bytes
# Of multi-token prediction (mtp.py): positions whose hidden states are kept, and of a prompt those that it reads. To
# read all of a long one would take as long as a layer of the model does; these are two passes, a token's time or two.
# What is near says most of what comes next, and from there on it attends to all that is answered.
MTP_KEPT = 32
MTP_MOST = 1024  # positions that it attends to; then it begins again with the last ones that are kept
SAMPLING = 48  # bytes per word of the vocabulary: logits, their order and what is summed up of them
PIECE = 32 << 20  # bytes of a tensor that is converted on its way, piece by piece


def token_bytes(spec: DecoderSpec) -> int:
    """Bytes for every token of those that are computed at once: the layer that takes most of them."""
    streams = 1 if spec.streams is None else spec.streams.count
    stream = 6 * spec.hidden * streams  # what goes through, its norm, and both sums with what a layer adds
    mlps = [mlp for layer in spec.layers for mlp in (layer.mlp, layer.shortcut) if mlp is not None]
    kept = max((_kept_outputs(mlp, spec.hidden) for mlp in mlps), default=0)  # stays from layer to layer
    mixers = [_mixer_numbers(layer.mixer) for layer in spec.layers if layer.mixer is not None]
    layer = max(*mixers, *map(_mlp_numbers, mlps))
    return FLOAT * (stream + kept + layer)


def mtp_working_bytes(spec: DecoderSpec, row: int) -> int:
    """Bytes that multi-token prediction takes beside its weights: hidden states, logits, keys and values.

    row: numbers of these for a token.
    """
    return FLOAT * (2 * MTP_KEPT * spec.hidden + MOST_ROWS * spec.vocab + (MTP_MOST + MOST_ROWS) * row)


def working_bytes(spec: DecoderSpec) -> int:
    """Bytes that computing takes however few tokens there are: the same for one as for MOST_ROWS."""
    found = SAMPLING * spec.vocab
    if any(isinstance(layer.mixer, MlaSpec) or _chooses(layer.mixer) for layer in spec.layers):
        found += 3 * FLOAT * SCORES_LIMIT
    return found + FLOAT * MOST_ROWS * sum(_recurrent_inputs(layer.mixer) for layer in spec.layers)


def _recurrent_inputs(spec: MixerSpec | None) -> int:
    """Numbers per token that each recurrent layer with native ops is given, in memory of its own (GraphBuilder)."""
    match spec:
        case DeltaNetSpec():
            return 2 * (spec.k_heads * spec.k_dim + spec.v_heads * spec.v_dim + spec.v_heads)
        case ShortConvSpec():
            return 3 * spec.hidden
        case _:
            return 0


def opening_bytes(spec: DecoderSpec, item: int, own_vocab: int = 0) -> int:
    """Most bytes held beside the finished matrices while one is made. item: bytes of a number in the checkpoint.

    What is stacked or put in another order lies there twice for a moment.
    """

    def taken(matrix: Matrix) -> int:
        source = item * matrix.rows * matrix.cols
        return source if matrix.role in ("head", "table") else 2 * source

    return PIECE + max(taken(matrix) for matrix in matrices(spec, own_vocab) if not matrix.stays)


def _chooses(mixer: MixerSpec | None) -> bool:
    """Whether what its queries see is worked out before they attend."""
    return isinstance(mixer, CompressedSpec) or (isinstance(mixer, AttentionSpec) and mixer.blocks is not None)


def _mixer_numbers(spec: MixerSpec) -> int:
    """Numbers per token: projections as they come, normed and turned, and what attention makes of them."""
    match spec:
        case AttentionSpec():
            queries = spec.heads * spec.head_dim
            rows = queries * (2 if spec.gated else 1) + 2 * spec.kv_heads * spec.head_dim
            return 3 * rows + 4 * queries
        case MlaSpec():
            width = spec.nope_dim + spec.rope_dim
            return spec.heads * (3 * width + 3 * spec.kv_rank + 2 * spec.v_dim) + 4 * (spec.kv_rank + spec.rope_dim)
        case DeltaNetSpec():
            return 6 * (2 * spec.k_heads * spec.k_dim + 2 * spec.v_heads * spec.v_dim)
        case Mamba2Spec():
            return 4 * (spec.inner + spec.channels) + 3 * CHUNK * spec.heads
        case KdaSpec():
            return spec.heads * spec.head_dim * (16 + CHANNEL_CHUNK)
        case CompressedSpec():
            rows = sum(4 * own.dim * (4 if own.overlaps else 2) for own in spec.compressed)
            return 6 * spec.heads * spec.head_dim + 2 * (spec.q_rank + spec.groups * spec.rank) + rows
        case _:
            return 8 * spec.hidden


def _mlp_numbers(spec: MlpSpec) -> int:
    match spec:
        case DenseMlpSpec():
            return 4 * spec.intermediate
        case MoeSpec():
            shared = 0 if spec.shared is None else _mlp_numbers(spec.shared.mlp)
            own = spec.experts
            # Every expert's share of the tokens, gate and up and in 8 bits; and the lists of tokens by expert.
            return shared + 4 * own.intermediate + 3 * own.hidden + 20 * spec.router.top_k + spec.router.experts
        case _:
            return _mlp_numbers(spec.dense) + _mlp_numbers(spec.moe)


def _kept_outputs(spec: MlpSpec, hidden: int) -> int:
    """Numbers per token of what its experts give, each for itself (see ExpertRuntime)."""
    match spec:
        case MoeSpec():
            return spec.router.top_k * hidden
        case DenseMlpSpec():
            return 0
        case _:
            return _kept_outputs(spec.moe, hidden)
