"""Reads under way that are kept in a native table, with the room that they fill: the twin of Arrivals."""

from __future__ import annotations

import ctypes
import threading
import time
import weakref
from array import array
from collections.abc import Callable, Collection, Iterable, Sequence

from engine.errors import Kind, UnderhillError
from engine.experts.entry import Lease
from engine.experts.keys import ExpertKey
from engine.experts.loader_native import NativeLoader
from engine.experts.native_cache import NativeCache, parts_of
from engine.experts.observer import Observer
from engine.experts.request import Request, Urgency
from engine.experts.telemetry import Telemetry
from engine.experts.two_level import LevelCounts
from engine.kernels.reads import CANCELLED, WHOLE, End
from engine.kernels.shelf import ASKED, AT_ONCE, OUT_OF_MEMORY, STOPPED, THERE, Arrived
from engine.translatable import msg


def held() -> UnderhillError:
    """What to raise where nothing is under way that could be waited for."""
    return UnderhillError(Kind.OUT_OF_MEMORY, msg("The expert cache is held by something else."), msg("Try again."))


def _planner(cache: NativeCache, loader: NativeLoader) -> Callable[[ExpertKey, tuple[int, ...]], None]:
    """Says how experts are read, without keeping the table alive, which keeps this.

    For all like experts of a layer at once, when the first of them is asked for: one by one, between two layers, each
    would take several times as long.
    """
    table = weakref.ref(cache)

    def planned(asked: ExpertKey, parts: tuple[int, ...]) -> None:
        found = table()
        assert found is not None
        spec = found.specs[found.number(asked)]
        assert spec is not None
        sizes = [spec.layout.parts[part].nbytes for part in parts]
        first = found.first(asked.layer)
        for number in range(first, first + found.width):
            if found.specs[number] == spec:
                plan = loader.plan(found.keys[number], parts, sizes)
                found.shelf.planned(number, parts, plan.checksums, plan.runs, plan.chunks)

    return planned


class NativeArrivals:
    """See UnderWay."""

    def __init__(self, cache: NativeCache, counts: LevelCounts, loader: NativeLoader, telemetry: Telemetry) -> None:
        self.failed = 0
        self.turn = threading.RLock()
        self.observer: Observer | None = None
        self._cache, self._counts, self._loader, self._telemetry = cache, counts, loader, telemetry
        self._shelf = cache.shelf
        self._of, self._at = self._shelf.library, self._shelf.address
        self._expected, self._planes = (array("i", [0] * AT_ONCE) for _ in range(2))
        self._sizes = array("q", [0] * AT_ONCE)
        self._demanded = array("i", [0, 0])
        self._shelf.read_with(loader.reads)
        # Where ends of reads come from, where they are written to, and how many there is room for; for `came`.
        self.ends = loader.reads.address, self._shelf.ends, AT_ONCE
        cache.plan(_planner(cache, loader))

    # ---- one by one ----------------------------------------------------------------------------------------------

    def coming(self, key: ExpertKey) -> int:
        """See UnderWay."""
        at = self._cache.number(key)
        return self._cache.tiers[at][self._of.uh_shelf_coming(self._at, at)]

    @property
    def under_way(self) -> bool:
        """See UnderWay."""
        return self._of.uh_shelf_under_way(self._at, None, 0) > 0

    def take_over(self, key: ExpertKey) -> bool:
        """See UnderWay."""
        return bool(self._of.uh_shelf_take_over(self._at, self._cache.number(key)))

    def demand(self, key: ExpertKey, tier: int) -> bool:
        """See UnderWay."""
        return self._fetch(key, tier, Urgency.DEMAND)

    def expect(self, key: ExpertKey, tier: int, urgency: Urgency = Urgency.PREFETCH) -> bool:
        """See UnderWay."""
        with self.turn:
            try:
                return not self.coming(key) and self._fetch(key, tier, urgency)
            except UnderhillError as e:
                if e.kind is not Kind.OUT_OF_MEMORY:
                    raise
                return False  # whoever really needs it will say so

    def expect_all(self, wanted: Sequence[tuple[ExpertKey, int]], room: int) -> list[tuple[ExpertKey, int]]:
        """See UnderWay."""
        cache, n = self._cache, min(len(wanted), AT_ONCE)
        for i, (key, tier) in enumerate(wanted[:n]):
            self._expected[i] = at = cache.number(key)
            self._planes[i] = cache.tiers[at].index(tier)
        with self.turn, cache.lock:
            self._of.uh_shelf_expect(
                self._at, n, self._expected.buffer_info()[0], self._planes.buffer_info()[0], room,
                self._sizes.buffer_info()[0],
            )  # fmt: skip
            self._shelf.check()
        return [(key, nbytes) for (key, _), nbytes in zip(wanted, self._sizes[:n]) if nbytes]

    def brought(self, key: ExpertKey) -> int:
        """See UnderWay."""
        of, at, number = self._of, self._at, self._cache.number(key)
        found: int = of.uh_shelf_size(at, number) - of.uh_shelf_left(at, number)
        return found

    def cancel(self, key: ExpertKey) -> int:
        """See UnderWay."""
        with self.turn:
            brought = self.brought(key)
            self._of.uh_shelf_cancel(self._at, self._cache.number(key))
            return brought

    def _fetch(self, key: ExpertKey, tier: int, urgency: Urgency) -> bool:
        at = self._cache.number(key)
        with self._cache.lock:
            found: int = self._of.uh_shelf_fetch(self._at, at, self._cache.planes(at, tier), urgency)
            self._shelf.check()
        if found == THERE:
            raise RuntimeError(f"{key} at tier {tier} is already there or on its way")
        self._raise(found)
        return found == ASKED

    def _raise(self, found: int) -> None:
        if found == OUT_OF_MEMORY:
            raise self._cache.refused()
        if found == STOPPED:
            raise RuntimeError("the loader is closed")

    # ---- a token's experts of a layer at once --------------------------------------------------------------------

    def demand_all(
        self, first: int, ids: int, needed: int, k: int, ranks: int, awaited: int
    ) -> tuple[int, int, int]:  # fmt: skip
        """See uh_shelf_demand: writes ranks that are there and pinned, and what the others wait for; returns how many
        were asked for or taken over, are there, and have to come. To be called under the cache's lock."""
        counts = self._demanded
        found: int = self._of.uh_shelf_demand(self._at, first, ids, needed, k, ranks, awaited, counts.buffer_info()[0])
        self._shelf.check()
        if found < 0:
            self._raise(found)
        ready, missing = counts
        return found, ready, missing

    def ended(self, start: float, end: float) -> None:
        """Somebody waited for the first of the `ends` from start to end."""
        self._telemetry.waited += end - start
        if self.observer is not None:
            self.observer.waited(self._layer_of_first(), start, end)

    def came(self, first: int, ids: int, awaited: int, k: int, ranks: int, ran: int, n: int) -> tuple[int, bool]:
        """Put n `ends` in their places: see uh_shelf_came. Of the `ranks` the first `ran` have run, and are unpinned.

        Returns how many have come, pinned, their ranks written to `ranks`, and whether others have to be asked for
        again. Raises as `take` does; nobody is pinned then. ids, awaited, ranks: addresses.
        """
        if self._loader.listener is not None:
            self._loader.tell(self._requests())
        with self._cache.lock:
            ready = self._shelf.place(first, ids, awaited, k, ranks, ran, n, ranks)
            self._shelf.check()
        problem = self._count(n)
        if problem is not None:
            chosen, come = (ctypes.c_int64 * k).from_address(ids), (ctypes.c_int32 * k).from_address(ranks)
            self._cache.unpin([first + chosen[rank] for rank in come[:ready]])
            raise problem
        return ready, bool(self._shelf.came.lacking)

    def _count(self, n: int) -> UnderhillError | None:
        """What n reads amount to that have just been put in place; why one that is awaited did not come."""
        came, telemetry = self._shelf.came, self._telemetry
        telemetry.read(came.nbytes, came.ns * 1e-9, came.reads)
        telemetry.repaired += came.repaired
        self._counts.arrivals += came.reads
        return self._failure(self._shelf.told(n)) if came.failed else None

    def _failure(self, ended: Sequence[Arrived]) -> UnderhillError | None:
        """Why one that is awaited did not come, if that is so; the others are counted."""
        failed = [end for end in ended if end.status not in (WHOLE, CANCELLED)]
        wanted = [end for end in failed if end.awaited]
        self.failed += len(failed) - len(wanted)
        return self._problem(wanted[0]) if wanted else None

    # ---- what has ended ------------------------------------------------------------------------------------------

    def make_way(self) -> bool:
        """See UnderWay."""
        with self.turn:
            found = self._shelf.under_way()
            self._abandon(found)
            return bool(found)

    def take(self, awaited: Collection[ExpertKey]) -> list[tuple[ExpertKey, Lease | None]]:
        """See UnderWay."""
        while any(map(self.coming, awaited)):
            taken = self._leased(self._wait(), awaited)
            if taken:
                return taken
        raise held()

    def come(self, awaited: Collection[ExpertKey]) -> list[tuple[ExpertKey, Lease | None]]:
        """See UnderWay."""
        n = self._shelf.ended(False)
        return self._leased(n, awaited) if n else []

    def _leased(self, n: int, awaited: Collection[ExpertKey]) -> list[tuple[ExpertKey, Lease | None]]:
        cache = self._cache
        taken = self._end(n, [cache.number(key) for key in awaited])
        keys = [(cache.keys[at], cache.tiers[at][planes]) for at, planes in taken]
        return [(key, cache.leased(key, tier) if tier else None) for key, tier in keys]

    def settle(self) -> None:
        """See UnderWay."""
        with self.turn:
            n = AT_ONCE
            while n == AT_ONCE:
                n = self._collected()

    def _collected(self) -> int:
        """How many had ended, and are in their places; at most AT_ONCE."""
        if self._loader.listener is not None:  # he is told before it is forgotten whose they were
            n = self._shelf.ended(False)
            if n:
                self._end(n, ())
            return n
        with self._cache.lock:
            n = self._shelf.collect()
            self._shelf.check()
        if n:
            self._count(n)
        return n

    def abandon(self, keys: Iterable[ExpertKey]) -> None:
        """See UnderWay."""
        with self.turn:
            self._abandon([self._cache.number(key) for key in keys if self.coming(key)])

    def _abandon(self, numbers: Sequence[int]) -> None:
        for number in numbers:
            self._of.uh_shelf_cancel(self._at, number)
        while any(self._of.uh_shelf_coming(self._at, number) for number in numbers):
            self._end(self._wait(), ())

    def _wait(self) -> int:
        """Wait for one read to end; how many have."""
        n = self._shelf.ended(False)
        if not n:
            start = time.perf_counter()
            n = self._shelf.ended(True)
            end = time.perf_counter()
            if not n:
                raise held()
            self.ended(start, end)
        return n

    def _layer_of_first(self) -> int:
        """Of the reads that have just ended."""
        request = self._shelf.first_ended
        ended = [n for n in self._shelf.under_way() if self._of.uh_shelf_request(self._at, n) == request]
        return self._cache.keys[ended[0]].layer

    def _end(self, n: int, awaited: Sequence[int]) -> list[tuple[int, int]]:
        """Each takes its place, or gives its room back. Returns those awaited; raises as `take` does."""
        if self._loader.listener is not None:
            self._loader.tell(self._requests())
        with self._cache.lock:
            ended = self._shelf.arrive(n, awaited)
            self._shelf.check()
        taken: list[tuple[int, int]] = []
        for end in ended:
            if end.status == WHOLE:
                self._telemetry.read(end.nbytes, end.ns * 1e-9)
                self._telemetry.repaired += end.urgency == Urgency.REPAIR  # unless it was taken over
                self._counts.arrivals += 1
            if end.awaited:
                taken.append((end.expert, end.planes if end.status == WHOLE else 0))
        failure = self._failure(ended)
        if failure is not None:
            self._cache.unpin([number for number, planes in taken if planes])
            raise failure
        return taken

    def _problem(self, end: Arrived) -> UnderhillError:
        how = End(0, 0.0, end.status, end.error, end.part)
        return self._loader.problem(self._cache.keys[end.expert], parts_of(end.parts), how)

    def _requests(self) -> dict[int, Request]:
        """Those under way by number, for whoever listens to the loader."""
        found = {}
        for number in self._shelf.under_way():
            parts = [piece.part for piece in self._shelf.pieces(number, arriving=True)]
            request: int = self._of.uh_shelf_request(self._at, number)
            found[request] = Request(self._cache.keys[number], parts, (), (), Urgency.DEMAND)
        return found
