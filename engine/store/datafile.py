"""The data files of a store: safetensors headers that put the data where direct I/O wants it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from engine.record.coding import Coding, dense_sections
from engine.record.layout import ALIGN, ExpertSpec, aligned
from engine.store import dtypes

TAIL = 65536 - ALIGN  # padding after the last record, so that a read rounded up to 64 KiB stays inside the file


@dataclass(frozen=True)
class TensorShape:
    """A tensor to be stored; dtype as in safetensors. coding: of a matrix that keeps its codes, then decoded to F32."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    coding: Coding | None = None

    @property
    def nbytes(self) -> int:
        """Bytes of its data."""
        return tensor_bytes(self.dtype, self.shape, self.coding)

    @property
    def listed(self) -> tuple[str, tuple[int, ...]]:
        """Type and shape as the file's own header says them: codes are bytes there."""
        return (self.dtype, self.shape) if self.coding is None else ("U8", (self.nbytes,))


def tensor_bytes(dtype: str, shape: tuple[int, ...], coding: Coding | None) -> int:
    """Bytes of a tensor. Raises ValueError where a matrix cannot be coded so."""
    if coding is None:
        return dtypes.nbytes(dtype, shape)
    if dtype != "F32" or len(shape) != 2 or shape[1] % coding.group:
        raise ValueError(f"a tensor {list(shape)} of {dtype} has no codes in groups of {coding.group}")
    return sum(dense_sections(coding, *shape))


@dataclass(frozen=True)
class FilePlan:
    """A data file before it is written: the header's bytes, the offset of every tensor from the file's start."""

    name: str
    header: bytes
    offsets: tuple[int, ...]
    nbytes: int


def record_name(layer: int, expert: int) -> str:
    """The name of a record's tensor."""
    return f"layers.{layer}.experts.{expert}"


def plan_records(layer: int, specs: Sequence[ExpertSpec]) -> FilePlan:
    """The file of one MoE layer: a record per expert, every one on a multiple of 4096, then the tail."""
    tensors = [TensorShape(record_name(layer, e), "U8", (spec.layout.nbytes,)) for e, spec in enumerate(specs)]
    return _plan(f"experts-{layer:05d}.safetensors", [*tensors, TensorShape("padding", "U8", (TAIL,))])


def plan_dense(tensors: Sequence[TensorShape]) -> FilePlan:
    """The file of the dense weights, in the order given."""
    return _plan("dense.safetensors", tensors)


def in_file_order(tensors: Sequence[TensorShape]) -> list[TensorShape]:
    """Widest elements first, then by name, so that every tensor is aligned to its element size."""
    return sorted(tensors, key=lambda t: (-dtypes.TORCH[t.dtype].itemsize, t.name))


def _plan(name: str, tensors: Sequence[TensorShape]) -> FilePlan:
    entries: dict[str, object] = {"__metadata__": {"format": "underhill-store"}}
    at, starts = 0, []
    for t in tensors:
        starts.append(at)
        dtype, shape = t.listed
        entries[t.name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [at, at + t.nbytes]}
        at += t.nbytes
    text = json.dumps(entries, separators=(",", ":")).encode()
    length = aligned(8 + len(text)) - 8
    header = length.to_bytes(8, "little") + text.ljust(length)  # the format allows trailing spaces
    return FilePlan(name, header, tuple(len(header) + s for s in starts), len(header) + at)
