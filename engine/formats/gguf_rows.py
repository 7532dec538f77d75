"""Rows of tensors in a GGUF file, decoded when they are asked for and never more than that."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from engine.errors import Kind, UnderhillError
from engine.formats.gguf_header import GgufTensor, type_sizes
from engine.formats.packed_floats import MXFP4_BIAS
from engine.formats.source import DecodedRows, FileExtent
from engine.quantization.grouped import E2M1_TIMES, Fine, GroupedCodes, ordered_e2m1
from engine.record.coding import Coding
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
class WrappedRows:
    """What is made of other rows, in the same files."""

    rows: GgufRows

    @property
    def plain(self) -> int | None:
        """See GgufRows."""
        return self.rows.plain

    def extents(self) -> tuple[FileExtent, ...]:
        """See Rows."""
        return self.rows.extents()


@dataclass(frozen=True, eq=False)
class OrderedRows(WrappedRows):
    """Rows in another order: row i is row order[i] of `rows`. Neighbours that stay so are read together."""

    order: NDArray[np.int64]

    def read(self, start: int, stop: int) -> Tensor:
        """See GgufRows."""
        wanted = self.order[start:stop]
        runs = np.split(wanted, np.flatnonzero(np.diff(wanted) != 1) + 1)
        return torch.cat([self.rows.read(int(run[0]), int(run[-1]) + 1) for run in runs])


@dataclass(frozen=True, eq=False)
class OrderedColumns(WrappedRows):
    """Columns in another order: column i is column order[i] of `rows`."""

    order: NDArray[np.int64]

    def read(self, start: int, stop: int) -> Tensor:
        """See GgufRows."""
        return self.rows.read(start, stop)[:, torch.from_numpy(self.order)]


@dataclass(frozen=True, eq=False)
class ChangedRows(WrappedRows):
    """Other values made of the stored ones, in float32."""

    change: Callable[[Tensor], Tensor]

    @property
    def plain(self) -> int | None:
        """See GgufRows: what is computed is float32."""
        return next(iter(PLAIN))

    def read(self, start: int, stop: int) -> Tensor:
        """See GgufRows."""
        return self.change(self.rows.read(start, stop).float())


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
            msg("{name} has the unsupported type {name2}.", name=tensor.name, name2=kind.name),
            msg("Use another quantization."),
        ) from cause


Blocks = NDArray[Any]  # [rows, blocks, bytes of a block]


@dataclass(frozen=True, eq=False)
class GgufCodes:
    """See CodedRows."""

    rows: StoredRows
    coding: Coding

    def grouped(self, start: int, stop: int) -> GroupedCodes:
        """See CodedRows."""
        size, take = _TYPES[self.rows.tensor.type][1:]
        data = self.rows.bytes(start, stop)
        return take(data.reshape(len(data), -1, size), self.coding)


def coded(rows: StoredRows) -> GgufCodes | None:
    """None for types that have no codes of 4, 5 or 6 bits."""
    known = _TYPES.get(rows.tensor.type)
    return None if known is None else GgufCodes(rows, known[0])


def _half(data: Blocks, at: int) -> Tensor:
    """The float16 at byte `at` of every block, [rows, blocks] float32."""
    return torch.from_numpy(np.ascontiguousarray(data[..., at : at + 2]).view("<f2")[..., 0].astype(np.float32))


def _codes(codes: Blocks) -> Tensor:
    """[rows, blocks, weights of a block] -> [rows, columns]"""
    return torch.from_numpy(np.ascontiguousarray(codes).reshape(len(codes), -1))


def _nibbles(packed: Blocks) -> Blocks:
    """Of each run of bytes along the last dimension: all lower halves, then all upper ones."""
    return np.concatenate((packed & 15, packed >> 4), axis=-1)


def _fifth(data: Blocks, at: int) -> Blocks:
    """The fifth bits of a block of 32, four bytes from `at` on: each 0 or 16."""
    bits = np.unpackbits(data[..., at : at + 4], axis=-1, bitorder="little")
    return bits << 4


def _nibbles_and_scale(data: Blocks, coding: Coding) -> GroupedCodes:
    return GroupedCodes(coding, _codes(_nibbles(data[..., 2:])), _half(data, 0))


def _q4_1(data: Blocks, coding: Coding) -> GroupedCodes:
    return GroupedCodes(coding, _codes(_nibbles(data[..., 4:])), _half(data, 0), _half(data, 2))


def _q5_0(data: Blocks, coding: Coding) -> GroupedCodes:
    codes = (_nibbles(data[..., 6:]) | _fifth(data, 2)) + 16  # around 32 instead of 16
    return GroupedCodes(coding, _codes(codes), _half(data, 0))


def _q5_1(data: Blocks, coding: Coding) -> GroupedCodes:
    codes = _nibbles(data[..., 8:]) | _fifth(data, 4)
    return GroupedCodes(coding, _codes(codes), _half(data, 0), _half(data, 2))


def _mxfp4(data: Blocks, coding: Coding) -> GroupedCodes:
    powers = torch.from_numpy(data[..., 0].astype(np.int32)) - MXFP4_BIAS
    scale = torch.ldexp(torch.ones(powers.shape), powers) / E2M1_TIMES
    return GroupedCodes(coding, ordered_e2m1(_codes(_nibbles(data[..., 1:]))), scale)


def _k_scales(data: Blocks) -> tuple[Tensor, Tensor]:
    """Scales and minima of 6 bits, [rows, groups] each, packed in the 12 bytes from 4 on (ggml's get_scale_min_k4)."""
    low, middle, high = data[..., 4:8], data[..., 8:12], data[..., 12:16]
    scales = np.concatenate((low & 63, (high & 15) | (low >> 6 << 4)), axis=-1)
    minima = np.concatenate((middle & 63, (high >> 4) | (middle >> 6 << 4)), axis=-1)
    return _codes(scales), _codes(minima)


def _fine(data: Blocks) -> Fine:
    scales, minima = _k_scales(data)
    return Fine(scales, minima, _half(data, 0), _half(data, 2))


def _q4_k(data: Blocks, coding: Coding) -> GroupedCodes:
    packed = data[..., 16:].reshape(*data.shape[:2], 4, 32)
    return GroupedCodes.of_super(coding, _codes(_nibbles(packed)), _fine(data))


def _q5_k(data: Blocks, coding: Coding) -> GroupedCodes:
    packed = data[..., 48:].reshape(*data.shape[:2], 4, 32)
    fifth = (data[..., 16:48][..., None, :] >> np.arange(8, dtype=np.uint8)[:, None] & 1) << 4  # [.., 8 groups, 32]
    codes = _nibbles(packed).reshape(*data.shape[:2], 8, 32) | fifth
    return GroupedCodes.of_super(coding, _codes(codes), _fine(data))


def _q6_k(data: Blocks, coding: Coding) -> GroupedCodes:
    low = data[..., :128].reshape(*data.shape[:2], 2, 64)
    high = data[..., 128:192].reshape(*data.shape[:2], 2, 1, 32)
    upper = (high >> np.arange(0, 8, 2, dtype=np.uint8)[:, None] & 3) << 4  # [.., 2, 4, 32]
    codes = _nibbles(low).reshape(*data.shape[:2], 2, 4, 32) | upper
    small = torch.from_numpy(np.ascontiguousarray(data[..., 192:208]).view(np.int8).astype(np.float32))
    scale = (small * _half(data, 208).unsqueeze(2)).flatten(1)
    return GroupedCodes(coding, _codes(codes), scale)


def _iq4_xs(data: Blocks, coding: Coding) -> GroupedCodes:
    low = data[..., 4:8, None] >> np.array([0, 4], np.uint8) & 15  # [.., 4, 2]
    both = data[..., 2].astype(np.uint16) | data[..., 3].astype(np.uint16) << 8
    high = both[..., None] >> np.arange(0, 16, 2, dtype=np.uint16) & 3
    small = (low.reshape(*data.shape[:2], 8) | high << 4).astype(np.float32) - 32
    scale = (torch.from_numpy(small) * _half(data, 0).unsqueeze(2)).flatten(1)
    packed = data[..., 8:].reshape(*data.shape[:2], 8, 16)
    return GroupedCodes(coding, _codes(_nibbles(packed)), scale)


# By ggml's number of a type: coding, bytes of a block, and what takes blocks apart.
_TYPES: dict[int, tuple[Coding, int, Callable[[Blocks, Coding], GroupedCodes]]] = {
    2: (Coding(4, 32, "half", "middle8"), 18, _nibbles_and_scale),
    3: (Coding(4, 32, "pair", "plain"), 20, _q4_1),
    6: (Coding(6, 32, "half", "middle32"), 22, _q5_0),
    7: (Coding(6, 32, "pair", "plain"), 24, _q5_1),
    12: (Coding(4, 32, "super", "plain"), 144, _q4_k),
    13: (Coding(6, 32, "super", "plain"), 176, _q5_k),
    14: (Coding(6, 16, "half", "middle32"), 210, _q6_k),
    20: (Coding(4, 32, "half", "iq4_nl"), 18, _nibbles_and_scale),
    23: (Coding(4, 32, "half", "iq4_nl"), 136, _iq4_xs),
    39: (Coding(4, 32, "byte", "e2m1"), 17, _mxfp4),
}
