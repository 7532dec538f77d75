"""The card's memory for experts: slabs cut into blocks of one size each, reused without asking the driver."""

from __future__ import annotations

from engine.cuda.device import CardDevice
from engine.cuda.errors import OUT_OF_MEMORY, CardError

SLAB = 64 << 20  # bytes asked of the driver at a time: its calls take a tenth of a millisecond and wait for kernels
ALIGN = 256  # bytes that blocks start on: what the card loads at a time, and what cuMemAlloc aligns to


class DeviceArena:
    """Blocks of a card's memory. capacity: most bytes of slabs; it comes down where the card gives no more.

    Experts of a model have one or two sizes, so that a block that is given back fits the next expert; a slab with no
    block in use goes to another size. One thread at a time.
    """

    def __init__(self, device: CardDevice, capacity: int, slab: int = SLAB) -> None:
        self._device, self.slab = device, slab
        self.capacity, self.held, self.used = capacity, 0, 0
        self._free: dict[int, list[int]] = {}  # addresses by size of block
        self._slabs: dict[int, tuple[int, int, int]] = {}  # by address: bytes, size of its blocks, blocks in use
        self._of: dict[int, int] = {}  # the slab of each block
        device.on_close(self.clear)

    def take(self, nbytes: int) -> int | None:
        """The address of a block of at least so many bytes; None where there is no room. Raises CardError when lost."""
        size = -(-nbytes // ALIGN) * ALIGN
        free = self._free.setdefault(size, [])
        if not free and not self._grow(size):
            return None
        address = free.pop()
        slab = self._of[address]
        held, block, used = self._slabs[slab]
        self._slabs[slab] = held, block, used + 1
        self.used += size
        return address

    def give(self, address: int) -> None:
        """A block comes back; nothing that runs may use it any more."""
        slab = self._of[address]
        held, size, used = self._slabs[slab]
        self._slabs[slab] = held, size, used - 1
        self._free[size].append(address)
        self.used -= size

    def slab_of(self, address: int) -> int:
        """The slab that a block is cut from: slabs go back to the card as a whole."""
        return self._of[address]

    def shrink(self, capacity: int) -> None:
        """Have no more than so many bytes from now on; blocks in use stay until they are given back."""
        self.capacity = capacity
        for slab in [slab for slab, (_, _, used) in self._slabs.items() if not used]:
            if self.held <= capacity:
                return
            self._drop(slab)

    def clear(self) -> None:
        """Give every slab back to the card, whatever is in use."""
        for slab in list(self._slabs):
            self._drop(slab)
        self.used = 0

    def _grow(self, size: int) -> bool:
        """Blocks of this size in a new slab, or in one that others have left."""
        nbytes = max(1, self.slab // size) * size
        if self.held + nbytes > self.capacity:
            idle = next((slab for slab, (_, block, used) in self._slabs.items() if not used and block != size), None)
            if idle is not None:
                self._drop(idle)
            nbytes = min(nbytes, (self.capacity - self.held) // size * size)
            if nbytes <= 0:
                return False
        try:
            slab = self._device.driver.allocate(nbytes)
        except CardError as error:
            if error.code != OUT_OF_MEMORY:
                raise
            self.capacity = self.held  # another program has the rest; asking again for each expert would cost each time
            return False
        self._slabs[slab] = nbytes, size, 0
        self.held += nbytes
        blocks = range(slab, slab + nbytes, size)
        self._of.update(dict.fromkeys(blocks, slab))
        self._free[size].extend(reversed(blocks))
        return True

    def _drop(self, slab: int) -> None:
        nbytes, size, _ = self._slabs.pop(slab)
        blocks = range(slab, slab + nbytes, size)
        for block in blocks:
            del self._of[block]
        self._free[size] = [address for address in self._free[size] if not slab <= address < slab + nbytes]
        self.held -= nbytes
        self._device.driver.free(slab)
