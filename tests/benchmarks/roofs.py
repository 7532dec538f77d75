"""How fast the disk under a store and memory can be read, looked at again and again along a run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from engine.store.reader import load_manifest
from tests.benchmarks.blockdevice import DiskRoof
from tests.benchmarks.roof import Roof

PASSES = 8  # over parts of memory: twice over all of it


@dataclass(frozen=True)
class Rates:
    """Bytes per second of disk and memory."""

    disk: float
    memory: float


class Roofs:
    """The disk under the records of a store, and memory, measured between turns."""

    def __init__(self, store: Path, tier: int, threads: int) -> None:
        manifest = load_manifest(store)
        record = manifest.specs[0].layout.bytes_for(tier)
        self._disk = DiskRoof([store / layer.file for layer in manifest.layers], record)
        self._memory = Roof(threads)
        self.taken: list[Rates] = []

    def measure(self) -> None:
        """Once more. Memory that lay idle for minutes is slow at first on a virtual machine: the fastest counts."""
        memory = max(self._memory.measure() for _ in range(PASSES))
        self.taken.append(Rates(self._disk.measure(), memory))

    @property
    def isa(self) -> str:
        """Instruction set that reads memory."""
        return self._memory.isa

    def close(self) -> None:
        """Release everything."""
        self._disk.close()
        self._memory.close()

    def report(self) -> dict[str, Any]:
        """GB/s of both, and how the disk was read."""
        rates, (piece, readers) = self.medians(), self._disk.way
        found = {"disk": round(rates.disk / 1e9, 3), "memory": round(rates.memory / 1e9, 2)}
        return {**found, "bytes": piece, "readers": readers}

    def medians(self) -> Rates:
        """Of both."""
        return Rates(median([r.disk for r in self.taken]), median([r.memory for r in self.taken]))
