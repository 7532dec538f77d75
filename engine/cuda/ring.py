"""A ring of pinned buffers through which bytes cross to the card while others are written."""

from __future__ import annotations

import threading
from collections.abc import Callable

from engine.cuda.device import CardDevice
from engine.cuda.errors import CardError

MOST = 256 << 20  # bytes: systems limit pinned memory, and it is lost to everything else
DEPTH = 8  # buffers: one that is filled, some that cross; fewer where they are large
PAGE = 4096  # bytes that buffers start on, so that the disk may be read into them past the file cache


class PinnedRing:
    """Buffers of one size, each free again once its copy has crossed. For several threads.

    slots: how many there are.
    """

    def __init__(self, device: CardDevice, nbytes: int, most: int = MOST) -> None:
        """nbytes: of the largest thing that crosses at once. Raises CardError where no memory can be pinned."""
        self._device = device
        self.nbytes = -(-nbytes // PAGE) * PAGE
        self.slots = max(2, min(DEPTH, most // self.nbytes))
        start = device.pinned(self.slots * self.nbytes)
        self._at = [start + i * self.nbytes for i in range(self.slots)]
        self._crossed = [device.event() for _ in self._at]
        self._next = 0
        self._lock = threading.Lock()
        self._failed: CardError | None = None

    def send(self, to: int, nbytes: int, fill: Callable[[int], object], done: int) -> None:
        """Copy to the card's address `to`, on its copy stream, what `fill` writes at the address it is given.

        done: an event that is recorded behind the copy. Waits where all buffers are still crossing. Raises CardError,
        and once it has, the same again.
        """
        driver, stream = self._device.driver, self._device.copy
        with self._lock:
            if self._failed is not None:  # a copy may be under way of which no event tells
                raise self._failed
            at, crossed = self._at[self._next], self._crossed[self._next]
            try:
                driver.wait_for(crossed)  # an event that was never recorded counts as reached
                fill(at)
                driver.copy_in(to, at, nbytes, stream)
                driver.record(crossed, stream)
                driver.record(done, stream)
            except CardError as error:
                self._failed = error
                raise
            self._next = (self._next + 1) % self.slots
