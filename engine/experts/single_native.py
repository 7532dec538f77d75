"""One token through the experts of one layer, the cache's table being native: one call asks for all that is missing."""

from __future__ import annotations

from collections.abc import Sequence

from engine.experts.backend import Step
from engine.experts.demands import Demands
from engine.experts.native_arrivals import NativeArrivals
from engine.experts.native_cache import NativeCache
from engine.experts.prefetch import Prefetch
from engine.experts.repairs import Repairs
from engine.experts.residents import ResidentExperts, Residents
from engine.experts.single import Single
from engine.experts.telemetry import Telemetry
from engine.experts.two_level import LevelCounts
from engine.kernels.native import UNDECIDED


class NativeSingle(Single):
    """See Single."""

    def __init__(
        self,
        residents: Residents,
        cache: NativeCache,
        counts: LevelCounts,
        arrivals: NativeArrivals,
        telemetry: Telemetry,
        repairs: Repairs,
    ) -> None:
        super().__init__(residents, counts, arrivals, telemetry, repairs)
        self._cache, self._reads = cache, arrivals

    def _served(self, experts: ResidentExperts, step: Step, chosen: Sequence[int], ahead: Prefetch | None) -> bool:
        """See Single."""
        cache, reads, residents = self._cache, self._reads, self._residents
        first = cache.first(experts.layer)
        pinned: list[int] = []
        awaited: dict[int, int] = {}  # ranks by number
        try:
            with cache.lock:
                ran = residents.run(experts, step)
                if ran >= 0:
                    self._counts.hits += ran
                    return True
                if ran == UNDECIDED:
                    return False
                needed = residents.needed[: step.k].tolist()
                asked = reads.demand_all(first, step.addresses[1], residents.needed.buffer_info()[0], step.k)
                there = [rank for rank, planes in enumerate(needed) if not planes]
                pinned = [first + chosen[rank] for rank in there]
                awaited = {first + chosen[rank]: rank for rank, planes in enumerate(needed) if planes > 0}
            self._counts.hits += len(there)
            self._telemetry.misses += len(awaited)
            self._note_coarse(experts, chosen, needed)
            if ahead is not None:
                ahead.routed(experts.layer, chosen, step.given)
            self._run(experts, step, there)
            cache.unpin(pinned)
            pinned = []
            whole = asked == len(awaited)
            while awaited and whole:
                taken = reads.arrived(list(awaited))
                pinned = [number for number, planes in taken if planes]
                came = [(number, planes >= needed[awaited[number]]) for number, planes in taken]
                whole = all(enough for _, enough in came)
                self._run(experts, step, [awaited.pop(number) for number, enough in came if enough])
                cache.unpin(pinned)
                pinned = []
            if awaited:
                self._rest(experts, step, awaited, needed)
                awaited = {}
            residents.combine(step)
            return True
        finally:
            if pinned:
                cache.unpin(pinned)
            if awaited:
                reads.abandon([cache.keys[number] for number in awaited])

    def _note_coarse(self, experts: ResidentExperts, chosen: Sequence[int], needed: Sequence[int]) -> None:
        full = experts.tiers.index(experts.full) + 1
        for expert, planes in zip(chosen, needed):
            if 0 < planes < full:
                self._repairs.ran_coarse(experts.keys[expert], experts.full)

    def _rest(self, experts: ResidentExperts, step: Step, awaited: dict[int, int], needed: Sequence[int]) -> None:
        """One by one, those for which there was no room, or that were on their way to less than is needed."""
        ranks = {self._cache.keys[number]: rank for number, rank in awaited.items()}
        tiers = {key: experts.tiers[needed[rank] - 1] for key, rank in ranks.items()}
        demands = Demands(self._reads, tiers, len(tiers))
        try:
            self._run_as_they_come(experts, step, demands, ranks)
        finally:
            demands.abandon()
