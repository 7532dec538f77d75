"""Reads under way, by expert: whoever asked for one, whoever needs it takes it over."""

from __future__ import annotations

import threading
import time
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from engine.errors import Kind, UnderhillError
from engine.experts.entry import Lease
from engine.experts.keys import ExpertKey
from engine.experts.loader import Loader
from engine.experts.observer import Observer
from engine.experts.request import Request, Urgency
from engine.experts.telemetry import Telemetry
from engine.experts.two_level import Arrival, TieredCache
from engine.translatable import msg


class Coming(NamedTuple):
    """One expert on its way. tier: what it will be."""

    key: ExpertKey
    tier: int
    arrival: Arrival
    request: Request


class Arrivals:
    """See UnderWay."""

    def __init__(self, cache: TieredCache, loader: Loader, telemetry: Telemetry) -> None:
        self._cache = cache
        self._loader = loader
        self._telemetry = telemetry
        self.failed = 0  # reads that ended in an error while nobody waited for them
        self.turn = threading.RLock()
        self._open: dict[ExpertKey, Coming] = {}
        self.observer: Observer | None = None

    def coming(self, key: ExpertKey) -> int:
        """See UnderWay."""
        found = self._open.get(key)
        return 0 if found is None else found.tier

    @property
    def under_way(self) -> bool:
        """See UnderWay."""
        return bool(self._open)

    def take_over(self, key: ExpertKey) -> bool:
        """See UnderWay."""
        coming = self._open.get(key)
        if coming is not None:
            self._loader.demand(coming.request)
        return coming is not None

    def demand(self, key: ExpertKey, tier: int) -> bool:
        """See UnderWay."""
        return self._start(key, tier, Urgency.DEMAND)

    def expect(self, key: ExpertKey, tier: int, urgency: Urgency = Urgency.PREFETCH) -> bool:
        """See UnderWay."""
        with self.turn:
            if key in self._open:
                return False
            try:
                return self._start(key, tier, urgency)
            except UnderhillError as e:
                if e.kind is not Kind.OUT_OF_MEMORY:
                    raise
                return False  # whoever really needs it will say so

    def expect_all(self, wanted: Sequence[tuple[ExpertKey, int]], room: int) -> list[tuple[ExpertKey, int]]:
        """See UnderWay."""
        begun = []
        for key, tier in wanted:
            if key in self._open:
                continue
            if room <= 0 or not self.expect(key, tier):
                break
            nbytes = self._open[key].request.nbytes
            begun.append((key, nbytes))
            room -= nbytes
        return begun

    def brought(self, key: ExpertKey) -> int:
        """See UnderWay."""
        request = self._open[key].request
        return request.nbytes - self._loader.left(request)

    def cancel(self, key: ExpertKey) -> int:
        """See UnderWay."""
        with self.turn:
            brought = self.brought(key)
            self._loader.cancel(self._open[key].request)
            return brought

    def _start(self, key: ExpertKey, tier: int, urgency: Urgency) -> bool:
        arrival = self._cache.reserve(key, tier)
        if arrival is None:
            return False
        parts = arrival.reservation.parts
        try:
            request = self._loader.submit(key, parts, arrival.views, urgency, arrival.addresses)
        except BaseException:
            self._cache.abandon(arrival)
            raise
        self._open[key] = Coming(key, tier, arrival, request)
        return True

    def make_way(self) -> bool:
        """See UnderWay."""
        with self.turn:
            if not self._open:
                return False
            self.abandon(tuple(self._open))
            return True

    def take(self, awaited: Collection[ExpertKey]) -> list[tuple[ExpertKey, Lease | None]]:
        """See UnderWay."""
        while any(key in self._open for key in awaited):
            taken = self._end(self._wait(), awaited)
            if taken:
                return taken
        raise UnderhillError(Kind.OUT_OF_MEMORY, msg("The expert cache is held by something else."), msg("Try again."))

    def come(self, awaited: Collection[ExpertKey]) -> list[tuple[ExpertKey, Lease | None]]:
        """See UnderWay."""
        return self._end(self._loader.ended(), awaited)

    def settle(self) -> None:
        """See UnderWay."""
        if self._open:
            with self.turn:
                self._end(self._loader.ended(), ())

    def abandon(self, keys: Iterable[ExpertKey]) -> None:
        """See UnderWay."""
        with self.turn:
            left = [self._open[key] for key in keys if key in self._open]
            for coming in left:
                self._loader.cancel(coming.request)
            while any(coming.key in self._open for coming in left):
                self._end(self._wait(), ())

    def _wait(self) -> list[Request]:
        """Wait for one read to end; all that have."""
        ended = self._loader.ended()
        if not ended:
            start = time.perf_counter()
            ended = self._loader.wait()
            end = time.perf_counter()
            self._telemetry.waited += end - start
            if self.observer is not None:
                self.observer.waited(ended[0].key.layer, start, end)
        return ended

    def _end(self, requests: Sequence[Request], awaited: Collection[ExpertKey]) -> list[tuple[ExpertKey, Lease | None]]:
        """Each gets its place in the cache, or gives its room back. Returns those awaited; raises as `take` does."""
        ended = [self._open.pop(request.key) for request in requests]
        taken: list[tuple[ExpertKey, Lease | None]] = []
        failure: UnderhillError | None = None
        for coming in ended:
            lease: Lease | None = None
            error = coming.request.error
            if error is None:
                lease = self._placed(coming, coming.key in awaited)
            else:  # not raised without need: its traceback would keep alive what every caller holds, contexts too
                self._cache.abandon(coming.arrival)
                if error.kind is not Kind.CANCELLED:
                    if coming.key in awaited:
                        failure = failure or error
                    else:
                        self.failed += 1
            if coming.key in awaited:
                taken.append((coming.key, lease))
        if failure is not None:
            for _, lease in taken:
                if lease is not None:
                    lease.release()
            raise failure
        return taken

    def _placed(self, coming: Coming, awaited: bool) -> Lease | None:
        """A lease, if somebody awaits it."""
        self._telemetry.read(coming.request.nbytes, coming.request.seconds)
        self._telemetry.repaired += coming.request.urgency is Urgency.REPAIR  # unless it was taken over
        if awaited:
            return self._cache.commit(coming.arrival)
        self._cache.place(coming.arrival)
        return None
