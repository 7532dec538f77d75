"""Activation of similar requests (moe-infinity, sections 4.4 and 4.5): match this token's matrix with theirs."""

from __future__ import annotations

import numpy as np

from engine.experts.eam import EamCollection, best
from engine.experts.predictors.counts import log_shares
from engine.experts.predictors.predictor import Floats, Shape, Sight

MATCHES = 8  # entries taken together
REQUEST = 0.25  # weight of what the request did so far beside this token alone


class Eam:
    """Experts of the rows to come as the closest entries of a collection used them.

    Cosines are kept up as rows are routed: a token adds K entries of 1 per row, so K columns of the collection are
    added up, whatever the size of the model. What the request did before tips the scale.
    """

    def __init__(self, shape: Shape, collection: EamCollection, *, adds: bool = True) -> None:
        """adds: requests seen here join the collection; False where somebody else sees to that."""
        self.name = "eam"
        self._adds = adds
        self._shape = shape
        self._collection = collection
        self._changes = -1
        self._request = np.zeros(shape.rows * shape.experts, np.float32)
        self._done = -1  # rows of this token that are in the similarities
        self._stamp = -1
        self._refresh()

    def begin_sequence(self) -> None:
        """A request ends: see `adds`."""
        self.end_request()

    def end_request(self) -> None:
        """Keep the matrix of the request that ends here, unless others do."""
        if self._adds:
            self._collection.add(self._request.reshape(self._shape.rows, -1))
        self._request[:] = 0

    def scores(self, sight: Sight, row: int) -> Floats | None:
        """See Predictor.scores."""
        if not len(self._collection):
            return None
        if self._changes != self._collection.changes:
            self._refresh()
        self._catch_up(sight)
        if self._stamp != sight.stamp:
            self._closest = best(self._similar, MATCHES)
            self._stamp = sight.stamp
        found = self._shares[row].take(self._closest, 0)
        return log_shares(found.sum(0))

    def learn(self, sight: Sight) -> None:
        """See Predictor.learn."""
        experts = self._shape.experts
        self._request[[sight.row * experts + expert for expert in sight.chosen[-1]]] += 1

    def _refresh(self) -> None:
        """The collection has changed."""
        self._changes = self._collection.changes
        self._columns = np.ascontiguousarray(self._collection.unit.T)
        counts = self._collection.counts
        shares = counts / np.maximum(counts.sum(2, keepdims=True), 1)
        self._shares = np.ascontiguousarray(shares.transpose(1, 0, 2))  # [rows, n, experts]
        self._similar = np.zeros(len(counts), np.float32)
        self._done = -1

    def _catch_up(self, sight: Sight) -> None:
        if self._done < 0 or sight.row + 1 < self._done or sight.row < 0:
            size = float(np.sqrt(np.dot(self._request, self._request)))
            self._similar = self._request @ self._columns * np.float32(REQUEST / size if size else 0)
            self._done = 0
        if self._done <= sight.row:
            experts = self._shape.experts
            rows = range(self._done, sight.row + 1)
            columns = [row * experts + expert for row in rows for expert in sight.chosen[row]]
            self._similar += self._columns.take(columns, 0).sum(0)
            self._done = sight.row + 1
