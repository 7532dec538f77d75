"""Prefetches experts that a predictor expects, and rests while that costs more than it saves."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Protocol

import numpy as np

from engine.experts.predictors.predictor import Floats, Predictor, RoutingContext
from engine.experts.prefetch.controller import PrefetchController
from engine.experts.prefetch.tracker import PrefetchTracker
from engine.experts.telemetry import PrefetchStats

QUIET = 4  # tokens that needed nothing from the disk, after which nothing is predicted until one needs something


class CardPrefetch(Protocol):
    """What brings experts to a graphics card ahead: engine.experts.card.ahead.CardAhead."""

    controller: PrefetchController

    @property
    def pays(self) -> bool:
        """Whether it gains anything now."""
        ...

    def reaches(self, ahead: int) -> bool:
        """Whether one more would be there so many layers later."""
        ...

    def begin(self) -> None:
        """Another token begins, or nothing is expected any more."""
        ...

    def expect(self, layer: int, ahead: int, scores: Floats, width: int) -> None:
        """A layer, so many behind the one that runs, is expected to choose the experts of the greatest scores."""
        ...

    def spent(self, seconds: float) -> None:
        """So long this thread was at it, for one layer."""
        ...

    def add_to(self, stats: PrefetchStats) -> PrefetchStats:
        """What it did, added to what was read from disk."""
        ...


class Prefetcher:
    """After each layer of a token, reads the experts ahead that a predictor expects; suspended while that costs too
    much. What is in memory comes to the card in the same way, where there is one that wants it.

    awake: False while suspended; `prefetch_after` need not be called then. card: None where there is none. Output never
    changes: an expert that came early is the same expert. Not thread-safe: for the thread that runs the model.
    """

    def __init__(
        self,
        layers: Sequence[int],
        predictor: Predictor,
        tracker: PrefetchTracker,
        rate: Callable[[], float],
        depth: int,
        width: int,
    ) -> None:
        """layers: the MoE layers as they run. rate: bytes per second that the disk brings, 0 while that is not known.
        depth: layers looked ahead at most. width: experts read ahead for a layer at most.
        """
        self.awake = False
        self.card: CardPrefetch | None = None
        self._from_disk = self._to_card = False
        self._layers = tuple(layers)
        self._predictor, self._tracker, self._rate = predictor, tracker, rate
        self._depth, self._width = depth, width
        self._row = {layer: row for row, layer in enumerate(layers)}
        self._context = RoutingContext()
        self._controller = PrefetchController()
        self._seconds, self._rests = 0.0, 0
        self._reads = 0  # experts so far that had to be read, before they were asked for or then
        self._quiet = QUIET
        self._in_step = False  # whether every row of this token so far was told

    @property
    def backing_off(self) -> bool:
        """Whether it is disabled for a while, since it did not pay."""
        return self._controller.backoff > 0

    @property
    def stats(self) -> PrefetchStats:
        """What it did so far."""
        found = replace(self._tracker.stats(), seconds=self._seconds, rests=self._rests)
        return found if self.card is None else self.card.add_to(found)

    # ---- events -------------------------------------------------------------------------------------------------

    def begin_sequence(self) -> None:
        """Begin another sequence with the next token."""
        self._tracker.cancel_all()
        self._predictor.begin_sequence()

    def prompted(self, counts: Floats) -> None:
        """Tell the predictor what a prompt of the sequence used. counts: [rows, experts]."""
        self._predictor.prompted(counts)

    @contextmanager
    def aside(self) -> Iterator[None]:
        """The predictor's records of the sequence are put aside while another one runs beside it."""
        self._tracker.cancel_all()
        records = self._predictor.put_aside()
        try:
            yield
        finally:
            self._tracker.cancel_all()
            self._predictor.bring_back(records)

    def begin(self, tokens: Sequence[int], misses: int) -> None:
        """Begin a pass over these tokens; prefetch if it is a single one, and the last ones missed experts.

        misses: of the runtime so far.
        """
        # Experts that the disk had to bring for the last token, in time or not: while there are none the whole model in
        # use is in memory, and predicting would only cost.
        reads = misses + self._tracker.used
        self._quiet = 0 if reads > self._reads else self._quiet + 1
        self._reads = reads
        self._controller.passed(len(self._row))
        if self.card is not None:
            self.card.controller.passed(len(self._row))
        single = len(tokens) == 1
        from_disk = single and self._quiet < QUIET and not self._controller.backoff
        to_card = single and self.card is not None and self.card.pays
        if not (from_disk or to_card or self.awake):
            return
        start = time.perf_counter()
        if self._from_disk:
            self._tracker.cancel_all()
        if self._to_card and self.card is not None:
            self.card.begin()
        awake = from_disk or to_card
        if awake and not self.awake:
            # Tokens went by untold (a prompt, or while it slept): a predictor that goes by the token before must not
            # take an older one for it.
            self._predictor.interrupted()
        self.awake = self._in_step = awake
        self._from_disk, self._to_card = from_disk, to_card
        if awake:
            self._context.begin(int(tokens[0]))
            if from_disk:
                self._tracker.commit_routing(-1, ())
                self._submit_prefetches()
            self._submit_to_card()
        self._spent(start)

    def prefetch_after(self, layer: int, chosen: Sequence[int], gating: Floats | None) -> None:
        """Record a layer's routing for one token, whose missing experts have been demanded already; prefetch for the
        next.

        chosen: best first. gating: [H] float32, what the experts are given; not kept longer than until the next call.
        """
        if not self._routed(layer, chosen, gating):
            return
        start = time.perf_counter()
        self._predictor.learn(self._context)
        if self._from_disk:
            self._tracker.commit_routing(self._context.row, chosen)
            self._submit_prefetches()
        self._spent(start)
        self._submit_to_card()
        if not self._from_disk:
            return
        self._controller.called(self._tracker.balance, self._rate)
        if self._controller.backoff:
            self._rests += 1
            self._tracker.cancel_all()
            self._from_disk = False
            self.awake = self._in_step = self._to_card

    def ran_on_card(self, layer: int, chosen: Sequence[int]) -> None:
        """Record a layer's routing for one token, which a card has computed by itself, among others behind it."""
        if self._routed(layer, chosen, None):
            self._predictor.learn(self._context)
            if self._from_disk:
                self._tracker.commit_routing(self._context.row, chosen)

    def _routed(self, layer: int, chosen: Sequence[int], gating: Floats | None) -> bool:
        """Whether it is the row that comes next. A row that was not told (an error in the middle of a token) leaves
        predictors with a gap: silent until the next token."""
        self._in_step = self._in_step and self._row[layer] == self._context.row + 1
        if self._in_step:
            self._context.routed(chosen, gating)
        return self._in_step

    def sleep(self) -> None:
        """Cancel what is in flight, and prefetch nothing until there is a need again."""
        self._tracker.cancel_all()
        if self.card is not None:
            self.card.begin()
        self.awake = self._in_step = self._from_disk = self._to_card = False

    # ---- prefetching --------------------------------------------------------------------------------------------

    def _submit_prefetches(self) -> None:
        """Walk the coming rows until one lacks an expert that is expected there, which is read ahead; or, where the
        predictor speaks of all rows at once, read of them all.
        """
        # At least one: at a quarter of the width of a top-1 model nothing would be read, and nothing measured from
        # which to recover.
        context, width = self._context, max(1, round(self._width * self._controller.width))
        if self._predictor.everywhere:
            plan = self._predictor.plan(context) if context.row + 1 < len(self._row) else None
            if plan is not None:
                self._tracker.plan_all(plan, width)
            return
        for row in range(context.row + 1, min(context.row + 1 + self._depth, len(self._row))):
            scores = self._predictor.scores(context, row)
            if scores is None or self._tracker.plan_row(row, scores, width) >= 0:
                return

    def _submit_to_card(self) -> None:
        """Bring what coming rows are expected to choose to the card, as far ahead as a copy may be in time for."""
        card, context = self.card, self._context
        if card is None or not self._to_card:
            return
        start, width = time.perf_counter(), max(1, round(self._width * card.controller.width))
        plan = self._predictor.plan(context) if self._predictor.everywhere else None
        for row in range(context.row + 1, min(context.row + 1 + self._depth, len(self._row))):
            ahead = row - context.row
            if not card.reaches(ahead):
                continue
            if self._predictor.everywhere:
                scores = None if plan is None else np.where(plan[row] > 0, plan[row], np.float32(-np.inf))
            else:
                scores = self._predictor.scores(context, row)
            if scores is not None:
                card.expect(self._layers[row], ahead, scores, width)
        card.spent(time.perf_counter() - start)

    def _spent(self, start: float) -> None:
        seconds = time.perf_counter() - start
        self._seconds += seconds
        self._controller.spent += seconds
