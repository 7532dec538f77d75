"""MoE-Infinity's activation-aware replacement (moe-infinity 4.5 and 4.6, algorithm 1)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from engine.experts.policies.policy import Shape
from engine.experts.policies.scored import Array, Scored, Visit, values

EPSILON = 1e-4
Match = Callable[[Array], NDArray[np.floating]]


class ActivationAware(Scored):
    """The least (p + epsilon) (1 - row / rows) leaves, p being the expert's share of what its layer is expected to do.

    Expected is what `match` makes of the activations of this sequence, counts [rows, experts]: the matching matrices of
    earlier sequences, summed. It is asked once a token. Without it, or where it knows nothing of a layer, this
    sequence's own activations are what is expected.
    """

    def __init__(self, shape: Shape, match: Match | None = None) -> None:
        super().__init__(shape)
        self._match = match
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
        matrix = self._counts
        if self._match is not None:
            found = np.asarray(self._match(self._counts), np.float64)
            matrix = np.where(found.sum(1, keepdims=True) > 0, found, matrix)
        share = matrix / np.maximum(matrix.sum(1, keepdims=True), 1.0)
        result: Array = ((share + EPSILON) * self._first).reshape(-1)
        return result

    def _forget(self) -> None:
        self._counts[:] = 0.0
        self._expected_at = -1
