"""Loads in flight, one per expert at most, and the queue of a layer call's missing experts."""

from __future__ import annotations

import ctypes
import threading
import time
import weakref
from array import array
from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from engine.errors import Kind, UnderhillError
from engine.experts.cache.expert_cache import ExpertCache, Lease, PlanRead, parts_of
from engine.experts.keys import ExpertKey, Urgency
from engine.experts.loading.loader import Loader
from engine.experts.telemetry import ExpertTelemetry, ProfilerHook
from engine.native.expert_cache import ASKED, AT_ONCE, OUT_OF_MEMORY, STOPPED, THERE, LoadResult
from engine.native.io_pool import CANCELLED, WHOLE
from engine.translatable import msg

Loaded = list[tuple[ExpertKey, Lease | None]]  # None: the load was cancelled


def cache_is_held() -> UnderhillError:
    """What to raise where there is no room, and no load to wait for either."""
    return UnderhillError(Kind.OUT_OF_MEMORY, msg("The expert cache is busy."), msg("Try again."))


def _planner(cache: ExpertCache, loader: Loader) -> PlanRead:
    """Says how experts are read, without keeping the table alive, which keeps this.

    For all like experts of a layer at once, when the first of them is asked for: one by one, between two layers, each
    would take several times as long.
    """
    table = weakref.ref(cache)

    def plan_read(asked: ExpertKey, parts: tuple[int, ...]) -> None:
        found = table()
        assert found is not None
        spec = found.specs[found.number(asked)]
        assert spec is not None
        sizes = [spec.layout.parts[part].nbytes for part in parts]
        base = found.base(asked.layer)
        for number in range(base, base + found.width):
            if found.specs[number] == spec:
                plan = loader.plan(found.keys[number], parts, sizes)
                found.table.set_plan(number, parts, plan.checksums, plan.runs, plan.chunks)

    return plan_read


class PendingLoads:
    """Loads in flight. Used by the thread that runs the model: a load that has ended takes its place in the cache only
    when that thread asks (`wait`, `poll`, `commit_completed`).

    layer_lock: held for a layer call, until all it has demanded has come. Anything that shrinks the cache must take it:
    else what the layer waits for would be cancelled under it. failed: loads that ended in an error while no layer
    waited for them.
    """

    def __init__(self, cache: ExpertCache, loader: Loader, telemetry: ExpertTelemetry) -> None:
        self.failed = 0
        # First of three: this, ExpertCache.lock, NativeKernel's own. Reentrant: `prefetch` is called in a layer call,
        # too.
        self.layer_lock = threading.RLock()
        self.observer: ProfilerHook | None = None
        self._cache, self._loader, self._telemetry = cache, loader, telemetry
        self._table = cache.table
        self._lib, self._handle = self._table.library, self._table.address
        # Single calls of the table take no lock of ours: they keep the interpreter's (PyDLL), which lets one in at a
        # time. The cache's is taken where a call may evict, since its callbacks run the policy, and where two calls
        # have to find the same state.
        self._demanded = array("i", [0, 0])
        # The table keeps the pool's address; CacheTable keeps the pool, and has it stop before the memory that it reads
        # into goes.
        self._table.read_with(loader.reads)
        # Where ends of reads come from, where they are written to, and how many there is room for; for `place`.
        self.ends = loader.reads.address, self._table.ends, AT_ONCE
        cache.plan_reads(_planner(cache, loader))

    # ---- one by one -------------------------------------------------------------------------------------------------

    def pending_tier(self, key: ExpertKey) -> int:
        """The tier at which an expert is being loaded; 0: it is not."""
        at = self._cache.number(key)
        return self._cache.tiers[at][self._lib.uh_cache_pending_planes(self._handle, at)]

    def __bool__(self) -> bool:
        """Whether there are any, those included that have ended and were not asked for yet."""
        return self._lib.uh_cache_pending(self._handle, None, 0) > 0

    def under_way(self) -> set[int]:
        """Numbers, in the cache's table, of all experts that are being loaded."""
        return set(self._table.pending())

    def promote_to_demand(self, key: ExpertKey) -> bool:
        """A layer waits for this expert now; False: it is not being loaded.

        It may be loading at a coarser tier than is wanted: then it has to be demanded again once it has come.
        """
        return bool(self._lib.uh_cache_promote(self._handle, self._cache.number(key)))

    def demand(self, key: ExpertKey, tier: int) -> bool:
        """Load an expert that a layer waits for, which is neither held at this tier nor pending; False: no room.

        Raises UnderhillError(OUT_OF_MEMORY).
        """
        return self._begin(key, tier, Urgency.DEMAND)

    def prefetch(self, key: ExpertKey, tier: int, urgency: Urgency = Urgency.PREFETCH) -> bool:
        """Load an expert that may be needed, which is not held at this tier; False: it is pending, or there is no room,
        the system's own memory included.

        Room is made as for a demand, by evicting. A layer that demands it later takes the load over, and a load that
        fails is forgotten: it fails again for the layer that needs it.
        """
        with self.layer_lock:  # the room it takes must not be what a layer has just been promised
            try:
                return not self.pending_tier(key) and self._begin(key, tier, urgency)
            except UnderhillError as e:
                # A read ahead is never worth an error: out of memory it is as if there had been no room.
                if e.kind is not Kind.OUT_OF_MEMORY:
                    raise
                return False  # the layer that really needs it will say so

    def _begin(self, key: ExpertKey, tier: int, urgency: Urgency) -> bool:
        at = self._cache.number(key)
        with self._cache.lock:  # reserving evicts, and its callbacks run before the lock is let go
            found: int = self._lib.uh_cache_fetch(self._handle, at, self._cache.planes(at, tier), urgency)
            self._table.check()
        if found == THERE:
            raise RuntimeError(f"{key} at tier {tier} is already there or on its way")
        self._raise(found)
        return found == ASKED

    def _raise(self, found: int) -> None:
        if found == OUT_OF_MEMORY:
            raise self._cache.refused()
        if found == STOPPED:
            raise RuntimeError("the loader is closed")

    # ---- a step's experts of a layer at once ------------------------------------------------------------------------

    def demand_all(
        self, base: int, ids: int, to_fetch: int, k: int, indices: int, awaited: int
    ) -> tuple[int, int, int]:  # fmt: skip
        """Demand all that a step lacks in a layer: see uh_cache_demand. To be called under the cache's lock.

        base: number of the layer's expert 0 in the cache's table. k: experts listed. The others are addresses.
        Writes indices of those that are there and pinned, and what the others wait for; returns how many reads were
        submitted or promoted, how many experts are resident, and how many are missing.
        """
        counts = self._demanded
        found: int = self._lib.uh_cache_demand(
            self._handle, base, ids, to_fetch, k, indices, awaited, counts.buffer_info()[0]
        )
        self._table.check()
        if found < 0:
            self._raise(found)
        ready, missing = counts
        return found, ready, missing

    def waited(self, start: float, end: float) -> None:
        """Count a wait, by time.perf_counter, for the first of the `ends`."""
        self._telemetry.waited += end - start
        if self.observer is not None:
            self.observer.waited(self._layer_of_first(), start, end)

    def commit_step(
        self, base: int, ids: int, awaited: int, k: int, indices: int, ran: int, *, n: int
    ) -> tuple[int, bool]:
        """Commit n `ends`: see uh_cache_commit_step. Of the `indices` the first `ran` have run, and are unpinned.

        Returns how many have come, pinned, their indices written to `indices`, and whether others have to be asked for
        again. Raises as `wait` does; none is pinned then. ids, awaited, indices: addresses.
        """
        if self._loader.listener is not None:
            self._loader.tell(self._requests())
        with self._cache.lock:  # committing may evict down to a capacity that was lowered meanwhile
            ready = self._table.commit_step(base, ids, awaited, k=k, ran=indices, n_ran=ran, n=n, indices=indices)
            self._table.check()
        problem = self._count(n)
        if problem is not None:
            # Views of the step's own arrays, for the length of this block.
            chosen, come = (ctypes.c_int64 * k).from_address(ids), (ctypes.c_int32 * k).from_address(indices)
            self._cache.unpin([base + chosen[index] for index in come[:ready]])
            raise problem
        return ready, bool(self._table.stats.too_coarse)

    def _count(self, n: int) -> UnderhillError | None:
        """Count n reads that have just been put in place; returns why an awaited one did not come."""
        came, telemetry = self._table.stats, self._telemetry
        telemetry.read(came.nbytes, came.ns * 1e-9, came.reads)
        telemetry.upgraded += came.upgraded
        return self._failure(self._table.results(n)) if came.failed else None

    def _failure(self, ended: Sequence[LoadResult]) -> UnderhillError | None:
        """Why an awaited one did not come, if that is so; the other failures are counted."""
        failed = [end for end in ended if end.status not in (WHOLE, CANCELLED)]
        wanted = [end for end in failed if end.awaited]
        self.failed += len(failed) - len(wanted)
        if not wanted:
            return None
        end = wanted[0]
        return self._loader.problem(self._cache.keys[end.expert], parts_of(end.parts), end.status, end.error, end.part)

    # ---- what has ended ---------------------------------------------------------------------------------------------

    def wait(self, awaited: Collection[ExpertKey]) -> Loaded:
        """Wait until one of these has ended, and lease all of them that have; what else has ended is committed.

        Raises the UnderhillError of one that failed, and OUT_OF_MEMORY where none of them is pending.
        """
        while any(map(self.pending_tier, awaited)):
            taken = self._leased(self._next_end(), awaited)
            if taken:
                return taken
        raise cache_is_held()

    def poll(self, awaited: Collection[ExpertKey]) -> Loaded:
        """As `wait`, without waiting: of these those that have ended, perhaps none."""
        n = self._table.ended(False)
        return self._leased(n, awaited) if n else []

    def _leased(self, n: int, awaited: Collection[ExpertKey]) -> Loaded:
        cache = self._cache
        taken = self._commit(n, [cache.number(key) for key in awaited])
        return [
            (cache.keys[at], Lease(cache, cache.keys[at], cache.tiers[at][planes]) if planes else None)
            for at, planes in taken
        ]

    def commit_completed(self) -> None:
        """Put what has ended in its place, without waiting."""
        with self.layer_lock:  # ends are handed out once: two threads would commit each other's
            n = AT_ONCE
            while n == AT_ONCE:
                n = self._commit_some()

    def _commit_some(self) -> int:
        """How many had ended, and are in their places; at most AT_ONCE."""
        if self._loader.listener is not None:  # it is told before it is forgotten which expert each was
            n = self._table.ended(False)
            if n:
                self._commit(n, ())
            return n
        with self._cache.lock:
            n = self._table.commit_completed()
            self._table.check()
        if n:
            self._count(n)
        return n

    def cancel_all(self) -> bool:
        """Cancel every load, to make room; False: there is none."""
        with self.layer_lock:
            found = self._table.pending()
            self._cancel(found)
            return bool(found)

    def cancel(self, keys: Iterable[ExpertKey]) -> None:
        """Cancel these; a chunk that a reader has in hand is waited for, and what came whole by it is committed."""
        with self.layer_lock:
            self._cancel([self._cache.number(key) for key in keys if self.pending_tier(key)])

    def _cancel(self, numbers: Sequence[int]) -> None:
        for number in numbers:
            # This only takes back what no reader has in hand. A chunk under way cannot be called off, and its memory
            # must not go to another expert before that read has ended: hence the wait below.
            self._lib.uh_cache_cancel(self._handle, number)
        while any(self._lib.uh_cache_pending_planes(self._handle, number) for number in numbers):
            self._commit(self._next_end(), ())

    def _next_end(self) -> int:
        """Wait for one read to end; how many have."""
        n = self._table.ended(False)
        if not n:
            start = time.perf_counter()
            n = self._table.ended(True)
            end = time.perf_counter()
            if not n:
                raise cache_is_held()
            self.waited(start, end)
        return n

    def _layer_of_first(self) -> int:
        """Of the reads that have just ended."""
        # For the profiler alone: the search is linear.
        request = self._table.first_ended
        ended = [n for n in self._table.pending() if self._lib.uh_cache_request(self._handle, n) == request]
        return self._cache.keys[ended[0]].layer

    def _commit(self, n: int, awaited: Sequence[int]) -> list[tuple[int, int]]:
        """Put n ends in their places, or give their room back. Returns number and planes of those awaited, pinned;
        raises as `wait` does, and then none is pinned."""
        if self._loader.listener is not None:
            self._loader.tell(self._requests())
        with self._cache.lock:
            ended = self._table.commit(n, awaited)
            self._table.check()
        taken: list[tuple[int, int]] = []
        for end in ended:
            if end.status == WHOLE:
                self._telemetry.read(end.nbytes, end.ns * 1e-9)
                self._telemetry.upgraded += end.urgency == Urgency.UPGRADE  # unless it was taken over
            if end.awaited:
                taken.append((end.expert, end.planes if end.status == WHOLE else 0))
        failure = self._failure(ended)
        if failure is not None:
            self._cache.unpin([number for number, planes in taken if planes])
            raise failure
        return taken

    def _requests(self) -> dict[int, tuple[ExpertKey, Sequence[int]]]:
        """Expert and parts of every pending load by number of its request, for the loader's listener."""
        found: dict[int, tuple[ExpertKey, Sequence[int]]] = {}
        for number in self._table.pending():
            parts = [piece.part for piece in self._table.pieces(number, arriving=True)]
            request: int = self._lib.uh_cache_request(self._handle, number)
            found[request] = self._cache.keys[number], parts
        return found


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
        self._awaited = {key: None for key in tiers if pending.promote_to_demand(key)}
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
            # One is always asked for when nothing is under way or to be computed: room that only a computed expert
            # would free might else be waited for without end.
            if (awaited or besides) and self._has_room is not None and not self._has_room(key, tier):
                return
            if not self._pending.demand(key, tier):
                # With nothing of this call in flight it is prefetches and upgrades that hold the room; a demand may
                # take it from them. With something in flight its end will make room, and cancelling would only waste
                # what was read.
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
