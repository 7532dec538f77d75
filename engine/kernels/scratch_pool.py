"""Memory for what many tokens give: had once, and then used again, layer after layer.

As tensors of their own, blocks of a megabyte and more would come anew from the system every time, cleared page by page:
for 500 tokens through 24 layers a gigabyte, 0.7 of 8 seconds of processor time (measured).
"""

from __future__ import annotations

import ctypes
import math
import threading
import weakref

import torch
from torch import Tensor

from engine.native.memory import OWN_MAPPING, huge

FLOAT = 4  # bytes


class ScratchPool:
    """Blocks of memory, each lent to one tensor at a time, until nothing refers to that tensor or a view of it.

    Thread-safe. What is small torch has from the heap.
    """

    def __init__(self) -> None:
        self._free: list[Tensor] = []  # blocks that nobody has
        self._age = 0  # how often they were let go: who was lent one before that does not bring it back
        self._lock = threading.RLock()  # a tensor may be collected wherever this thread is

    def floats(self, *shape: int) -> Tensor:
        """float32 of this shape with whatever is in it, contiguous, in ordinary memory. Raises OSError for none."""
        count = math.prod(shape)
        needed = FLOAT * count
        # Below this glibc serves from the heap, whose pages stay; from there on every block would be a fresh mapping
        # (see the head of this file).
        if needed < OWN_MAPPING:
            return torch.empty(shape, dtype=torch.float32)
        block = self._block(needed)
        # from_address owns nothing: the finalizer's `block` keeps the memory, and it comes back with the last view of
        # the piece.
        piece = (ctypes.c_ubyte * needed).from_address(block.data_ptr())
        weakref.finalize(piece, self._came_back, block, self._age).atexit = False
        return torch.frombuffer(piece, dtype=torch.float32).view(shape)

    def like(self, x: Tensor, *shape: int) -> Tensor:
        """[*shape] of the type of x and where x lies: torch's own, where `floats` would be of another type or place."""
        if x.dtype == torch.float32 and x.device.type == "cpu":
            return self.floats(*shape)
        return torch.empty(shape, dtype=x.dtype, device=x.device)

    def clear(self) -> None:
        """Give back what nobody has; what somebody has goes back once it is let go of."""
        with self._lock:
            self._age += 1
            self._free.clear()

    @property
    def free(self) -> int:
        """Bytes that are kept and that nobody has."""
        with self._lock:
            return sum(block.nbytes for block in self._free)

    def _block(self, needed: int) -> Tensor:
        with self._lock:
            # The smallest that does, so that a large block is left for a large request of the same layer.
            enough = [block for block in self._free if block.nbytes >= needed]
            if enough:
                found = min(enough, key=lambda block: block.nbytes)
                self._free = [block for block in self._free if block is not found]
                return found
            self._free.clear()  # made for fewer tokens than now
        return huge(needed)

    def _came_back(self, block: Tensor, age: int) -> None:
        with self._lock:
            if age == self._age:
                self._free.append(block)


SCRATCH = ScratchPool()
