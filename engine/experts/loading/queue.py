"""The missing experts of one layer call: as many loads in flight as there is room for, the others waiting."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping

from engine.experts.cache.expert_cache import Lease
from engine.experts.keys import ExpertKey
from engine.experts.loading.pending import Loaded, PendingLoads


class LoadQueue:
    """Loads experts in the order given. False once all have come. `cancel` at the end of the call, whatever happened.

    tiers: what is missing, each with the tier that it has to be fetched at. window: loads that may be in flight at a
    time. has_room: asked before the second and further ones; None: room is made by evicting.
    """

    def __init__(
        self,
        pending: PendingLoads,
        tiers: Mapping[ExpertKey, int],
        window: int,
        has_room: Callable[[ExpertKey, int], bool] | None = None,
    ) -> None:
        self._pending, self._tiers, self._window, self._has_room = pending, tiers, window, has_room
        # What is pending already is taken over now: once it had come, nothing else would keep it from being evicted.
        self._awaited = {key: None for key in tiers if pending.make_urgent(key)}
        self._waiting = deque(key for key in tiers if key not in self._awaited)

    def __bool__(self) -> bool:
        return bool(self._waiting or self._awaited)

    @property
    def waiting(self) -> bool:
        """Whether there was no room to ask for all."""
        return bool(self._waiting)

    def start(self, besides: int = 0) -> None:
        """Ask for as many as there is room for now. besides: that have come and are still leased."""
        waiting, awaited = self._waiting, self._awaited
        while waiting and len(awaited) < self._window:
            key, tier = waiting[0], self._tiers[waiting[0]]
            if (awaited or besides) and self._has_room is not None and not self._has_room(key, tier):
                return
            if not self._pending.demand(key, tier):
                if awaited or not self._pending.cancel_all():
                    return
                continue
            awaited[key] = None
            waiting.popleft()

    def wait(self) -> list[Lease]:
        """Wait for one and lease all that have come. Raises the UnderhillError of a load that failed."""
        self.start()
        return self._leased(self._pending.wait(self._awaited))

    def poll(self) -> list[Lease]:
        """Lease those that have come by now; raises as `wait` does."""
        return self._leased(self._pending.poll(self._awaited)) if self._awaited else []

    def _leased(self, taken: Loaded) -> list[Lease]:
        leases: list[Lease] = []
        for key, lease in taken:
            del self._awaited[key]
            if lease is not None and lease.tier >= self._tiers[key]:
                leases.append(lease)
                continue
            self._waiting.appendleft(key)  # it was pending when it was asked for, but not at this tier
            if lease is not None:
                lease.release()
        return leases

    def cancel(self) -> None:
        """Cancel what is still in flight, after an error."""
        if self._awaited:
            self._pending.cancel(tuple(self._awaited))
