"""Activation paths (edgemoe, section III-C): from the experts of the two rows before to those of the next."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.experts.predictors.predictor import Arrays, Floats, Predictor, RoutingContext, RoutingShape, log_shares

MOST_PATHS = 65_536  # 8 MB of counts at 128 experts
FULL = 255  # of a uint8: then the counts of the path are halved, so that the latest tokens weigh more

Counts = np.ndarray[tuple[int], np.dtype[np.uint8]]


class Paths(Predictor):
    """A dictionary (row, best expert two rows back, best of the row before) -> counts of the next row's experts.

    The paper's models choose one expert per token; where a token has several, its best stands for them, since whole
    sets hardly ever come again. Beyond the next row it goes on with the experts that it expects there itself.
    """

    def __init__(self, shape: RoutingShape, most: int = MOST_PATHS) -> None:
        """most: paths remembered."""
        self.name = "paths"
        self.changes = 0
        self._shape, self._experts, self._most = shape, shape.experts, most
        self.counts: dict[tuple[int, int, int], Counts] = {}

    def scores(self, context: RoutingContext, row: int) -> Floats | None:
        """See Predictor.scores."""
        if context.row < 1:
            return None
        two, one = context.chosen[-2][0], context.chosen[-1][0]
        for coming in range(context.row + 1, row):
            passed = self.counts.get((coming, two, one))
            if passed is None:
                return None
            two, one = one, int(passed.argmax())
        found = self.counts.get((row, two, one))
        return None if found is None else log_shares(found.astype(np.float32))

    def learn(self, context: RoutingContext) -> None:
        """See Predictor.learn."""
        if context.row < 2:
            return
        self.changes += 1
        key = (context.row, context.chosen[-3][0], context.chosen[-2][0])
        found = self.counts.get(key)
        if found is None:
            if len(self.counts) >= self._most:
                return
            found = self.counts[key] = np.zeros(self._experts, np.uint8)
        now = list(context.chosen[-1])
        if found[now].max() == FULL:
            found >>= 1  # what is old counts half
        found[now] += 1

    def state(self) -> dict[str, NDArray[Any]]:
        """See Table.state. keys: [n, 3]; counts: [n, experts]."""
        keys = np.array(list(self.counts), np.int32).reshape(-1, 3)
        counts = np.array(list(self.counts.values()), np.uint8).reshape(-1, self._experts)
        return {"keys": keys, "counts": counts}

    def restore(self, state: Arrays) -> None:
        """See Table.restore."""
        self.counts = self._checked(state)

    def merge(self, state: Arrays) -> None:
        """See Table.merge."""
        for key, theirs in self._checked(state).items():
            ours = self.counts.get(key)
            if (ours is None and len(self.counts) < self._most) or (ours is not None and theirs.sum() > ours.sum()):
                self.counts[key] = theirs
        self.changes += 1

    def _checked(self, state: Arrays) -> dict[tuple[int, int, int], Counts]:
        keys, counts = state["keys"], state["counts"]
        shapes = keys.shape == (len(counts), 3) and counts.shape == (len(keys), self._experts)
        if keys.dtype != np.int32 or counts.dtype != np.uint8 or not shapes or len(keys) > self._most:
            raise ValueError("paths of another model")
        if len(keys) and (keys.min() < 0 or (keys.max(0) >= (self._shape.rows, self._experts, self._experts)).any()):
            raise ValueError("impossible paths")
        whole = map(tuple, keys.tolist())
        return {key: np.array(own) for key, own in zip(whole, counts)}
