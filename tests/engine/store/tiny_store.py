"""A small store with known contents, made by the writer."""

from __future__ import annotations

import mmap
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from engine.record.layout import ExpertSpec
from engine.store.datafile import TensorShape
from engine.store.manifest import Source, TierQuality
from engine.store.reader import Store
from engine.store.writer import Description, LayerShape, StoreWriter

SPEC = ExpertSpec(hidden=64, intermediate=32, top=8, group=32)
LAYERS = (LayerShape(1, 3, SPEC), LayerShape(3, 2, SPEC))
DENSE = (TensorShape("norm", "F32", (8,)), TensorShape("embed", "BF16", (10, 3)), TensorShape("empty", "F32", (0, 4)))
DESCRIPTION = Description(Source("/somewhere", "", "", ()), "qwen3_moe", {"model_type": "qwen3_moe"}, (),
                          (TierQuality(8, 8.5, 0.005),))  # fmt: skip


def record(layer: int, expert: int) -> NDArray[np.uint8]:
    """What stands for the record of an expert: the store does not care what is in it."""
    return np.random.default_rng([layer, expert]).integers(0, 256, SPEC.layout.nbytes, dtype=np.uint8)


def dense_bytes(tensor: TensorShape) -> bytes:
    """The bytes of a dense tensor."""
    return np.random.default_rng(tensor.nbytes).integers(0, 100, tensor.nbytes, dtype=np.uint8).tobytes()


def fill(writer: StoreWriter) -> None:
    """Write every part."""
    for x in LAYERS:
        for e in range(x.experts):
            writer.write_record(x.index, e, record(x.index, e), {"note": [x.index, e]})
    for t in DENSE:
        data = dense_bytes(t)
        writer.write_dense(t.name, (memoryview(data[i : i + 7]) for i in range(0, len(data), 7)))


def make(path: Path, copies: tuple[Path, ...] = ()) -> Path:
    """The whole store."""
    from dataclasses import replace

    with StoreWriter(path, "identity", LAYERS, DENSE) as writer:
        fill(writer)
        return writer.finish(replace(DESCRIPTION, copies=copies))


def read(store: Store, layer: int, expert: int, parts: Sequence[int] = range(6)) -> bytes:
    """Parts of a record, through page-aligned memory of their own."""
    memory = [mmap.mmap(-1, store.spec(layer, expert).layout.parts[index].nbytes) for index in parts]
    store.read_parts(layer, expert, parts, [memoryview(m) for m in memory])
    return b"".join(bytes(m) for m in memory)
