"""Activation of similar answers (moe-infinity, sections 4.4 to 4.6): match this token's matrix with theirs."""

from __future__ import annotations

import numpy as np

from engine.experts.eam import EamCollection, EamMatcher
from engine.experts.predictors.predictor import Floats, Predictor, RoutingContext, RoutingShape, log_shares


class Eam(Predictor):
    """Experts of the rows to come as the closest answers of a collection used them: see EamMatcher.

    It speaks of all later rows at once, the nearer the more (`plan`). What it is not told of, prompts among it, it only
    knows by `prompted`.
    """

    everywhere = True

    def __init__(self, shape: RoutingShape, collection: EamCollection, *, adds: bool = True) -> None:
        """adds: answers seen here join the collection; False where the session sees to that."""
        self.name = "eam"
        self._adds = adds
        self._shape = shape
        self.collection = collection
        self._matching = EamMatcher(collection)
        self._both = np.zeros((2, shape.rows * shape.experts), np.float32)
        self._answer, self._prompt = self._both
        self._similar = np.zeros(0, np.float32)
        self._done = -1  # rows of this token that are in the similarities
        self._stamp = -1
        # MoE-Infinity's proximity factor (section 4.5): 1 - (i - l) / L for a row i that is i - l ahead of the one
        # routed last.
        self._proximity = 1 - np.arange(shape.rows, dtype=np.float32)[:, None] / shape.rows  # by rows ahead

    def begin_sequence(self) -> None:
        """An answer ends: see `adds`."""
        self.end_request()

    def end_request(self) -> None:
        """Keep the matrix of the answer that ends here, unless others do."""
        if self._adds:
            self.collection.add(self._answer.reshape(self._shape.rows, -1))
        self._both[:] = 0
        self._done = self._stamp = -1

    def prompted(self, counts: Floats) -> None:
        """See Predictor.prompted."""
        self._prompt += counts.reshape(-1)
        self._done = self._stamp = -1

    def put_aside(self) -> Floats:
        """See Predictor.put_aside."""
        kept = self._both.copy()
        self._both[:] = 0
        self._done = self._stamp = -1
        return kept

    def bring_back(self, records: object) -> None:
        """See Predictor.bring_back."""
        assert isinstance(records, np.ndarray)
        self._both[:] = records
        self._done = self._stamp = -1

    def scores(self, context: RoutingContext, row: int) -> Floats | None:
        """See Predictor.scores."""
        return log_shares(self._matching.row(self._closest, row)) if self._look(context) else None

    def plan(self, context: RoutingContext) -> Floats | None:
        """See Predictor.plan: shares times 1 - (i - l) / L, l being the row routed last, the first before that."""
        if not self._look(context):
            return None
        first = context.row + 1
        found = self._matching.expected(self._closest)
        found[first:] *= self._proximity[first - max(context.row, 0) :][: len(found) - first]
        return found

    def learn(self, context: RoutingContext) -> None:
        """See Predictor.learn."""
        self._answer[self._places(context, context.row, context.row + 1)] += 1

    def _look(self, context: RoutingContext) -> bool:
        """Find the closest answers; False: there are none."""
        if not len(self.collection):
            return False
        if self._matching.changed():
            self._done = self._stamp = -1
        self._catch_up(context)
        if self._stamp != context.stamp:
            self._closest = self._matching.closest(self._similar)
            self._stamp = context.stamp
        return True

    def _catch_up(self, context: RoutingContext) -> None:
        if self._done < 0 or context.row + 1 < self._done or context.row < 0:
            self._similar = self._matching.begun(self._answer, self._prompt)
            self._done = 0
        if self._done <= context.row:
            self._similar = self._similar + self._matching.used(self._places(context, self._done, context.row + 1))
            self._done = context.row + 1

    def _places(self, context: RoutingContext, first: int, end: int) -> list[int]:
        experts = self._shape.experts
        return [row * experts + expert for row in range(first, end) for expert in context.chosen[row]]
