"""The data files of a store: safetensors headers that put the data where direct I/O wants it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from engine.store import dtypes
from engine.store.layout import ALIGN, ExpertSpec, aligned

TAIL = 65536 - ALIGN  # padding after the last record, so that a read rounded up to 64 KiB stays inside the file


@dataclass(frozen=True)
class TensorShape:
    """A tensor to be stored; dtype as in safetensors."""

    name: str
    dtype: str
    shape: tuple[int, ...]

    @property
    def nbytes(self) -> int:
        """Bytes of its data."""
        return dtypes.nbytes(self.dtype, self.shape)


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
        entries[t.name] = {"dtype": t.dtype, "shape": list(t.shape), "data_offsets": [at, at + t.nbytes]}
        at += t.nbytes
    text = json.dumps(entries, separators=(",", ":")).encode()
    length = aligned(8 + len(text)) - 8
    header = length.to_bytes(8, "little") + text.ljust(length)  # the format allows trailing spaces
    return FilePlan(name, header, tuple(len(header) + s for s in starts), len(header) + at)
