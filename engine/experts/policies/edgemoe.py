"""EdgeMoE's eviction: seldom used, and far from its turn (edgemoe III-C2)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from engine.experts.policies.policy import ExpertGrid, LayerVisit
from engine.experts.policies.scored import Array, ScoredPolicy, values


class EdgeMoe(ScoredPolicy):
    """Of f uses at row i, row I running now, S rows: evicts the greatest -f / d, so the least f / d.

    The paper prints d = (S - i + I) mod S, by which those of the layers that come next would be evicted first, and says
    the opposite in words: a layer that is going to run soon stays. The words are followed: d = (i - I) mod S, the
    layers until its turn, S for the layer that runs now. Uses are counted over sequences, as the paper does. What was
    never used leaves the further first.
    """

    def __init__(self, shape: ExpertGrid) -> None:
        super().__init__(shape)
        self._uses: Array = np.zeros(len(self._keys))
        self._counts = values(self._uses)
        rows = len(shape.layers)
        turn = 1.0 / (np.arange(-1, rows - 1) % rows + 1)  # by rows ahead of the one that runs: 0 is a round away
        self._turns = [np.roll(turn, row)[:, None] for row in range(rows + 1)]

    def _note(self, base: int, visit: LayerVisit) -> None:
        counts = self._counts
        for i, expert in enumerate(visit.experts):
            counts[base + expert] += 1 if visit.counts is None else visit.counts[i]

    def _weigh(self, order: Array) -> None:
        np.add(self._uses, 1e-6, out=order)
        by_row = order.reshape(self.table)
        by_row *= self._turns[self._row]

    def _forget(self) -> None:
        """Uses of all sequences count."""

    def _noted(self) -> Sequence[Array]:
        return (self._uses,)
