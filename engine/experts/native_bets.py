"""Bets over a native table, in two native calls a layer: the twin of KeptBets."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from engine.experts.bets import ROOM
from engine.experts.foresight import Foresight
from engine.experts.native_arrivals import NativeArrivals
from engine.experts.native_cache import NativeCache
from engine.experts.predictors.predictor import Floats
from engine.experts.residents import ResidentExperts
from engine.kernels.ahead import COUNTS, MOST, Ahead

USED, EARLY, WASTED = (COUNTS.index(name) for name in ("used", "early", "wasted"))


class NativeBets:
    """See Bets."""

    def __init__(
        self,
        cache: NativeCache,
        arrivals: NativeArrivals,
        layers: Sequence[ResidentExperts],
        k: int,
        depth: int,
    ) -> None:
        """layers: by row. See `takes` for what is possible."""
        self._cache, self._arrivals, self._layers = cache, arrivals, layers
        self._k, self._depth = k, depth
        self._ahead = Ahead(cache.shelf, [layer.address for layer in layers], cache.width, k, depth)
        self._counts = self._ahead.counts

    @staticmethod
    def takes(cache: NativeCache, k: int, width: int) -> bool:
        """Whether the table knows who leaves, and so many experts can be expected at once."""
        return cache.follows and 2 * max(k, width) <= MOST

    @property
    def used(self) -> int:
        """See Bets."""
        return self._counts[USED]

    @property
    def balance(self) -> tuple[int, int]:
        """See Bets."""
        return self._counts[EARLY], self._counts[WASTED]

    def foresight(self) -> Foresight:
        """See Bets."""
        found, n = self._counts[:], len(COUNTS)
        said, right = found[n : n + self._depth], found[n + self._depth :]
        return Foresight(said, right, **dict(zip(COUNTS, found)))

    def routed(self, row: int, chosen: Sequence[int]) -> None:
        """See Bets."""
        self._ahead.routed(row, chosen)

    def look(self, row: int, scores: Floats, width: int) -> int:
        """See Bets."""
        cache, at = self._cache, self._layers[row].address_of(scores)
        with cache.lock:
            found = self._ahead.look(row, at, width, 2 * max(self._k, width), cache.capacity // ROOM)
            cache.shelf.check()
        return found

    def spread(self, plan: Floats, width: int) -> int:
        """See Bets. Raises ValueError for another plan than float32 [rows, experts]."""
        cache, shape = self._cache, (len(self._layers), self._cache.width)
        if plan.dtype != np.float32 or plan.shape != shape or not plan.flags.c_contiguous:
            raise ValueError(f"the plan is {plan.dtype} {plan.shape}; expected contiguous float32 {list(shape)}")
        with cache.lock:
            found = self._ahead.spread(plan.ctypes.data, width, 2 * max(self._k, width), cache.capacity // ROOM)
            cache.shelf.check()
        return found

    def give_up(self) -> None:
        """See Bets."""
        with self._arrivals.turn, self._cache.lock:
            self._ahead.give_up()
            self._cache.protect(())
