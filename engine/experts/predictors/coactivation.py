"""Which experts follow which: counts of pairs between a row and the rows after it, for the same token."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.experts.predictors.predictor import Arrays, Floats, Predictor, RoutingContext, RoutingShape, log_shares

MOST = 65_535  # of a count, where it is kept


class Coactivation(Predictor):
    """P(expert of the coming row | experts of this row), averaged over this row's."""

    def __init__(self, shape: RoutingShape, depth: int) -> None:
        """depth: how many rows ahead it speaks for."""
        self.name = "coactivation"
        self.changes = 0
        self._depth = depth
        # by distance - 1, row, expert there: how often each expert followed
        self.counts = np.zeros((depth, shape.rows, shape.experts, shape.experts), np.float32)

    def scores(self, context: RoutingContext, row: int) -> Floats | None:
        """See Predictor.scores."""
        ahead = row - context.row
        if context.row < 0 or ahead > self._depth:
            return None
        seen = self.counts[ahead - 1, context.row].take(context.chosen[-1], 0)
        of_each = seen.sum(1)
        if not of_each.any():
            return None
        return log_shares((1 / np.maximum(of_each, 1)) @ seen)

    def learn(self, context: RoutingContext) -> None:
        """See Predictor.learn."""
        now = np.asarray(context.chosen[-1])
        self.changes += 1
        for ahead in range(1, min(self._depth, context.row) + 1):
            before = np.asarray(context.chosen[context.row - ahead])
            self.counts[ahead - 1, context.row - ahead, before[:, None], now] += 1

    def state(self) -> dict[str, NDArray[Any]]:
        """See Table.state."""
        return {"counts": np.minimum(self.counts, MOST).astype(np.uint16)}

    def restore(self, state: Arrays) -> None:
        """See Table.restore."""
        self.counts = self._checked(state)

    def merge(self, state: Arrays) -> None:
        """See Table.merge."""
        np.maximum(self.counts, self._checked(state), out=self.counts)
        self.changes += 1

    def _checked(self, state: Arrays) -> Floats:
        counts = state["counts"]
        if counts.dtype != np.uint16 or counts.shape != self.counts.shape:
            raise ValueError("counts of another model")
        return counts.astype(np.float32)
