"""How well predictors of coming experts do on a recorded run: what they find, and what would be read in vain."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from engine.experts.eam import EamCollection
from engine.experts.predictors import (
    NONE,
    Blend,
    Coactivation,
    Eam,
    Paths,
    Predictor,
    TokenTable,
    TraceView,
    fit_weights,
    walk,
)
from engine.tracing.trace import NO_EXPERT, Trace

DEPTH = 3  # layers ahead
LEARNED = 0.5  # of a trace is for learning: half of that for the predictors alone, half for the blend's weights too
JUDGED = 2000  # tokens of the rest, at most


@dataclass
class Score:
    """What a predictor got right. found, asked: by distance - 1, the last for `start`; found also by k and 2k."""

    found: np.ndarray = field(default_factory=lambda: np.zeros((DEPTH + 1, 2)))
    asked: np.ndarray = field(default_factory=lambda: np.zeros(DEPTH + 1))
    seconds: float = 0.0
    calls: int = 0
    read: int = 0
    wasted: int = 0

    def row(self) -> dict[str, Any]:
        """recall_k, recall_2k: shares of the experts chosen that were among the k, and 2k, expected most, 1 to DEPTH
        layers ahead; `start`: of the first layer, before it has run. wasted: share of what was read ahead in vain.
        us: microseconds of one prediction.
        """
        recall = self.found / np.maximum(self.asked, 1)[:, None]
        names = [*map(str, range(1, DEPTH + 1)), "start"]
        return {
            "recall_k": {name: round(float(one[0]), 4) for name, one in zip(names, recall)},
            "recall_2k": {name: round(float(one[1]), 4) for name, one in zip(names, recall)},
            "wasted": round(self.wasted / self.read, 4) if self.read else None,
            "us": round(1e6 * self.seconds / self.calls, 2) if self.calls else None,
        }


class ReadAhead:
    """An LRU cache into which the next layer's expected experts are read; counts what was not used before it left."""

    def __init__(self, slots: int) -> None:
        self._slots = slots
        self._held: OrderedDict[tuple[int, int], bool] = OrderedDict()  # whether it has yet to prove useful
        self.read = self.wasted = 0

    def expect(self, row: int, experts: Sequence[int]) -> None:
        """Read those that are missing."""
        for key in ((row, expert) for expert in experts):
            if key not in self._held:
                self.read += 1
                self._put(key, True)

    def use(self, row: int, experts: Sequence[int]) -> None:
        """These are used now."""
        for key in ((row, expert) for expert in experts):
            self._held.pop(key, None)
            self._put(key, False)

    def _put(self, key: tuple[int, int], unproven: bool) -> None:
        self._held[key] = unproven
        if len(self._held) > self._slots:
            self.wasted += self._held.popitem(last=False)[1]


def judge(run: TraceView, parts: Sequence[Predictor], judged: Sequence[Predictor]) -> dict[str, Score]:
    """Walk the run once; the parts go on learning, and those judged, parts or made of them, are asked."""
    rows, experts = run.shape.rows, run.experts
    scores = {one.name: Score() for one in judged}
    caches = {one.name: ReadAhead(rows * experts // 2) for one in judged}
    token = -1
    for sight in walk(run, parts):
        token += sight.row < 0
        if sight.row >= 0:
            for cache in caches.values():
                cache.use(sight.row, list(sight.chosen[-1]))
        first = sight.row < 0
        for row in range(sight.row + 1, 1 if first else min(sight.row + DEPTH, rows - 1) + 1):
            at = DEPTH if first else row - sight.row - 1
            truth = set(run.ids[row, token].tolist()) - {NONE}
            k = len(truth)
            for one in judged:
                score = scores[one.name]
                score.asked[at] += k
                start = time.perf_counter()
                found = one.scores(sight, row)
                score.seconds += time.perf_counter() - start
                score.calls += 1
                if found is None:
                    continue
                order = np.argsort(-found, kind="stable")[: 2 * k].tolist()
                score.found[at] += len(truth & set(order[:k])), len(truth & set(order))
                if row == sight.row + 1:
                    caches[one.name].expect(row, order[:k])
    for name, score in scores.items():
        score.read, score.wasted = caches[name].read, caches[name].wasted
    return scores


def trace_view(trace: Trace) -> TraceView:
    """A trace as predictors see it: every token by itself, its experts best first."""
    order = np.argsort(-np.abs(trace.weights.astype(np.float32)), axis=-1, kind="stable")
    first = np.cumsum(trace.passes) - trace.passes
    starts = frozenset(first[trace.begins].tolist())
    ids = np.take_along_axis(trace.ids, order, -1).astype(np.int32)
    return TraceView(trace.token_ids, starts, np.where(ids == NO_EXPERT, NONE, ids), trace.experts)


def recall(trace: Trace) -> dict[str, Score]:
    """All predictors that live on routing alone, and their blend: taught on the first half, judged on the second.

    Those that multiply gates see more than a trace holds and are not among them. Empty where the trace is too short.
    """
    run = trace_view(trace)
    tokens = trace.tokens
    taught, weighed = int(LEARNED * tokens / 2), int(LEARNED * tokens)
    if taught < 1:
        return {}
    shape = run.shape
    parts: list[Predictor] = [
        TokenTable(shape),
        Coactivation(shape, DEPTH),
        Paths(shape),
        Eam(shape, EamCollection(shape.rows, shape.experts)),
    ]
    for _ in walk(run.part(0, taught), parts):
        pass
    blend = Blend(parts, fit_weights(run.part(taught, weighed), parts, DEPTH, None))
    return judge(run.part(weighed, min(tokens, weighed + JUDGED)), parts, [*parts, blend])
