"""A thread that brings experts to the card beside the one that runs the model."""

from __future__ import annotations

import ctypes
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from engine.cuda.device import CardDevice
from engine.cuda.errors import CardError
from engine.cuda.ring import PinnedRing

RATE = 4e9  # bytes a second from memory to the card, by way of pinned memory, until it is measured
LEARN = 0.1  # weight of the last parcel in that
TRIES = 3  # of which the last counts: by then all memory was touched


@dataclass(eq=False)
class Parcel:
    """What is to cross: see PinnedRing.send. ended: it is there, or error says why not, or the courier is closed."""

    to: int
    nbytes: int
    fill: Callable[[int], object]
    crossed: int
    ended: threading.Event = field(default_factory=threading.Event)
    error: CardError | None = None


class Courier:
    """Brings parcels one after the other. rate: bytes a second, as seen. waiting: those that it has not begun.

    For the thread that runs the model. The thread of its own begins with the first parcel.
    """

    def __init__(self, device: CardDevice, ring: PinnedRing) -> None:
        self._device, self._ring = device, ring
        self.rate = RATE
        self.waiting: deque[Parcel] = deque()
        self._changed = threading.Condition()
        self._closed = False
        self._thread: threading.Thread | None = None
        device.on_close(self.close)  # before the pinned memory that it writes to is given back

    def measure(self, to: int, nbytes: int) -> None:
        """See how fast it is, from this thread. to: so many bytes of the card that nobody uses. Raises CardError."""
        source, crossed = ctypes.create_string_buffer(nbytes), self._device.event()
        for _ in range(TRIES):
            parcel = Parcel(to, nbytes, lambda host: ctypes.memmove(host, source, nbytes), crossed)
            self._bring(parcel, 1.0)
            if parcel.error is not None:
                raise parcel.error

    def submit(self, parcel: Parcel) -> None:
        """Bring it, behind those that were submitted before."""
        with self._changed:
            self.waiting.append(parcel)
            self._changed.notify()
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="card-courier", daemon=True)
            self._thread.start()

    def give_up(self, parcel: Parcel) -> bool:
        """Leave it; False: it is on its way already, or there."""
        with self._changed:
            if parcel not in self.waiting:
                return False
            self.waiting.remove(parcel)
            return True

    def close(self) -> None:
        """Bring nothing more; what is on its way ends first. Safe to call twice."""
        with self._changed:
            self._closed = True
            while self.waiting:
                self.waiting.popleft().ended.set()
            self._changed.notify()
        if self._thread is not None:
            self._thread.join()

    def _next(self) -> Parcel | None:
        with self._changed:
            self._changed.wait_for(lambda: self._closed or self.waiting)
            return None if self._closed else self.waiting.popleft()

    def _run(self) -> None:
        while (parcel := self._next()) is not None:
            self._bring(parcel, LEARN)

    def _bring(self, parcel: Parcel, weight: float) -> None:
        """weight: of what is seen now in the rate."""
        start = time.perf_counter()
        try:
            self._device.use()
            self._ring.send(parcel.to, parcel.nbytes, parcel.fill, parcel.crossed)
            self._device.driver.wait_for(parcel.crossed)
        except CardError as error:
            parcel.error = error
        else:
            self.rate += weight * (parcel.nbytes / max(time.perf_counter() - start, 1e-9) - self.rate)
        parcel.ended.set()
