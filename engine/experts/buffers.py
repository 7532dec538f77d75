"""Memory for parts under one byte ceiling: page-aligned buffers, handed out, taken back, and cut anew where need be."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence

import torch
from torch import Tensor

from engine.errors import Kind, UnderhillError
from engine.kernels.memory import Arena
from engine.translatable import msg

_numbers = itertools.count()


class Block:
    """Memory as it came from the system, and what of it nobody uses, by its first byte and by its end.

    number: the later it came, the higher.
    """

    __slots__ = ("ends", "nbytes", "number", "starts", "tensor", "view")

    def __init__(self, tensor: Tensor, view: memoryview | None) -> None:
        self.tensor, self.view = tensor, view
        self.nbytes: int = tensor.numel()
        self.number = next(_numbers)
        self.starts: dict[int, Buffer] = {}
        self.ends: dict[int, Buffer] = {}

    def cut(self, start: int, end: int) -> Buffer:
        """A part of it."""
        return Buffer(self.tensor[start:end], None if self.view is None else self.view[start:end], self, start)


class Buffer:
    """Room for one part. view: the same bytes for a reader to fill; None where the disk cannot read into it.

    nbytes: its length. address: where it is, in whatever memory. block, start: what it was cut from, and where.
    """

    __slots__ = ("address", "block", "nbytes", "start", "tensor", "view")

    def __init__(self, tensor: Tensor, view: memoryview | None, block: Block | None = None, start: int = 0) -> None:
        self.tensor, self.view = tensor, view
        self.nbytes: int = tensor.numel()
        self.address: int = tensor.data_ptr()
        self.block = block or Block(tensor, view)
        self.start = start


Allocate = Callable[[int], Buffer]
IDLE = 50  # one part in so many of the capacity may lie idle in lengths that nobody asks for just now


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

    What comes back waits for whoever asks for that length. Only where much waits in vain is it cut for other lengths,
    and only where that does not help does it go back to the system: memory that comes anew comes in small pages, takes
    long to clear, and longer to read into (measured: half the speed of mixed precisions). After the capacity was
    lowered the total comes down as buffers come back. Not thread-safe: the cache holds its lock.
    """

    def __init__(self, capacity: int, allocate: Allocate | None = None) -> None:
        self.capacity = capacity
        self.in_use = 0
        self.total = 0  # bytes held: in use and waiting
        self.refusals = 0  # of memory, by the system
        self._waiting: dict[int, dict[int, Buffer]] = defaultdict(dict)  # by length and address
        self._allocate = allocate or host_allocator()

    def take(self, sizes: Sequence[int], *, anew: bool = False) -> list[Buffer] | None:
        """Buffers of exactly these lengths; None without room for all. Raises UnderhillError(OUT_OF_MEMORY).

        anew: nobody can leave for them any more, so that waiting ones of other lengths have to do, however few.
        """
        if self.in_use + sum(sizes) > self.capacity:
            return None
        taken: list[Buffer] = []
        try:
            for nbytes in sizes:
                buffer = self._one(nbytes, anew=anew)
                if buffer is None:
                    self.give(taken)
                    return None
                self.in_use += nbytes
                taken.append(buffer)
        except UnderhillError:
            self.give(taken)
            raise
        return taken

    def give(self, buffers: Iterable[Buffer]) -> None:
        """Take buffers back."""
        for buffer in buffers:
            self.in_use -= buffer.nbytes
            self._lay(buffer)
        self.shrink(self.capacity)

    def shrink(self, most: int) -> None:
        """Give memory back to the system, the longest blocks first, until the total is at most `most` or all is in use.

        Of blocks that are partly in use nothing is given back.
        """
        if self.total <= most:
            return
        for nbytes in sorted(self._waiting, reverse=True):
            for buffer in list(self._waiting[nbytes].values()):
                if self.total <= most:
                    return
                if nbytes == buffer.block.nbytes:
                    self._lift(buffer)
                    self.total -= nbytes

    def _one(self, nbytes: int, *, anew: bool) -> Buffer | None:
        if waiting := self._waiting.get(nbytes):
            buffer = next(iter(waiting.values()))
            self._lift(buffer)
            return buffer
        if self.total + nbytes > self.capacity:
            if not anew and self.total - self.in_use <= self.capacity // IDLE:
                return None
            longer = min((length for length, found in self._waiting.items() if length > nbytes and found), default=0)
            if longer:
                return self._cut(next(iter(self._waiting[longer].values())), nbytes)
            self.shrink(self.capacity - nbytes)
            if self.total + nbytes > self.capacity:
                return None
        buffer = self._new(nbytes)
        self.total += nbytes
        return buffer

    def _cut(self, buffer: Buffer, nbytes: int) -> Buffer:
        self._lift(buffer)
        block, start = buffer.block, buffer.start
        self._lay(block.cut(start + nbytes, start + buffer.nbytes))
        return block.cut(start, start + nbytes)

    def _lay(self, buffer: Buffer) -> None:
        """Let it wait, as one with its neighbours that do."""
        block, start, end = buffer.block, buffer.start, buffer.start + buffer.nbytes
        if before := block.ends.get(start):
            self._lift(before)
            start = before.start
        if behind := block.starts.get(end):
            self._lift(behind)
            end += behind.nbytes
        if end - start != buffer.nbytes:
            buffer = block.cut(start, end)
        block.starts[start] = block.ends[end] = buffer
        self._waiting[buffer.nbytes][buffer.address] = buffer

    def _lift(self, buffer: Buffer) -> None:
        """It waits no more."""
        del buffer.block.starts[buffer.start], buffer.block.ends[buffer.start + buffer.nbytes]
        del self._waiting[buffer.nbytes][buffer.address]

    def _new(self, nbytes: int) -> Buffer:
        try:
            return self._allocate(nbytes)
        except (OSError, MemoryError, torch.OutOfMemoryError) as cause:
            self.refusals += 1
            raise UnderhillError(
                Kind.OUT_OF_MEMORY,
                msg("There is no memory left for experts ({nbytes} bytes were refused).", nbytes=f"{nbytes:,}"),
                msg("Lower the expert cache or close other programs."),
            ) from cause
