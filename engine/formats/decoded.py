"""Tensors that are made when they are asked for, behind the same methods as those that lie in a file as they are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from engine.formats.extents import FileExtent
from engine.formats.source import CodedRows, lacking
from engine.store import dtypes

CHUNK = 8 << 20  # bytes of a tensor made at once while streaming it


class DecodedRows(Protocol):
    """A matrix [rows, columns] whose rows are made on demand."""

    def read(self, start: int, stop: int) -> Tensor:
        """[stop - start, columns]. Raises UnderhillError(BROKEN_FILE or DISK_ERROR)."""

    def extents(self) -> tuple[FileExtent, ...]:
        """Where the bytes of all rows lie."""


@dataclass(frozen=True, eq=False)
class DecodedEntry:
    """A tensor as it is handed out: `rows`, converted to `dtype` and seen as `shape`. A vector is one row.

    coded: the same as codes, where a store may keep them; None: they mean nothing that a record can say.
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    rows: DecodedRows
    coded: CodedRows | None = None

    @property
    def nbytes(self) -> int:
        """Bytes as it is handed out."""
        return dtypes.nbytes(self.dtype, self.shape)

    def read(self, start: int, stop: int) -> Tensor:
        """tensor[start:stop]; all of a vector is made for any part of it."""
        kind = dtypes.TORCH[self.dtype]
        if len(self.shape) == 1:
            return self.rows.read(0, 1).reshape(self.shape)[start:stop].to(kind)
        return self.rows.read(start, stop).to(kind).reshape(stop - start, *self.shape[1:])


def read_part(entry: DecodedEntry, index: tuple[int, ...], rows: tuple[int, int] | None) -> Tensor:
    """As Source.part."""
    if not index:
        start, stop = rows if rows is not None else (0, entry.shape[0])
        return entry.read(start, stop)
    inner = entry.read(index[0], index[0] + 1)[0]
    for i in index[1:]:
        inner = inner[i]
    return inner if rows is None else inner[rows[0] : rows[1]]


def read_chunks(entry: DecodedEntry) -> Iterator[memoryview]:
    """As Source.chunks: whole rows, at most CHUNK bytes of them (one row at least)."""
    step = entry.shape[0]
    if len(entry.shape) > 1:
        step = max(1, CHUNK // (entry.nbytes // entry.shape[0]))
    for start in range(0, entry.shape[0], step):
        part = entry.read(start, min(start + step, entry.shape[0])).contiguous()
        yield memoryview(part.reshape(-1).view(torch.uint8).numpy().data)


def find(entries: Mapping[str, DecodedEntry], name: str) -> DecodedEntry:
    """An entry by name. Raises UnderhillError(MISSING_FILE)."""
    try:
        return entries[name]
    except KeyError:
        raise lacking(name) from None
