"""The missing experts of one layer call: as many on their way as there is room for, the others waiting."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping

from engine.experts.arrivals import Arrivals
from engine.experts.entry import Lease
from engine.experts.keys import ExpertKey


class Demands:
    """tiers: what is missing, each with the tier that it has to be fetched at; read in this order.

    window: reads that may be under way or queued at a time. False once all have been taken. `abandon` at the end of the
    call, whatever became of it.
    """

    def __init__(self, arrivals: Arrivals, tiers: Mapping[ExpertKey, int], window: int) -> None:
        self._arrivals = arrivals
        self._tiers = tiers
        self._window = window
        self._waiting = deque(tiers)
        self._awaited: dict[ExpertKey, None] = {}

    def __bool__(self) -> bool:
        return bool(self._waiting or self._awaited)

    def start(self) -> None:
        """Ask for as many as there is room for now."""
        waiting, awaited = self._waiting, self._awaited
        while waiting and len(awaited) < self._window:
            key = waiting[0]
            if not self._arrivals.demand(key, self._tiers[key]):
                if awaited or not self._arrivals.make_way():
                    return
                continue
            awaited[key] = None
            waiting.popleft()

    def take(self) -> list[Lease]:
        """Wait for one and take all that have come. Raises the UnderhillError of a read that failed."""
        self.start()
        leases: list[Lease] = []
        for key, lease in self._arrivals.take(self._awaited):
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
