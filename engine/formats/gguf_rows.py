"""Rows of tensors in a GGUF file, decoded when they are asked for and never more than that."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from engine.errors import Kind, UnderhillError
from engine.formats.decoded import DecodedRows
from engine.formats.extents import FileExtent
from engine.formats.gguf_header import GgufTensor, type_sizes
from engine.translatable import msg

PLAIN = {0: torch.float32, 1: torch.float16, 30: torch.bfloat16}  # ggml's numbers of what passes as it is
NAMES = {0: "F32", 1: "F16", 30: "BF16"}


class GgufRows(DecodedRows, Protocol):
    """Rows out of a GGUF file."""

    @property
    def plain(self) -> int | None:
        """ggml's number of the one type they are stored as, if that is not quantized."""


@dataclass(frozen=True, eq=False)
class StoredRows:
    """Rows first .. first + count of a tensor whose leading dimensions are taken together.

    order: row i of the result is row order[i] of these; None as they lie.
    """

    tensor: GgufTensor
    first: int
    count: int
    order: NDArray[np.int64] | None = None

    @property
    def plain(self) -> int | None:
        """See GgufRows."""
        return self.tensor.type if self.tensor.type in PLAIN else None

    def read(self, start: int, stop: int) -> Tensor:
        """See GgufRows."""
        return decode(self.bytes(start, stop), self.tensor)

    def bytes(self, start: int, stop: int) -> NDArray[np.uint8]:
        """The rows as they lie in the file, [stop - start, bytes of a row], in the order asked for."""
        if self.order is None:
            return self._bytes(self.first + start, stop - start)
        wanted = self.order[start:stop]
        low = int(wanted.min()) if len(wanted) else 0
        high = int(wanted.max()) + 1 if len(wanted) else 0
        return self._bytes(self.first + low, high - low)[wanted - low]

    def extents(self) -> tuple[FileExtent, ...]:
        """See Rows."""
        return (
            FileExtent(
                self.tensor.file, *(self.tensor.offset + n * self._row for n in (self.first, self.first + self.count))
            ),
        )

    @property
    def _row(self) -> int:
        """Bytes of a row."""
        block, size = type_sizes()[self.tensor.type]
        return self.tensor.shape[-1] // block * size

    def _bytes(self, first: int, count: int) -> NDArray[np.uint8]:
        """[count, bytes of a row]"""
        row = self._row
        data = np.empty((count, row), np.uint8)
        if data.size:
            self.tensor.read(self.tensor.file, self.tensor.offset + first * row, data.reshape(-1).data)
        return data


@dataclass(frozen=True, eq=False)
class JoinedRows:
    """The rows of several matrices, one after the other. counts: how many each has."""

    parts: tuple[GgufRows, ...]
    counts: tuple[int, ...]

    @property
    def plain(self) -> int | None:
        """See GgufRows."""
        kinds = {p.plain for p in self.parts}
        return kinds.pop() if len(kinds) == 1 else None

    def read(self, start: int, stop: int) -> Tensor:
        """See GgufRows."""
        found, at = [], 0
        for part, count in zip(self.parts, self.counts, strict=True):
            low, high = max(start - at, 0), min(stop - at, count)
            if low < high:
                found.append(part.read(low, high))
            at += count
        return torch.cat(found)

    def extents(self) -> tuple[FileExtent, ...]:
        """See Rows."""
        return tuple(extent for part in self.parts for extent in part.extents())


@dataclass(frozen=True, eq=False)
class LatentRows:
    """DeepSeek's kv_b_proj [heads * (nope + v), rank], which llama.cpp keeps as keys [heads, rank, nope] and values.

    keys: heads * rank rows of nope columns, of which each head's must be turned. values: heads * v rows of rank.
    """

    keys: StoredRows
    values: StoredRows
    heads: int
    rank: int
    nope: int
    v: int

    @property
    def plain(self) -> int | None:
        """See GgufRows."""
        return self.keys.plain if self.keys.plain == self.values.plain else None

    def read(self, start: int, stop: int) -> Tensor:
        """See GgufRows."""
        of_head = self.nope + self.v
        first, last = start // of_head, -(-stop // of_head)
        blocks = []
        for head in range(first, last):
            blocks.append(self.keys.read(head * self.rank, (head + 1) * self.rank).T)
            blocks.append(self.values.read(head * self.v, (head + 1) * self.v))
        return torch.cat(blocks)[start - first * of_head : stop - first * of_head]

    def extents(self) -> tuple[FileExtent, ...]:
        """See Rows."""
        return (*self.keys.extents(), *self.values.extents())


@dataclass(frozen=True, eq=False)
class OrderedRows:
    """Rows in another order: row i is row order[i] of `rows`. Neighbours that stay so are read together."""

    rows: GgufRows
    order: NDArray[np.int64]

    @property
    def plain(self) -> int | None:
        """See GgufRows."""
        return self.rows.plain

    def read(self, start: int, stop: int) -> Tensor:
        """See GgufRows."""
        wanted = self.order[start:stop]
        runs = np.split(wanted, np.flatnonzero(np.diff(wanted) != 1) + 1)
        return torch.cat([self.rows.read(int(run[0]), int(run[-1]) + 1) for run in runs])

    def extents(self) -> tuple[FileExtent, ...]:
        """See Rows."""
        return self.rows.extents()


@dataclass(frozen=True, eq=False)
class OrderedColumns:
    """Columns in another order: column i is column order[i] of `rows`."""

    rows: GgufRows
    order: NDArray[np.int64]

    @property
    def plain(self) -> int | None:
        """See GgufRows."""
        return self.rows.plain

    def read(self, start: int, stop: int) -> Tensor:
        """See GgufRows."""
        return self.rows.read(start, stop)[:, torch.from_numpy(self.order)]

    def extents(self) -> tuple[FileExtent, ...]:
        """See Rows."""
        return self.rows.extents()


@dataclass(frozen=True, eq=False)
class ChangedRows:
    """Other values made of the stored ones, in float32."""

    rows: GgufRows
    change: Callable[[Tensor], Tensor]

    @property
    def plain(self) -> int | None:
        """See GgufRows: what is computed is float32."""
        return next(iter(PLAIN))

    def read(self, start: int, stop: int) -> Tensor:
        """See GgufRows."""
        return self.change(self.rows.read(start, stop).float())

    def extents(self) -> tuple[FileExtent, ...]:
        """See Rows."""
        return self.rows.extents()


def stored(tensor: GgufTensor, order: NDArray[np.int64] | None = None) -> StoredRows:
    """All rows of a tensor."""
    return StoredRows(tensor, 0, rows_of(tensor.shape), order)


def rows_of(shape: Sequence[int]) -> int:
    """How many rows a tensor of this shape has; one where it is a vector."""
    count = 1
    for n in shape[:-1]:
        count *= n
    return count


def decode(data: NDArray[np.uint8], tensor: GgufTensor) -> Tensor:
    """Bytes [n, row] of a tensor as [n, columns]: unquantized types as they are, all others as float32."""
    if tensor.type in PLAIN:
        return torch.from_numpy(np.ascontiguousarray(data)).view(PLAIN[tensor.type])
    from gguf import GGMLQuantizationType, dequantize

    kind = GGMLQuantizationType(tensor.type)
    try:
        return torch.from_numpy(dequantize(data, kind))
    except NotImplementedError as cause:
        raise UnderhillError(
            Kind.UNSUPPORTED_MODEL,
            msg("{name} is stored as {name2}, which Underhill does not read.", name=tensor.name, name2=kind.name),
            msg("Get the model in another quantization."),
        ) from cause
