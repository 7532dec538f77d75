"""Activation of similar answers (moe-infinity, sections 4.4 to 4.6): match this token's matrix with theirs."""

from __future__ import annotations

import numpy as np

from engine.experts.eam import EamCollection, Matching
from engine.experts.predictors.predictor import Floats, Predictor, Shape, Sight, log_shares


class Eam(Predictor):
    """Experts of the rows to come as the closest answers of a collection used them: see Matching.

    It speaks of all later rows at once, the nearer the more (`plan`). What it is not told of, prompts among it, it only
    knows by `prompted`.
    """

    everywhere = True

    def __init__(self, shape: Shape, collection: EamCollection, *, adds: bool = True) -> None:
        """adds: answers seen here join the collection; False where somebody else sees to that."""
        self.name = "eam"
        self._adds = adds
        self._shape = shape
        self._collection = collection
        self._matching = Matching(collection)
        self._both = np.zeros((2, shape.rows * shape.experts), np.float32)
        self._answer, self._prompt = self._both
        self._similar = np.zeros(0, np.float32)
        self._done = -1  # rows of this token that are in the similarities
        self._stamp = -1
        self._proximity = 1 - np.arange(shape.rows, dtype=np.float32)[:, None] / shape.rows  # by rows ahead

    def begin_sequence(self) -> None:
        """An answer ends: see `adds`."""
        self.end_request()

    def end_request(self) -> None:
        """Keep the matrix of the answer that ends here, unless others do."""
        if self._adds:
            self._collection.add(self._answer.reshape(self._shape.rows, -1))
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

    def scores(self, sight: Sight, row: int) -> Floats | None:
        """See Predictor.scores."""
        return log_shares(self._matching.row(self._closest, row)) if self._look(sight) else None

    def plan(self, sight: Sight) -> Floats | None:
        """See Predictor.plan: shares times 1 - (i - l) / L, l being the row routed last, the first before that."""
        if not self._look(sight):
            return None
        first = sight.row + 1
        found = self._matching.expected(self._closest)
        found[first:] *= self._proximity[first - max(sight.row, 0) :][: len(found) - first]
        return found

    def learn(self, sight: Sight) -> None:
        """See Predictor.learn."""
        self._answer[self._places(sight, sight.row, sight.row + 1)] += 1

    def _look(self, sight: Sight) -> bool:
        """Find the closest answers; False: there are none."""
        if not len(self._collection):
            return False
        if self._matching.changed():
            self._done = self._stamp = -1
        self._catch_up(sight)
        if self._stamp != sight.stamp:
            self._closest = self._matching.closest(self._similar)
            self._stamp = sight.stamp
        return True

    def _catch_up(self, sight: Sight) -> None:
        if self._done < 0 or sight.row + 1 < self._done or sight.row < 0:
            self._similar = self._matching.begun(self._answer, self._prompt)
            self._done = 0
        if self._done <= sight.row:
            self._similar = self._similar + self._matching.used(self._places(sight, self._done, sight.row + 1))
            self._done = sight.row + 1

    def _places(self, sight: Sight, first: int, end: int) -> list[int]:
        experts = self._shape.experts
        return [row * experts + expert for row in range(first, end) for expert in sight.chosen[row]]
