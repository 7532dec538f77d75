"""Raises precision in the background: experts that ran coarse for a miss are completed while the disk is idle."""

from __future__ import annotations

from engine.experts.cache.expert_cache import ExpertCache
from engine.experts.keys import ExpertKey, Urgency
from engine.experts.loading.loader import Loader
from engine.experts.loading.pending import PendingLoads
from engine.experts.telemetry import ExpertTelemetry

MOST_REMEMBERED = 64  # experts remembered, those that ran last
AGAIN = 2  # uses in the current answer that make another one likely
SMOOTHING = 0.1  # weight of the last layer in the share of layers that missed something
CALM = 0.25  # of layers, above which the disk is needed for demands, and the memory that finer parts take, too


class PrecisionUpgrader:
    """At most one load of its own is in flight, so that a demand finds the disk all but free.

    A demanded read overtakes it between two chunks, and cancels it when there is no room for both.
    """

    def __init__(self, cache: ExpertCache, pending: PendingLoads, loader: Loader, telemetry: ExpertTelemetry) -> None:
        self._cache, self._pending, self._loader, self._telemetry = cache, pending, loader, telemetry
        self._misses = 0  # so far
        self._missing = 0.0  # smoothed share of layers that missed something
        self._coarse: dict[ExpertKey, int] = {}  # the tier that each should have, the one that ran last being the last

    def ran_coarse(self, key: ExpertKey, full: int) -> None:
        """It was fetched coarser than `full`, because it mattered little to this token."""
        self._coarse.pop(key, None)
        self._coarse[key] = full
        if len(self._coarse) > MOST_REMEMBERED:
            del self._coarse[next(iter(self._coarse))]

    @property
    def waits(self) -> bool:
        """Whether something has run coarse that may be raised: it is to be told of each layer."""
        return bool(self._coarse)

    def layer_done(self) -> None:
        """Begin to raise an expert that this answer uses again and again, if the disk is idle.

        It always is for the moment, so what counts are the last layers: where they missed much, the next will, too.
        """
        # An exponential mean over some 1 / SMOOTHING = 10 layers: a part of a token, so it follows within one.
        missed, self._misses = self._telemetry.misses != self._misses, self._telemetry.misses
        self._missing += SMOOTHING * (missed - self._missing)
        if not self._coarse or self._missing > CALM or not self._loader.idle or self._pending:
            return
        uses = {key: self._telemetry.times(key) for key in self._coarse}
        for key in sorted(uses, key=uses.__getitem__, reverse=True):
            if uses[key] < AGAIN:
                return
            full = self._coarse.pop(key)
            # One that has left meanwhile is not fetched for this.
            if (
                self._cache.tier(key)
                and self._cache.missing_bytes(key, full)
                and self._pending.prefetch(key, full, Urgency.UPGRADE)
            ):
                return

    def forget(self) -> None:
        """Forget what ran coarse: the tiers or the dial have changed."""
        self._coarse.clear()
