"""The memory of a card that is not there: addresses, allocations, and which bytes were ever written to."""

from __future__ import annotations

import numpy as np

BASE = 0x7F5A_0000_0000  # no address of this process, and none of another space
PAGE = 1024  # PAGE of machine.h
ALIGN, GAP = 256, 256  # as cuMemAlloc aligns; dead bytes behind each allocation
DEAD, FRESH, WRITTEN = 0, 1, 3  # what a byte is, as in machine.h
READ, WROTE = 0, 1


class DeviceMemory:
    """`capacity` bytes. Reads of bytes that were never written, and what is outside allocations, are found by launches.

    An address has no more alignment than a card gives. Not thread-safe.
    """

    def __init__(self, capacity: int = 64 << 20) -> None:
        # What is kept of a byte takes several; but zeros are mapped, and had only where they are touched.
        size = -(-capacity // PAGE) * PAGE + PAGE
        self.capacity, self.used, self.launches = capacity, 0, 0
        self.bytes, self.state = np.zeros(size, np.uint8), np.zeros(size, np.uint8)
        self.stamps = tuple(np.zeros(size // 4, np.uint64) for _ in (READ, WROTE))
        self.page_stamps = tuple(np.zeros(size // PAGE, np.uint32) for _ in (READ, WROTE))
        self.pages = tuple(np.zeros(size // PAGE, np.int32) for _ in (READ, WROTE))
        self._sizes: dict[int, int] = {}
        self._free = [(ALIGN, size - ALIGN)]  # (offset, bytes), by offset; no allocation begins at BASE itself

    def alloc(self, nbytes: int) -> int:
        """The address of nbytes fresh bytes, a multiple of 256. Raises MemoryError, ValueError for none."""
        if nbytes <= 0:
            raise ValueError("an allocation has at least one byte")
        needed = -(-nbytes // ALIGN) * ALIGN + GAP
        index = next((i for i, (_, there) in enumerate(self._free) if there >= needed), None)
        if index is None:
            raise MemoryError(f"{nbytes} bytes: {self.capacity - self.used} of {self.capacity} are free")
        at, there = self._free[index]
        self._free[index : index + 1] = [(at + needed, there - needed)] if there > needed else []
        self.bytes[at : at + nbytes] = 0xA5
        self.state[at : at + nbytes] = FRESH
        self._sizes[BASE + at] = nbytes
        self.used += nbytes
        return BASE + at

    def free(self, address: int) -> None:
        """Give an allocation back. Raises ValueError for what is none."""
        if address not in self._sizes:
            raise ValueError(f"{address:#x} was not allocated, or given back before")
        nbytes, at = self._sizes.pop(address), address - BASE
        self.state[at : at + nbytes] = DEAD
        self.used -= nbytes
        self._free.append((at, -(-nbytes // ALIGN) * ALIGN + GAP))
        self._free.sort()
        merged: list[tuple[int, int]] = []
        for offset, there in self._free:
            if merged and merged[-1][0] + merged[-1][1] == offset:
                merged[-1] = (merged[-1][0], merged[-1][1] + there)
            else:
                merged.append((offset, there))
        self._free = merged

    def size_of(self, address: int) -> int:
        """Bytes of the allocation that begins there."""
        return self._sizes[address]

    def write(self, address: int, data: bytes | bytearray | memoryview) -> None:
        """Copy to the card. Raises ValueError outside allocations."""
        raw = np.frombuffer(data, np.uint8)
        at = self._inside(address, len(raw))
        self.bytes[at : at + len(raw)] = raw
        self.state[at : at + len(raw)] = WRITTEN

    def read(self, address: int, nbytes: int) -> bytes:
        """Copy from the card, written to or not. Raises ValueError outside allocations."""
        at = self._inside(address, nbytes)
        return self.bytes[at : at + nbytes].tobytes()

    def is_written(self, address: int, nbytes: int) -> bool:
        """Whether every byte was written to since it was allocated. Raises ValueError outside allocations."""
        at = self._inside(address, nbytes)
        return bool((self.state[at : at + nbytes] == WRITTEN).all())

    def _inside(self, address: int, nbytes: int) -> int:
        at = address - BASE
        if at < 0 or at + nbytes > len(self.state) or not self.state[at : at + nbytes].all():
            raise ValueError(f"{nbytes} bytes at {address:#x} are not inside one allocation")
        return at

    def touched(self, which: int, count: int) -> list[tuple[int, int]]:
        """What the last launch read (READ) or wrote (WROTE), as (address, bytes) in ascending order, to 4 bytes.

        count: pages that it touched so.
        """
        pages = np.sort(self.pages[which][:count]).astype(np.int64)
        words = PAGE // 4
        hit = np.zeros((len(pages), words + 2), np.int8)
        hit[:, 1:-1] = (self.stamps[which].reshape(-1, words)[pages] >> np.uint64(44)) == self.launches
        edges = np.diff(hit)
        first, end = ((at := np.nonzero(edges == sign))[1] + words * pages[at[0]] for sign in (1, -1))
        joined = first[1:] == end[:-1]  # over the edge of a page
        first, end = first[np.append(True, ~joined)[: len(first)]], end[np.append(~joined, True)[: len(end)]]
        return list(zip((BASE + 4 * first).tolist(), (4 * (end - first)).tolist(), strict=True))
