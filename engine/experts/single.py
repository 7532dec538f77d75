"""One token through the experts of one layer, those that are there while the others are read."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

from engine.experts.backend import Step
from engine.experts.cache import ExpertCache
from engine.experts.demands import Demands
from engine.experts.entry import Entry
from engine.experts.keys import ExpertKey
from engine.experts.observer import Observer
from engine.experts.prefetch import Prefetch
from engine.experts.repairs import Repairs
from engine.experts.residents import ResidentExperts, Residents
from engine.experts.telemetry import Telemetry
from engine.experts.two_level import LevelCounts
from engine.experts.under_way import UnderWay
from engine.kernels.native import SKIPPED, UNDECIDED


class Single(ABC):
    """The short way: one native call where all are there, else one for those that are and one for whoever comes.

    For one level of memory, that of `residents`.
    """

    def __init__(
        self, residents: Residents, counts: LevelCounts, arrivals: UnderWay, telemetry: Telemetry, repairs: Repairs
    ) -> None:
        self._residents, self._arrivals, self._telemetry, self._repairs = residents, arrivals, telemetry, repairs
        self._counts = counts
        self.observer: Observer | None = None
        self.ahead: Prefetch | None = None

    def play(self, layer: int, step: Step) -> bool:
        """Fill step.y; False: this is no matter for the short way, and nothing was done.

        Raises the UnderhillError of an expert that cannot be read; nothing is leased or on its way for it then.
        """
        experts = self._residents.experts(layer, step)
        if experts is None:
            return False
        self._arrivals.settle()
        chosen: list[int] = step.chosen.tolist()
        ahead = self.ahead if self.ahead is not None and self.ahead.awake else None
        if ahead is not None and not self._residents.lacking(experts, step):
            ahead.routed(layer, chosen, step.given)
            ahead = None
        return self._served(experts, step, chosen, ahead)

    @abstractmethod
    def _served(self, experts: ResidentExperts, step: Step, chosen: Sequence[int], ahead: Prefetch | None) -> bool:
        """See play. ahead: to be told of the layer once all is asked for; None: it knows, or nobody does."""

    def _run(self, experts: ResidentExperts, step: Step, ranks: Sequence[int]) -> None:
        """Compute these, all of them leased."""
        if not ranks:
            return
        start = 0.0 if self.observer is None else time.perf_counter()
        self._residents.run_some(experts, step, ranks)
        if self.observer is not None:
            self.observer.computed(experts.layer, len(ranks), start, time.perf_counter())

    def _run_as_they_come(
        self, experts: ResidentExperts, step: Step, demands: Demands, ranks: Mapping[ExpertKey, int]
    ) -> None:
        """Compute whoever was asked for, each as soon as it is there."""
        while demands:
            leases = demands.take()
            try:
                self._run(experts, step, [ranks[lease.key] for lease in leases])
            finally:
                for lease in leases:
                    lease.release()


class CachedSingle(Single):
    """See Single; over a cache whose table is Python's."""

    def __init__(
        self, residents: Residents, cache: ExpertCache, counts: LevelCounts, arrivals: UnderWay, telemetry: Telemetry,
        repairs: Repairs,
    ) -> None:  # fmt: skip
        super().__init__(residents, counts, arrivals, telemetry, repairs)
        self._level = cache

    def _served(self, experts: ResidentExperts, step: Step, chosen: Sequence[int], ahead: Prefetch | None) -> bool:
        """See Single."""
        demands: Demands | None = None
        hits: list[Entry] = []
        try:
            with self._level.lock:
                ran = self._residents.run(experts, step)
                if ran >= 0:
                    self._counts.hits += ran
                    return True
                if ran == UNDECIDED:
                    return False
                # All that the disk has to bring for this layer is asked for before anything else is done.
                there, ranks, tiers = self._sort(experts, chosen)
                hits = self._level.pin([experts.keys[chosen[rank]] for rank in there])
                demands = Demands(self._arrivals, tiers, len(tiers))
                demands.start()
            self._counts.hits += len(there)
            self._telemetry.misses += len(tiers)
            if ahead is not None:
                ahead.routed(experts.layer, chosen, step.given)
            self._run(experts, step, there)
            self._level.unpin(hits)
            hits = []
            self._run_as_they_come(experts, step, demands, ranks)
            self._residents.combine(step)
            return True
        finally:
            if hits:
                self._level.unpin(hits)
            if demands is not None:
                demands.abandon()

    def _sort(
        self, experts: ResidentExperts, chosen: Sequence[int]
    ) -> tuple[list[int], dict[ExpertKey, int], dict[ExpertKey, int]]:
        """Ranks of those that are there; ranks and tiers of those that are not, but for what is skipped."""
        there: list[int] = []
        ranks: dict[ExpertKey, int] = {}
        tiers: dict[ExpertKey, int] = {}
        of_planes = experts.tiers
        for rank, (expert, planes) in enumerate(zip(chosen, self._residents.needed)):
            if planes > 0:
                key = experts.keys[expert]
                ranks[key], tiers[key] = rank, of_planes[planes - 1]
                if tiers[key] < experts.full:
                    self._repairs.ran_coarse(key, experts.full)
            elif planes != SKIPPED:
                there.append(rank)
        return there, ranks, tiers
