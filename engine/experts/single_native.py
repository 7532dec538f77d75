"""One token through the experts of one layer, the cache's table being native: one call asks for all that is missing."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

from engine.experts.backend import Step
from engine.experts.demands import Demands
from engine.experts.native_arrivals import NativeArrivals, held
from engine.experts.native_cache import NativeCache
from engine.experts.prefetch import Prefetch
from engine.experts.repairs import Repairs
from engine.experts.residents import MOST, ResidentExperts, Residents
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
        self._awaited = array("i", [0] * MOST)  # planes that a rank waits for; 0: none
        self._addresses = tuple(own.buffer_info()[0] for own in (residents.needed, residents.ranks, self._awaited))

    def _served(self, experts: ResidentExperts, step: Step, chosen: Sequence[int], ahead: Prefetch | None) -> bool:
        """See Single."""
        cache, reads, residents = self._cache, self._reads, self._residents
        first, k, ids = cache.first(experts.layer), step.k, step.addresses[1]
        needed, ranks, awaited = self._addresses
        ready = missing = 0  # ready: the first of residents.ranks, pinned
        try:
            with cache.lock:
                ran = residents.run(experts, step)
                if ran >= 0:
                    self._counts.hits += ran
                    return True
                if ran == UNDECIDED:
                    return False
                asked, ready, missing = reads.demand_all(first, ids, needed, k, ranks, awaited)
            self._counts.hits += ready
            self._telemetry.misses += missing
            self._note_coarse(experts, chosen)
            if ahead is not None:
                ahead.routed(experts.layer, chosen, step.given)
            lacking = asked < missing
            residents.take_up(step)
            while missing and not lacking:
                ended = residents.serve(experts, ready, reads.ends)
                self._tell(experts, ready)
                if not ended:
                    raise held()
                ran, ready = ready, 0
                ready, lacking = reads.came(first, ids, awaited, k, ranks, ran, ended)
                missing -= ready
            if missing:
                self._run(experts, step, residents.ranks[:ready].tolist())
                ran, ready = ready, 0
                cache.unpin([first + chosen[rank] for rank in residents.ranks[:ran]])
                missing = 0
                self._rest(experts, step, chosen)
                residents.combine(step)
            else:
                residents.serve(experts, ready, None)
                self._tell(experts, ready)
            return True
        finally:
            if ready:
                cache.unpin([first + chosen[rank] for rank in residents.ranks[:ready]])
            if missing:
                reads.abandon([experts.keys[chosen[rank]] for rank in self._left(k)])

    def _left(self, k: int) -> list[int]:
        """Ranks that have not come."""
        return [rank for rank, planes in enumerate(self._awaited[:k]) if planes]

    def _tell(self, experts: ResidentExperts, ran: int) -> None:
        """What the last `serve` did, and how long it waited."""
        begun, computed, waited = self._residents.times
        if self.observer is not None and ran:
            self.observer.computed(experts.layer, ran, begun * 1e-9, computed * 1e-9)
        if waited > computed:
            self._reads.ended(computed * 1e-9, waited * 1e-9)

    def _note_coarse(self, experts: ResidentExperts, chosen: Sequence[int]) -> None:
        full = experts.native.high
        for expert, planes in zip(chosen, self._residents.needed):
            if 0 < planes < full:
                self._repairs.ran_coarse(experts.keys[expert], experts.full)

    def _rest(self, experts: ResidentExperts, step: Step, chosen: Sequence[int]) -> None:
        """One by one, those for which there was no room, or that were on their way to less than is needed."""
        ranks = {experts.keys[chosen[rank]]: rank for rank in self._left(step.k)}
        tiers = {key: experts.tiers[self._residents.needed[rank] - 1] for key, rank in ranks.items()}
        demands = Demands(self._reads, tiers, len(tiers))
        try:
            self._run_as_they_come(experts, step, demands, ranks)
        finally:
            demands.abandon()
