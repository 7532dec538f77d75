"""MoE-Infinity's activation-aware replacement (moe-infinity 4.5 and 4.6, algorithm 1)."""

from __future__ import annotations

import numpy as np

from engine.experts.eam import EamCollection
from engine.experts.policies.policy import Shape, Visit
from engine.experts.policies.scored import Array, Scored, values

EPSILON = 1e-4


class ActivationAware(Scored):
    """The least (p + epsilon) (1 - row / rows) leaves, p being the expert's share of what its layer is expected to do.

    Expected is what the closest earlier sequences of the collection did; it is looked up once a token. Where they say
    nothing of a layer, this sequence's own activations are expected. Every sequence joins the collection at its end.
    """

    def __init__(self, shape: Shape, collection: EamCollection | None = None) -> None:
        """collection: of this model's earlier sequences; None: an empty one."""
        super().__init__(shape)
        self._collection = EamCollection(*self.table) if collection is None else collection
        self._counts: Array = np.zeros(self.table)
        self._flat = values(self._counts)
        rows = len(shape.layers)
        self._first = (1.0 - np.arange(rows) / rows)[:, None]  # the first layers, where no prefetch comes in time, stay
        self._expected: Array = np.zeros(len(self._keys))
        self._expected_at = -1

    def _note(self, base: int, visit: Visit) -> None:
        flat = self._flat
        for i, expert in enumerate(visit.experts):
            flat[base + expert] += 1 if visit.counts is None else visit.counts[i]

    def _weigh(self, order: Array) -> None:
        if self._expected_at != self._token:
            self._expected_at = self._token
            self._expected = self._expect()
        order[:] = self._expected

    def _expect(self) -> Array:
        share = self._counts / np.maximum(self._counts.sum(1, keepdims=True), 1.0)
        if len(self._collection):
            found = self._collection.expected(self._counts.astype(np.float32))
            share = np.where(found.sum(1, keepdims=True) > 0, found, share)
        result: Array = ((share + EPSILON) * self._first).reshape(-1)
        return result

    def _forget(self) -> None:
        self._collection.add(self._counts.astype(np.float32))
        self._counts[:] = 0.0
        self._expected_at = -1
