"""Experts that are expected in the next layers come to the card while it computes this one."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import numpy as np

from engine.cuda.errors import CardError
from engine.experts.card.residency import CardCache, CardFullError
from engine.experts.card.split import SideRates
from engine.experts.keys import ExpertKey
from engine.experts.predictors.predictor import Floats
from engine.experts.prefetch.controller import PrefetchController
from engine.experts.telemetry import PrefetchStats

AT_ONCE = 2  # parcels: one that crosses, and the next; what else is expected can still be left where it is
LEARN = 0.05  # weight of the last layer in how long one takes


class CardAhead:
    """For the thread that runs the model, under the layer's lock. Output never changes: where an expert is computed
    makes no difference to it.

    spent: seconds of that thread, added to by Prefetcher. crossing: whether what the card lacks crosses over to be
    computed there (GPU-centric); else the processor would compute it meanwhile, so that an expert has to come in less
    time than it takes there.
    """

    def __init__(
        self, held: CardCache, rates: Callable[[], SideRates], crossing: Callable[[], bool],
        alive: Callable[[], bool], failed: Callable[[CardError], object],
    ) -> None:  # fmt: skip
        """rates: of both sides now. alive: whether the card computes. failed: told what makes it fail."""
        self.controller = PrefetchController()
        self._held, self._rates = held, rates
        self._crossing, self._alive, self._failed = crossing, alive, failed
        self._planned: set[ExpertKey] = set()  # brought ahead, and not asked for yet
        self._expected: dict[int, list[int]] = {}  # by layer, the first of those that were expected there
        self._runs: tuple[int, Sequence[int]] = (-1, ())  # the layer that runs, and what it has chosen
        self._layer_seconds, self._last = 0.0, (-1, 0.0)
        self._counts = PrefetchStats(said=[0], right=[0])

    # ---- whether it pays --------------------------------------------------------------------------------------------

    @property
    def worth(self) -> bool:
        """Whether an expert that comes ahead saves anything, by what was measured."""
        rates = self._rates()
        return self._alive() and (self._crossing() or self._seconds(self._largest) < rates.host - rates.card)

    @property
    def pays(self) -> bool:
        """Whether it is worth it, and was so lately."""
        return not self.controller.backoff and self._layer_seconds > 0 and self.worth

    def reaches(self, ahead: int) -> bool:
        """Whether one more would be there so many layers later."""
        beside = self._held.beside
        if beside + self._largest > AT_ONCE * self._largest:
            return False
        return self._seconds(beside + self._largest) <= ahead * self._layer_seconds

    def _seconds(self, nbytes: int) -> float:
        return nbytes / self._held.courier.rate

    @property
    def _largest(self) -> int:
        return self._held.largest

    # ---- what comes -------------------------------------------------------------------------------------------------

    def begin(self) -> None:
        """Another token begins, or nothing is expected any more."""
        self._settle(list(self._planned), ())
        self._expected.clear()
        self._runs, self._last = (-1, ()), (-1, 0.0)

    def expect(self, layer: int, ahead: int, scores: Floats, width: int) -> None:
        """Bring what a coming layer is expected to choose and the card lacks, the likeliest first; leave what is
        expected no more. scores: [experts]. width: experts brought at most."""
        best = np.argsort(-scores, kind="stable")[: 2 * width]
        expected = [ExpertKey(layer, int(expert)) for expert in best if scores[expert] > -np.inf]
        # Twice as many count as expected as are brought: one that slipped a few ranks may be asked for all the same.
        self._settle([key for key in self._planned if key.layer == layer and key not in expected], ())
        self._expected[layer] = [key.expert for key in expected[:width]]
        try:
            self._held.use()
            for key in expected[:width]:
                if not self.reaches(ahead):
                    return
                self._bring(key)
        except CardError as error:
            self._failed(error)

    def _bring(self, key: ExpertKey) -> None:
        held, tier = self._held, self._held.full(key)
        if not held.can_come(key, tier) or not held.can_lend(held.spec(key).layout.bytes_for(tier)):
            return
        try:
            leaves = held.victims(key, tier, (*self._chosen, *self.expected))
        except CardFullError:
            return
        for other in leaves:
            held.leave(other)
        if held.bring(key, tier, beside=True):
            self._planned.add(key)
            self._counts.started += 1

    @property
    def _chosen(self) -> list[ExpertKey]:
        layer, chosen = self._runs
        return [ExpertKey(layer, expert) for expert in chosen]

    @property
    def expected(self) -> list[ExpertKey]:
        """What coming layers are expected to choose."""
        return [ExpertKey(layer, expert) for layer, own in self._expected.items() for expert in own]

    def asked(self, layer: int, chosen: Sequence[int], *, alone: bool = False) -> None:
        """A token's layer has chosen these: what was brought for it was of use, or in vain. alone: the card has
        computed them by itself, among other layers."""
        now, (before, then) = time.perf_counter(), self._last
        if before >= 0 and layer > before and not alone:
            self._layer_seconds += (LEARN if self._layer_seconds else 1.0) * (now - then - self._layer_seconds)
        self._last = (-1, 0.0) if alone else (layer, now)
        self._runs = layer, chosen
        if not self._planned and layer not in self._expected:
            return
        expected = self._expected.pop(layer, None)
        if expected is not None:
            self._counts.said[0] += len(expected[: len(chosen)])
            self._counts.right[0] += len({*expected[: len(chosen)]}.intersection(chosen))
        self._settle([key for key in self._planned if key.layer <= layer], self._chosen)

    def _settle(self, keys: Sequence[ExpertKey], chosen: Sequence[ExpertKey]) -> None:
        """These are expected no more, of which those were chosen."""
        counts = self._counts
        for key in keys:
            self._planned.discard(key)
            nbytes = self._held.spec(key).layout.bytes_for(self._held.full(key))
            if key in chosen:
                counts.used += 1
                counts.useful += nbytes
                late = self._held.is_coming(key)
                counts.joined += late
                counts.early += 0 if late else nbytes
            elif self._held.give_up(key):
                counts.cancelled += 1
            else:
                counts.wasted += nbytes

    # ---- what came of it --------------------------------------------------------------------------------------------

    def spent(self, seconds: float) -> None:
        """So long the model's thread was at it, for one layer."""
        self.controller.spent += seconds
        self.controller.called((self._counts.early, self._counts.wasted), lambda: self._held.courier.rate)

    def add_to(self, stats: PrefetchStats) -> PrefetchStats:
        """What was read from disk ahead and what was brought to the card, together."""
        own = self._counts
        first = (stats.said or [0])[0] + own.said[0], (stats.right or [0])[0] + own.right[0]
        stats.said, stats.right = [first[0], *stats.said[1:]], [first[1], *stats.right[1:]]
        for name in ("useful", "early", "wasted", "started", "used", "joined", "cancelled"):
            setattr(stats, name, getattr(stats, name) + getattr(own, name))
        return stats
