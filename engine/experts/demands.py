"""The missing experts of one layer call: as many on their way as there is room for, the others waiting."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence

from engine.experts.entry import Lease
from engine.experts.keys import ExpertKey
from engine.experts.under_way import UnderWay


class Demands:
    """tiers: what is missing, each with the tier that it has to be fetched at; read in this order.

    window: reads that may be under way or queued at a time. has_room: asked before the second and further ones; None:
    others leave for them. False once all have been taken. `abandon` at the end of the call, whatever became of it.
    """

    def __init__(
        self,
        arrivals: UnderWay,
        tiers: Mapping[ExpertKey, int],
        window: int,
        has_room: Callable[[ExpertKey, int], bool] | None = None,
    ) -> None:
        self._arrivals = arrivals
        self._tiers = tiers
        self._window = window
        self._has_room = has_room
        # What is on its way already is taken over now: nobody else would hold on to it once it has come.
        self._awaited = {key: None for key in tiers if arrivals.take_over(key)}
        self._waiting = deque(key for key in tiers if key not in self._awaited)

    def __bool__(self) -> bool:
        return bool(self._waiting or self._awaited)

    @property
    def waiting(self) -> bool:
        """Whether there was no room to ask for all."""
        return bool(self._waiting)

    def start(self, besides: int = 0) -> None:
        """Ask for as many as there is room for now. besides: that have come and are still held."""
        waiting, awaited = self._waiting, self._awaited
        while waiting and len(awaited) < self._window:
            key, tier = waiting[0], self._tiers[waiting[0]]
            if (awaited or besides) and self._has_room is not None and not self._has_room(key, tier):
                return
            if not self._arrivals.demand(key, tier):
                if awaited or not self._arrivals.make_way():
                    return
                continue
            awaited[key] = None
            waiting.popleft()

    def take(self) -> list[Lease]:
        """Wait for one and take all that have come. Raises the UnderhillError of a read that failed."""
        self.start()
        return self._held(self._arrivals.take(self._awaited))

    def come(self) -> list[Lease]:
        """Those that have come by now; raises as `take` does."""
        return self._held(self._arrivals.come(self._awaited)) if self._awaited else []

    def _held(self, taken: Sequence[tuple[ExpertKey, Lease | None]]) -> list[Lease]:
        leases: list[Lease] = []
        for key, lease in taken:
            del self._awaited[key]
            if lease is not None and lease.tier >= self._tiers[key]:
                leases.append(lease)
                continue
            self._waiting.appendleft(key)  # it was on its way when it was asked for, but not to this tier
            if lease is not None:
                lease.release()
        return leases

    def abandon(self) -> None:
        """End what is still under way, after an error."""
        if self._awaited:
            self._arrivals.abandon(tuple(self._awaited))
