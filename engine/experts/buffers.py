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
IDLE = 50  # one part in so many of the capacity may wait in buffers of lengths that nobody asks for just now


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

    def take(self, sizes: Sequence[int], *, anew: bool = False) -> list[Buffer] | None:
        """Buffers of exactly these lengths; None without room for all. Raises UnderhillError(OUT_OF_MEMORY).

        anew: waiting buffers of other lengths are freed for them. Else that is done only where many wait, for memory
        that comes from the system in small pages takes long to clear, and long to read into.
        """
        if self.in_use + sum(sizes) > self.capacity or not (anew or self._ready(sizes)):
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

    def _ready(self, sizes: Sequence[int]) -> bool:
        """Whether such buffers wait or can be had without freeing others, or too much waits already."""
        if not self._waiting_bytes or all(len(self._waiting[n]) >= sizes.count(n) for n in sizes):
            return True
        new = sum(max(0, sizes.count(n) - len(self._waiting[n])) * n for n in set(sizes))
        return self.total + new <= self.capacity or self._waiting_bytes > self.capacity // IDLE

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
