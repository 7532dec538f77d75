"""Accounting of prefetches: which experts were expected and read in advance, row by row, and what became of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from engine.experts.cache.expert_cache import ExpertCache
from engine.experts.cache.resident_table import LayerTable
from engine.experts.loading.pending import PendingLoads
from engine.experts.predictors.predictor import Floats
from engine.experts.telemetry import PrefetchStats
from engine.native.prefetch import COUNTS, MOST_EXPECTED, PrefetchPlanner

# Share of the cache that prefetches in flight may take: more would evict what the token still needs.
MAX_PREFETCH_SHARE = 1 / 8

_USED, _EARLY, _WASTED = (COUNTS.index(name) for name in ("used", "early", "wasted"))


class PrefetchTracker:
    """Rows are MoE layers as they run. Two native calls a layer do all of it: see prefetch.h.

    layers: by row. k: experts of a row that count as expected, by which recall is measured. depth: rows looked ahead at
    most.
    """

    def __init__(
        self, cache: ExpertCache, pending: PendingLoads, layers: Sequence[LayerTable], k: int, depth: int
    ) -> None:
        self._cache, self._pending, self._layers = cache, pending, layers
        self._k, self._depth = min(k, MOST_EXPECTED), depth
        self._planner = PrefetchPlanner(cache.table, [layer.address for layer in layers], cache.width, self._k, depth)
        self._counts = self._planner.counts

    @property
    def used(self) -> int:
        """Experts read ahead and asked for."""
        return self._counts[_USED]

    @property
    def balance(self) -> tuple[int, int]:
        """Bytes: that were there or in hand when they were asked for, and that were read in vain."""
        return self._counts[_EARLY], self._counts[_WASTED]

    def stats(self) -> PrefetchStats:
        """All that is counted here; what only Prefetcher knows is left at 0."""
        found, n = self._counts[:], len(COUNTS)
        said, right = found[n : n + self._depth], found[n + self._depth :]
        return PrefetchStats(said=said, right=right, **dict(zip(COUNTS, found)))

    def commit_routing(self, row: int, chosen: Sequence[int]) -> None:
        """Record the experts chosen in `row`; mark its prefetches used or wasted. -1: a token begins, none chosen."""
        # Without the cache's lock: it evicts nothing and calls nothing back, and the interpreter's lock is held all
        # through.
        self._planner.routed(row, chosen)

    def plan_row(self, row: int, scores: Floats, width: int) -> int:
        """Prefetch what is missing of a row behind the one routed last: the first `width` experts by their scores.

        Reads for it that are expected no more are cancelled. The choice of the row routed last, and what is expected
        and cached in the rows planned since, are evicted last. Returns bytes in flight; -1: nothing is missing there.
        """
        cache, at = self._cache, self._layers[row].address_of(scores)
        with cache.lock:  # the table's callbacks may evict
            found = self._planner.plan(row, at, *self._limits(width))
            cache.table.check()
        return found

    def plan_all(self, plan: Floats, width: int) -> int:
        """As `plan_row`, of all rows behind the one routed last at once.

        plan: float32 [rows, experts], by which the first `width` of each row are read, the greatest of all rows first,
        those of 0 not at all. Only what is expected in the two next rows is evicted last: of those farther away the
        policy knows better. Raises ValueError for another plan.
        """
        cache, shape = self._cache, (len(self._layers), self._cache.width)
        if plan.dtype != np.float32 or plan.shape != shape or not plan.flags.c_contiguous:
            raise ValueError(f"the plan is {plan.dtype} {plan.shape}; expected contiguous float32 {list(shape)}")
        with cache.lock:
            # C is done with the plan when it returns.
            found = self._planner.plan_all(plan.ctypes.data, *self._limits(width))
            cache.table.check()
        return found

    def _limits(self, width: int) -> tuple[int, int, int]:
        """Experts of a row that may be read, and that count as expected; bytes in flight."""
        width = min(width, MOST_EXPECTED)
        # Twice as many count as expected as are read: a read under way goes on while its expert has only slipped a few
        # ranks, since a cancelled one is wasted for certain.
        return width, min(MOST_EXPECTED, 2 * max(self._k, width)), int(self._cache.capacity * MAX_PREFETCH_SHARE)

    def cancel_all(self) -> None:
        """Cancel all prefetches in flight, which are wasted, and protect no expert any more."""
        # In this order, everywhere: see PendingLoads.layer_lock.
        with self._pending.layer_lock, self._cache.lock:
            self._planner.cancel_all()
            self._cache.protect(())
