"""How fast this machine's memory can be read at all, by the same threads, from pages as large as weights lie in."""

from __future__ import annotations

import time

from engine.kernels.memory import huge
from engine.kernels.native import NativeKernel

SIZE = 1 << 30  # far beyond any cache
PART = 256 << 20  # read in one go


class Roof:
    """Memory to read, and threads to read it with."""

    def __init__(self, threads: int) -> None:
        self._kernel = NativeKernel(threads)
        self._memory = huge(SIZE).fill_(1)  # written, or it would all be the one page of zeros
        self._at = 0

    def measure(self) -> float:
        """Bytes per second, over the next part."""
        part = self._memory[self._at : self._at + PART]
        self._at = (self._at + PART) % SIZE
        start = time.perf_counter()
        self._kernel.read(part)
        return PART / (time.perf_counter() - start)

    @property
    def isa(self) -> str:
        """Instruction set in use."""
        return self._kernel.isa

    def close(self) -> None:
        """Release the threads."""
        self._kernel.close()
