"""The matrices that a decoder holds beside its routed experts, and their bytes, before anything is read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from engine.kernels.dense import packed_bytes
from engine.models.holding import BITS, Holding, Kind
from engine.models.spec import (
    AttentionSpec,
    DecoderSpec,
    DeltaNetSpec,
    DenseMlpSpec,
    LayerSpec,
    MixerSpec,
    MlaSpec,
    MlpSpec,
    MoeSpec,
)
from engine.store.layout import ROWS_PER_TILE
from engine.store.table import stays

CHECKSUM = 4  # bytes for each row that stays on the disk

# exact: always float32. by_head: one of MLA's two, head below head; bf16 where no tiles are whole for every head.
Role = Literal["linear", "head", "table", "exact", "by_head"]


@dataclass(frozen=True)
class Matrix:
    """One matrix [rows, cols] as it is held: stacked where several tensors of the checkpoint are, or many heads.

    name: of a table's one tensor, where that can be looked up on the disk.
    """

    role: Role
    rows: int
    cols: int
    head_rows: int = 0
    name: str = ""

    @property
    def stays(self) -> bool:
        """Whether it stays on the disk, and rows are read when they are asked for (store/table.py)."""
        return bool(self.name) and stays((self.rows, self.cols))


def matrices(spec: DecoderSpec, own_vocab: int = 0) -> Iterator[Matrix]:
    """Every matrix of a decoder but those of the routed experts. own_vocab: rows of the table of per-layer inputs."""
    if spec.head is not None:
        yield Matrix("table", spec.vocab, spec.hidden, name=f"{spec.embedding}.weight")
    yield Matrix("head", spec.vocab, spec.hidden)
    if spec.per_layer_inputs is not None:
        width = len(spec.layers) * spec.per_layer_inputs.dim
        yield Matrix("table", own_vocab, width, name=f"{spec.per_layer_inputs.embedding}.weight")
        yield Matrix("linear", width, spec.hidden)
        for _ in (layer for layer in spec.layers if layer.per_layer is not None):
            yield Matrix("linear", spec.per_layer_inputs.dim, spec.hidden)
            yield Matrix("linear", spec.hidden, spec.per_layer_inputs.dim)
    for layer in spec.layers:
        yield from _layer(layer, spec.hidden)


def nbytes(matrix: Matrix, dense: Holding, native: bool) -> int:
    """Bytes that it takes, held so, on native kernels or torch."""
    if matrix.stays:
        return CHECKSUM * matrix.rows
    rows, cols = matrix.rows, matrix.cols
    kind = _kind(matrix, dense, native)
    if kind in BITS and native:
        return packed_bytes(rows, cols, BITS[kind])
    return {"f32": 4 * rows * cols, "bf16": 2 * rows * cols, "int8": rows * cols + 2 * rows}[kind]


def _kind(matrix: Matrix, dense: Holding, native: bool) -> Kind:
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
            tiled = native and not matrix.head_rows % ROWS_PER_TILE
            return dense.kind if tiled or dense.kind not in BITS else "bf16"


def _layer(layer: LayerSpec, hidden: int) -> Iterator[Matrix]:
    yield from _mixer(layer.mixer, hidden)
    yield from _mlp(layer.mlp, hidden)


def _mixer(spec: MixerSpec, hidden: int) -> Iterator[Matrix]:
    match spec:
        case AttentionSpec():
            queries, keys = spec.heads * spec.head_dim, spec.kv_heads * spec.head_dim
            rows = queries * (2 if spec.gated else 1) + keys * (1 if spec.v is None else 2)
            yield Matrix("linear", rows, hidden)
            yield Matrix("linear", hidden, queries)
        case MlaSpec():
            queries = spec.heads * (spec.nope_dim + spec.rope_dim)
            if spec.q_rank is None:
                yield Matrix("linear", queries, hidden)
            else:
                yield Matrix("linear", spec.q_rank, hidden)
                yield Matrix("linear", queries, spec.q_rank)
            yield Matrix("linear", spec.kv_rank + spec.rope_dim, hidden)
            yield Matrix("by_head", spec.heads * spec.kv_rank, spec.nope_dim, spec.kv_rank)
            yield Matrix("by_head", spec.heads * spec.v_dim, spec.kv_rank, spec.v_dim)
            yield Matrix("linear", hidden, spec.heads * spec.v_dim)
        case DeltaNetSpec():
            keys, values = spec.k_heads * spec.k_dim, spec.v_heads * spec.v_dim
            yield Matrix("linear", 2 * keys + 2 * values, hidden)
            yield Matrix("exact", 2 * spec.v_heads, hidden)
            yield Matrix("linear", hidden, values)
        case _:
            yield Matrix("linear", 3 * spec.hidden, hidden)
            yield Matrix("linear", hidden, spec.hidden)


def _mlp(spec: MlpSpec, hidden: int) -> Iterator[Matrix]:
    match spec:
        case DenseMlpSpec():
            yield Matrix("linear", 2 * spec.intermediate, hidden)
            yield Matrix("linear", hidden, spec.intermediate)
        case MoeSpec():
            yield Matrix("exact", spec.router.experts, hidden)
            if spec.shared is not None:
                yield from _mlp(spec.shared.mlp, hidden)
                if spec.shared.gate is not None:
                    yield Matrix("exact", 1, hidden)
        case _:
            yield from _mlp(spec.dense, hidden)
            yield from _mlp(spec.moe, hidden)
