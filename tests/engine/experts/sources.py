"""An expert source in memory, read by native readers as a store is, with failures and delays at will."""

from __future__ import annotations

import ctypes
import errno
import os
import threading
import zlib
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import torch

from engine.experts.keys import ExpertKey
from engine.experts.loading.loader import Loader
from engine.experts.runtime import ExpertRuntime, open_runtime
from engine.kernels.activation import Activation
from engine.kernels.call import Parts
from engine.native.io_pool import ReadHook
from engine.record.layout import ALIGN, ExpertSpec
from engine.store.manifest import Source
from engine.store.reader import Extent
from engine.store.writer import Description, LayerShape, StoreWriter
from tests.engine.kernels.records import random_parts


class _File:
    direct = True
    stride = ALIGN
    scatters = True

    def __init__(self, source: MemorySource, key: ExpertKey, parts: tuple[int, ...], handle: int) -> None:
        self.handle = handle
        self.size = sum(source.spec_.layout.parts[index].nbytes for index in parts)
        self.read = partial(source.read, key, parts)

    def close(self) -> None:
        pass


class MemorySource:
    """Random experts. failing: keys whose reads the disk refuses; gate: reads wait for it; reads: (key, parts)."""

    def __init__(self, spec: ExpertSpec, layers: Sequence[int] = (0, 2), experts: int = 6) -> None:
        self.spec_ = spec
        self.layers = tuple(layers)
        self._experts = experts
        self.records = {
            ExpertKey(layer, e): random_parts(spec, 1000 * layer + e) for layer in layers for e in range(experts)
        }
        self.crcs = {
            key: {index: zlib.crc32(p.numpy()) for index, p in parts.items()} for key, parts in self.records.items()
        }
        self.failing: set[ExpertKey] = set()
        self.gate = threading.Event()
        self.gate.set()
        self.started = threading.Semaphore(0)
        self.reads: list[tuple[ExpertKey, tuple[int, ...]]] = []
        self._lock = threading.Lock()
        self._files: list[_File] = []

    def loader(self, readers: int = 1) -> Loader:
        """Native readers, which ask this for their bytes."""

        def read(file: int, offset: int, slices: Any, n: int, error: Any) -> int:
            arrays = [(ctypes.c_uint8 * slices[i].nbytes).from_address(slices[i].to) for i in range(n)]
            try:
                return self._files[file].read(offset, [memoryview(array).cast("B") for array in arrays])
            except OSError as cause:
                error[0] = cause.errno
                return -1

        return Loader(self, readers, read_hook=ReadHook(read))

    def open(self, experts: float, readers: int = 1, **options: Any) -> ExpertRuntime:
        """A runtime with room for so many whole experts."""
        capacity = int(experts * self.expert_bytes)
        return open_runtime(self, Activation(), capacity, loader=self.loader(readers), **options)

    def experts(self, layer: int) -> int:
        return self._experts

    def spec(self, layer: int, expert: int = 0) -> ExpertSpec:
        return self.spec_

    @property
    def expert_bytes(self) -> int:
        """Of one expert at its finest."""
        return self.spec_.layout.bytes_for(self.spec_.top)

    def extents(self, layer: int, expert: int, parts: Sequence[int]) -> list[Extent]:
        """As if they all lay in a row, in a file of their own."""
        nbytes = sum(self.spec_.layout.parts[index].nbytes for index in parts)
        file = _File(self, ExpertKey(layer, expert), tuple(parts), len(self._files))
        self._files.append(file)
        return [Extent(file, 0, nbytes, tuple(parts))]

    def checksums(self, layer: int, expert: int, parts: Sequence[int]) -> list[int]:
        return [self.crcs[ExpertKey(layer, expert)][index] for index in parts]

    def read(self, key: ExpertKey, parts: tuple[int, ...], offset: int, buffers: Sequence[memoryview]) -> int:
        """What a file does, from byte `offset` of these parts on."""
        with self._lock:
            if not offset:
                self.reads.append((key, parts))
        self.started.release()
        self.gate.wait()
        stored = b"".join(self.records[key][index].numpy().tobytes() for index in parts)
        if key in self.failing:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        done = 0
        for buffer in buffers:
            buffer[:] = stored[offset + done : offset + done + buffer.nbytes]
            done += buffer.nbytes
        return done

    def parts(self, layer: int, tiers: dict[int, int]) -> dict[int, Parts]:
        """Experts of a layer for the reference, each at its tier."""
        return {e: Parts(self.spec_, self.records[ExpertKey(layer, e)], tier) for e, tier in tiers.items()}

    def routing(self, tokens: int, k: int, seed: int = 0) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """x [T, H], ids [T, K], weights [T, K] summing to 1."""
        random = torch.Generator().manual_seed(seed)
        x = torch.randn(tokens, self.spec_.hidden, generator=random)
        ids = torch.stack([torch.randperm(self._experts, generator=random)[:k] for _ in range(tokens)])
        weights = torch.rand(tokens, k, generator=random) + 0.05
        return x, ids, weights / weights.sum(dim=1, keepdim=True)


def stored(source: MemorySource, folder: Path) -> Path:
    """A store of the source's records, written there."""
    layers = [LayerShape(layer, source.experts(layer), source.spec(layer, 0)) for layer in source.layers]
    with StoreWriter(folder, "identity", layers, ()) as writer:
        for (layer, expert), parts in source.records.items():
            writer.write_record(layer, expert, torch.cat(list(parts.values())).numpy(), {})
        return writer.finish(Description(Source("", "", "", ()), "test", {}, (), ()))
