"""Prefetches experts that a predictor expects, and rests while that costs more than it saves."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from engine.experts.predictors.predictor import Floats, Predictor, RoutingContext
from engine.experts.prefetch.tracker import PrefetchTracker
from engine.experts.telemetry import PrefetchStats

# Layer calls after which cost and benefit are compared: 5 to 10 tokens, so that one odd token decides nothing.
WINDOW = 256
FIRST_BACKOFF = 512  # layer calls; doubled every time it did not pay again
LONGEST_BACKOFF = 1 << 16  # layer calls: some minutes, after which the disk or the text may be others
WASTE = 0.5  # of the time a wasted read took: demands waited for its last chunks, and what it pushed out may come again
OVERRATED = 0.7  # of the time a read took is saved if it came early: hits would have been computed meanwhile
QUIET = 4  # tokens that needed nothing from the disk, after which nothing is predicted until one needs something


def gain(early: int, wasted: int, spent: float, rate: float) -> float:
    """Seconds saved. early, wasted: bytes that were there in time, and that were read in vain. spent: seconds of the
    model's thread. rate: bytes per second that the disk brings."""
    return (OVERRATED * early - WASTE * wasted) / rate - spent


class PrefetchController:
    """Compares cost and benefit every WINDOW layer calls. width: share of what could be expected that is read, 0.25 to
    1. spent: seconds of the model's thread in this window, added to by Prefetcher. backoff: layer calls left without
    prefetch.
    """

    def __init__(self) -> None:
        self.spent = 0.0
        self.width = 1.0
        self.backoff = 0
        self._next_backoff = FIRST_BACKOFF
        self._calls = 0  # in this window
        self._before = 0, 0  # the balance at its beginning

    def called(self, balance: tuple[int, int], rate_of: Callable[[], float]) -> None:
        """Count a layer call with prefetch. balance: bytes in time and wasted so far. rate_of: bytes per second that
        the disk brings; 0: not known yet."""
        self._calls += 1
        if self._calls < WINDOW or (rate := rate_of()) <= 0:
            return
        before, spent = self._before, self.spent
        self._before, self.spent, self._calls = balance, 0.0, 0
        early, wasted = balance[0] - before[0], balance[1] - before[1]
        if gain(early, wasted, spent, rate) <= 0:
            # Doubled while it does not pay, reset by one window that does: text changes, disks seldom.
            self.backoff = self._next_backoff
            self._next_backoff = min(2 * self._next_backoff, LONGEST_BACKOFF)
            return
        self._next_backoff = FIRST_BACKOFF
        # Between the two bounds nothing changes, or the width would swing with every window.
        if wasted > early:
            self.width = max(0.25, self.width / 2)
        elif wasted < early / 2:
            self.width = min(1.0, self.width * 2)

    def passed(self, calls: int) -> None:
        """Count layer calls without prefetch."""
        self.backoff = max(0, self.backoff - calls)


class Prefetcher:
    """After each layer of a token, reads the experts ahead that a predictor expects; suspended while that costs too
    much.

    awake: False while suspended; `prefetch_after` need not be called then. Output never changes: an expert that came
    early is the same expert. Not thread-safe: for the thread that runs the model.
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
        return replace(self._tracker.stats(), seconds=self._seconds, rests=self._rests)

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
        awake = len(tokens) == 1 and self._quiet < QUIET and not self._controller.backoff
        if not awake and not self.awake:
            return
        start = time.perf_counter()
        if self.awake:
            self._tracker.cancel_all()
        if awake and not self.awake:
            # Tokens went by untold (a prompt, or while it slept): a predictor that goes by the token before must not
            # take an older one for it.
            self._predictor.interrupted()
        self.awake = self._in_step = awake
        if awake:
            self._context.begin(int(tokens[0]))
            self._tracker.commit_routing(-1, ())
            self._submit_prefetches()
        self._spent(start)

    def prefetch_after(self, layer: int, chosen: Sequence[int], gating: Floats | None) -> None:
        """Record a layer's routing for one token, whose missing experts have been demanded already; prefetch for the
        next.

        chosen: best first. gating: [H] float32, what the experts are given; not kept longer than until the next call.
        """
        row = self._row[layer]
        # A row that was not told (an error in the middle of a token) leaves predictors with a gap: silent until the
        # next token.
        if not self._in_step or row != self._context.row + 1:
            self._in_step = False
            return
        start = time.perf_counter()
        self._context.routed(chosen, gating)
        self._predictor.learn(self._context)
        self._tracker.commit_routing(row, chosen)
        self._submit_prefetches()
        self._spent(start)
        self._controller.called(self._tracker.balance, self._rate)
        if self._controller.backoff:
            self._rests += 1
            self.sleep()

    def sleep(self) -> None:
        """Cancel what is in flight, and prefetch nothing until there is a need again."""
        self._tracker.cancel_all()
        self.awake = self._in_step = False

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

    def _spent(self, start: float) -> None:
        seconds = time.perf_counter() - start
        self._seconds += seconds
        self._controller.spent += seconds
