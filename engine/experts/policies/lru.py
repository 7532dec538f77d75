"""Least recently used, over all layers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from engine.experts.keys import ExpertKey
from engine.experts.policies.policy import ExpertGrid, LayerVisit
from engine.experts.policies.scored import Array, ScoredPolicy, values


class Lru(ScoredPolicy):
    """Evicts the one unused for longest, whatever its layer; what has just come counts as used."""

    def __init__(self, shape: ExpertGrid) -> None:
        super().__init__(shape)
        self._last: Array = np.zeros(len(self._keys))  # when each was used last, in uses of any expert
        self._lasts = values(self._last)
        self._tick = 0

    def inserted(self, key: ExpertKey) -> None:
        """See Policy.inserted."""
        super().inserted(key)
        self._digest()
        self._tick += 1
        self._lasts[self._at(key)] = self._tick

    def _note(self, base: int, visit: LayerVisit) -> None:
        lasts, tick = self._lasts, self._tick
        for expert in visit.experts:
            tick += 1
            lasts[base + expert] = tick
        self._tick = tick

    def _weigh(self, order: Array) -> None:
        order[:] = self._last

    def _forget(self) -> None:
        """What was used last in the old sequence still stays longest."""

    def _noted(self) -> Sequence[Array]:
        return (self._last,)
