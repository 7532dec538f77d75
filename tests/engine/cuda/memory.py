"""The simulated card's memory: every access is checked."""

from __future__ import annotations

import numpy as np

BASE = 0x7F00_0000_0000  # where cards of today have their memory; far from every host address
ALIGN = 256
Range = tuple[int, int]  # address, bytes
NOTHING: tuple[list[Range], list[Range]] = ([], [])


class Fault(Exception):
    """What a real card would end the context for, or what would come out wrong there some day."""


class CardMemory:
    """Bytes of a card. capacity: how many; allocations are by first fit, so that freed addresses come again."""

    def __init__(self, capacity: int) -> None:
        self.capacity, self.used = capacity, 0
        self._bytes = np.zeros(capacity, np.uint8)
        self._written = np.zeros(capacity, bool)
        self._blocks: dict[int, int] = {}  # bytes by address

    def alloc(self, nbytes: int) -> int:
        """The address of so many bytes. Raises MemoryError where no stretch is long enough."""
        wanted, at = -(-nbytes // ALIGN) * ALIGN, BASE
        for address in sorted(self._blocks):
            if address - at >= wanted:
                break
            at = address + self._blocks[address]
        if at + wanted > BASE + self.capacity:
            raise MemoryError
        self._blocks[at] = wanted
        self.used += wanted
        self._written[at - BASE : at - BASE + wanted] = False
        self._bytes[at - BASE : at - BASE + wanted] = 0xA5  # nothing that anyone may count on
        return at

    def free(self, address: int) -> None:
        """Faults for what is no allocation."""
        if address not in self._blocks:
            raise Fault(f"{address:#x} was freed and is not allocated")
        self.used -= self._blocks.pop(address)

    @property
    def blocks(self) -> dict[int, int]:
        """What is allocated: bytes by address."""
        return dict(self._blocks)

    def read(self, address: int, nbytes: int) -> bytes:
        """Bytes that were written before."""
        at = self._within(address, nbytes)
        if not self._written[at : at + nbytes].all():
            raise Fault(f"{nbytes} bytes at {address:#x} are read, and some were never written")
        return self._bytes[at : at + nbytes].tobytes()

    def write(self, address: int, data: bytes) -> None:
        """Bytes to be read later."""
        at = self._within(address, len(data))
        self._bytes[at : at + len(data)] = np.frombuffer(data, np.uint8)
        self._written[at : at + len(data)] = True

    def _within(self, address: int, nbytes: int) -> int:
        for start, size in self._blocks.items():
            if start <= address and address + nbytes <= start + size:
                return address - BASE
        raise Fault(f"{nbytes} bytes at {address:#x} are not within one allocation")
