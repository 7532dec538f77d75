"""Least frequently used."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from engine.experts.policies.policy import ExpertGrid, LayerVisit
from engine.experts.policies.scored import Array, ScoredPolicy, values

TIE = 1e-9  # of a use, per visit: of equals the one unused for longest is evicted; 1e9 visits make one use


class Lfu(ScoredPolicy):
    """Evicts the one used least often. within_sequence: uses count from the start of the sequence (hobbit, 5.5)."""

    def __init__(self, shape: ExpertGrid, *, within_sequence: bool = True) -> None:
        super().__init__(shape)
        self._within_sequence = within_sequence
        self._uses: Array = np.zeros(len(self._keys))
        self._last: Array = np.zeros(len(self._keys))
        self._each = values(self._uses), values(self._last)
        self._tick = 0

    def _note(self, base: int, visit: LayerVisit) -> None:
        uses, last = self._each
        self._tick += 1
        for i, expert in enumerate(visit.experts):
            uses[base + expert] += 1 if visit.counts is None else visit.counts[i]
            last[base + expert] = self._tick

    def _weigh(self, order: Array) -> None:
        np.multiply(self._last, TIE, out=order)
        order += self._uses

    def _forget(self) -> None:
        if self._within_sequence:
            self._uses[:] = 0.0

    def _noted(self) -> Sequence[Array]:
        return self._uses, self._last
