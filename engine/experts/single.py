"""One token through the experts of one layer, those that are there while the others are read."""

from __future__ import annotations

import time

from engine.experts.ahead import Ahead
from engine.experts.arrivals import Arrivals
from engine.experts.backend import Step
from engine.experts.demands import Demands
from engine.experts.entry import Lease
from engine.experts.keys import ExpertKey
from engine.experts.observer import Observer
from engine.experts.repairs import Repairs
from engine.experts.residents import ResidentExperts, Residents
from engine.experts.telemetry import Telemetry
from engine.experts.two_level import TieredCache
from engine.kernels.native import SKIPPED, UNDECIDED


class Single:
    """The short way: one native call where all are there, else one for those that are and one for whoever comes.

    For one level of memory, that of `residents`.
    """

    def __init__(
        self, residents: Residents, cache: TieredCache, arrivals: Arrivals, telemetry: Telemetry, repairs: Repairs
    ) -> None:
        self._residents, self._arrivals, self._telemetry, self._repairs = residents, arrivals, telemetry, repairs
        self._level, self._counts = cache.levels[0], cache.counts[0]
        self.observer: Observer | None = None
        self.ahead: Ahead | None = None

    def play(self, layer: int, step: Step) -> bool:
        """Fill step.y; False: this is no matter for the short way, and nothing was done.

        Raises the UnderhillError of an expert that cannot be read; nothing is leased or on its way for it then.
        """
        experts = self._residents.experts(layer, step)
        if experts is None:
            return False
        self._arrivals.settle()
        ahead = self.ahead if self.ahead is not None and self.ahead.awake else None
        if ahead is not None and self._all_there(experts, step):
            ahead.routed(layer, step.chosen.tolist(), step.x[0].numpy())
            ahead = None
        demands: Demands | None = None
        hits: list[tuple[int, Lease]] = []
        try:
            with self._level.lock:
                ran = self._residents.run(experts, step)
                if ran >= 0:
                    self._counts.hits += ran
                    return True
                if ran == UNDECIDED:
                    return False
                # All that the disk has to bring for this layer is asked for before anything else is done.
                ranks, tiers = self._sort(experts, step, hits)
                demands = Demands(self._arrivals, tiers, len(tiers))
                demands.start()
            self._count(experts, step, len(hits), len(tiers))
            if ahead is not None:
                ahead.routed(layer, step.chosen.tolist(), step.x[0].numpy())
            self._run(experts, step, hits)
            while demands:
                self._run(experts, step, [(ranks[lease.key], lease) for lease in demands.take()])
            self._residents.combine(step)
            return True
        finally:
            for _, lease in hits:
                lease.release()
            if demands is not None:
                demands.abandon()

    def _all_there(self, experts: ResidentExperts, step: Step) -> bool:
        """Whether nothing is likely to be read for this layer, as far as can be seen at a glance."""
        keys, tier = experts.keys, self._level.tier
        return all(tier(keys[expert]) for expert in step.chosen.tolist())

    def _sort(
        self, experts: ResidentExperts, step: Step, hits: list[tuple[int, Lease]]
    ) -> tuple[dict[ExpertKey, int], dict[ExpertKey, int]]:
        """Lease what is there; ranks and tiers of what is not, but for what is skipped."""
        ranks: dict[ExpertKey, int] = {}
        tiers: dict[ExpertKey, int] = {}
        for rank, (expert, planes) in enumerate(zip(step.chosen.tolist(), self._residents.needed)):
            key = experts.keys[expert]
            if planes > 0:
                ranks[key], tiers[key] = rank, experts.spec.tiers[planes - 1]
                if tiers[key] < experts.full:
                    self._repairs.ran_coarse(key, experts.full)
            elif planes != SKIPPED:
                lease = self._level.lookup(key, 0, experts.full)
                assert lease is not None, "native code has just found it"
                hits.append((rank, lease))
        return ranks, tiers

    def _count(self, experts: ResidentExperts, step: Step, hits: int, misses: int) -> None:
        uses = self._telemetry.uses(experts.layer)
        for expert in step.chosen.tolist():
            uses[expert] += 1
        self._telemetry.hit(hits)
        self._telemetry.misses += misses
        self._telemetry.precision[0] += step.k - hits - misses
        self._counts.hits += hits

    def _run(self, experts: ResidentExperts, step: Step, found: list[tuple[int, Lease]]) -> None:
        """Compute these and release them; `found` is empty afterwards."""
        try:
            if found:
                start = 0.0 if self.observer is None else time.perf_counter()
                self._residents.run_some(experts, step, [rank for rank, _ in found])
                if self.observer is not None:
                    self.observer.computed(experts.layer, len(found), start, time.perf_counter())
        finally:
            while found:
                found.pop()[1].release()
