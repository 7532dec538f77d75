"""How fast the disk under a store and memory can be read, looked at again and again along a run."""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, astuple, dataclass
from pathlib import Path
from statistics import median
from typing import Any

from engine.kernels.native import NativeKernel
from engine.native.memory import huge
from engine.store.reader import load_manifest
from tests.benchmarks.blockdevice import DiskRoof
from tests.benchmarks.ours import Turn

SIZE = 1 << 30  # far beyond any cache
PART = 256 << 20  # read in one go
PASSES = 8  # over parts of memory: twice over all of it


class Roof:
    """Memory to read, from pages as large as weights lie in, and threads to read it with."""

    def __init__(self, threads: int) -> None:
        self._kernel = NativeKernel(threads)
        self._memory = huge(SIZE).fill_(1)  # written, or it would all be the one page of zeros
        self._at = 0

    def measure(self, nbytes: int = PART) -> float:
        """Bytes per second, over the next so many."""
        part = self._memory[self._at : self._at + nbytes]
        self._at = (self._at + nbytes) % SIZE
        start = time.perf_counter()
        self._kernel.read(part)
        return nbytes / (time.perf_counter() - start)

    @property
    def isa(self) -> str:
        """Instruction set in use."""
        return self._kernel.isa

    def close(self) -> None:
        """Release the threads."""
        self._kernel.close()


@dataclass(frozen=True)
class Rates:
    """Bytes per second of disk and memory, each by itself, and beside the other while that is read, too."""

    disk: float
    memory: float
    disk_beside: float
    memory_beside: float

    def floor(self, missed: float, used: float) -> float:
        """Seconds that so many bytes of disk and of memory take at least, were neither to slow the other."""
        return max(missed / self.disk, used / self.memory)

    def together(self, missed: float, used: float) -> float:
        """The same as they do slow each other: both at once until one of them is through, then the other alone.

        Or one after the other, where that is faster.
        """
        both = min(missed / self.disk_beside, used / self.memory_beside)
        rest = max((missed - both * self.disk_beside) / self.disk, (used - both * self.memory_beside) / self.memory)
        return min(both + rest, missed / self.disk + used / self.memory)


def middle(taken: Sequence[Rates]) -> Rates:
    """The median of each."""
    return Rates(*(median(rates) for rates in zip(*map(astuple, taken))))


def floors(turns: Sequence[Turn], rates: Sequence[Rates]) -> dict[str, float]:
    """What turns took at least, seconds a token, and what share of the time taken that is; by the rates near each."""
    found = {"floor": [r.floor(*t.moved) for t, r in zip(turns, rates, strict=True)],
             "together": [r.together(*t.moved) for t, r in zip(turns, rates, strict=True)]}  # fmt: skip
    shares = {name: [least / t.per_token for least, t in zip(all_, turns)] for name, all_ in found.items()}
    return {
        **{name: round(median(all_), 5) for name, all_ in found.items()},
        **{f"of_{name}": round(median(all_), 3) for name, all_ in shares.items()},
    }


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
        self.taken.append(Rates(self._disk.measure(), memory, *self._beside()))

    def _beside(self) -> tuple[float, float]:
        """Of disk and of memory, both read at once."""
        with ThreadPoolExecutor(1) as other:
            start, passes = time.perf_counter(), 0
            disk = other.submit(self._disk.measure)
            while not disk.done():
                self._memory.measure()
                passes += 1
            return disk.result(), passes * PART / (time.perf_counter() - start)

    @property
    def isa(self) -> str:
        """Instruction set that reads memory."""
        return self._memory.isa

    def close(self) -> None:
        """Release everything."""
        self._memory.close()

    def report(self) -> dict[str, Any]:
        """GB/s of all, and how the disk was read."""
        piece, readers = self._disk.way
        rates = {name: round(rate / 1e9, 3) for name, rate in asdict(self.medians()).items()}
        return {**rates, "bytes": piece, "readers": readers}

    def medians(self) -> Rates:
        """Of all."""
        return middle(self.taken)
