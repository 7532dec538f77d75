"""Which experts lie on the card, and where, as kernels look it up."""

from __future__ import annotations

import ctypes

from engine.cuda.device import CardDevice
from engine.cuda.expert_kernels import CardExpert
from engine.kernels.native import EXPERT


class ExpertTable:
    """A record of every expert of a model, on the card; one that is not there has no planes.

    Used by the thread that runs the model.
    """

    def __init__(self, device: CardDevice, experts: int) -> None:
        """experts: of all layers together. Raises CardError."""
        self._device, nbytes = device, experts * EXPERT.size
        self._pinned, self._there = device.pinned(nbytes), device.memory(nbytes)
        ctypes.memset(self._pinned, 0, nbytes)
        self._records = (ctypes.c_char * nbytes).from_address(self._pinned)
        self._changed = range(experts)

    def address(self, number: int) -> int:
        """Where the record of the expert with this number lies on the card; the next follows."""
        return self._there + number * EXPERT.size

    def set(self, number: int, expert: CardExpert | None) -> None:
        """Note where an expert lies; None: nowhere. Nothing that `send` began may be under way."""
        addresses, planes = ((0, 0, 0, 0), 0) if expert is None else expert
        EXPERT.pack_into(self._records, number * EXPERT.size, *addresses, planes, 0, 0, 0)
        changed = self._changed
        low, high = (changed.start, changed.stop) if changed else (number, number)
        self._changed = range(min(low, number), max(high, number + 1))

    def send(self) -> None:
        """What has changed is there for kernels that are launched from now on. Raises CardError."""
        if self._changed:
            start, nbytes = self._changed.start * EXPERT.size, len(self._changed) * EXPERT.size
            driver, stream = self._device.driver, self._device.compute
            driver.copy_in(self._there + start, self._pinned + start, nbytes, stream)
            self._changed = range(0)
