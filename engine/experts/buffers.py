"""Memory for parts under one byte ceiling: page-aligned buffers, handed out, taken back and used again by size."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence

import torch
from torch import Tensor

from engine.errors import Kind, UnderhillError
from engine.kernels.memory import Arena


class Buffer:
    """Room for one part. view: the same bytes for a reader to fill; None where the disk cannot read into it.

    nbytes: its length. address: where it is, in whatever memory.
    """

    __slots__ = ("address", "nbytes", "tensor", "view")

    def __init__(self, tensor: Tensor, view: memoryview | None) -> None:
        self.tensor, self.view = tensor, view
        self.nbytes: int = tensor.numel()
        self.address: int = tensor.data_ptr()


Allocate = Callable[[int], Buffer]


def host_allocator() -> Allocate:
    """Buffers cut from huge pages of ordinary memory (see Arena), which the disk reads into."""
    arena = Arena()

    def allocate(nbytes: int) -> Buffer:
        tensor = arena.take(nbytes)
        return Buffer(tensor, tensor.numpy().data)

    return allocate


def allocate_on(device: torch.device | str) -> Allocate:
    """Buffers in the memory of a torch device, which is filled by copying."""

    def allocate(nbytes: int) -> Buffer:
        return Buffer(torch.empty(nbytes, dtype=torch.uint8, device=device), None)

    return allocate


class BufferPool:
    """Buffers whose total, those waiting to be used again included, stays within `capacity` bytes.

    After the capacity was lowered the total comes down as buffers come back. Not thread-safe: the cache holds its lock.
    """

    def __init__(self, capacity: int, allocate: Allocate | None = None) -> None:
        self.capacity = capacity
        self.in_use = 0
        self._waiting: dict[int, list[Buffer]] = defaultdict(list)
        self._waiting_bytes = 0
        self._allocate = allocate or host_allocator()

    @property
    def total(self) -> int:
        """Bytes held: in use and waiting."""
        return self.in_use + self._waiting_bytes

    def take(self, sizes: Sequence[int]) -> list[Buffer] | None:
        """Buffers of exactly these lengths; None without room for all. Raises UnderhillError(OUT_OF_MEMORY)."""
        if self.in_use + sum(sizes) > self.capacity:
            return None
        taken: list[Buffer] = []
        try:
            for nbytes in sizes:
                if waiting := self._waiting[nbytes]:
                    taken.append(waiting.pop())
                    self._waiting_bytes -= nbytes
                else:
                    self.shrink(self.capacity - nbytes)
                    taken.append(self._new(nbytes))
                self.in_use += nbytes
        except UnderhillError:
            self.give(taken)
            raise
        return taken

    def give(self, buffers: Iterable[Buffer]) -> None:
        """Take buffers back."""
        for buffer in buffers:
            nbytes = buffer.nbytes
            self._waiting[nbytes].append(buffer)
            self._waiting_bytes += nbytes
            self.in_use -= nbytes
        self.shrink(self.capacity)

    def shrink(self, most: int) -> None:
        """Free waiting buffers, largest first, until the total is at most `most` or none is left."""
        if self.total <= most:
            return
        for nbytes in sorted(self._waiting, reverse=True):
            while self._waiting[nbytes] and self.total > most:
                self._waiting[nbytes].pop()
                self._waiting_bytes -= nbytes

    def _new(self, nbytes: int) -> Buffer:
        try:
            return self._allocate(nbytes)
        except (OSError, MemoryError, torch.OutOfMemoryError) as cause:
            raise UnderhillError(
                Kind.OUT_OF_MEMORY,
                f"There is no memory left for experts ({nbytes:,} bytes were refused).",
                "Lower the expert cache or close other programs.",
            ) from cause
