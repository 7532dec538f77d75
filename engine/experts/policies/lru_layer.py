"""Least recently used, every layer for itself (mixtral-offloading)."""

from __future__ import annotations

import numpy as np

from engine.experts.keys import ExpertKey
from engine.experts.policies.lru import Lru
from engine.experts.policies.policy import Evictable, Shape
from engine.experts.policies.scored import PROTECTED


class LruPerLayer(Lru):
    """Every layer keeps its own LRU of k experts, k being an even share of what fits.

    A layer that has its share gives up one of its own; one that has less takes from the layer that has most.
    """

    def __init__(self, shape: Shape) -> None:
        super().__init__(shape)
        self._held = [0] * len(shape.layers)

    def inserted(self, key: ExpertKey) -> None:
        """See Policy.inserted."""
        self._held[self._rows[key.layer]] += self._bars[self._at(key)] == np.inf
        super().inserted(key)

    def removed(self, key: ExpertKey) -> None:
        """See Policy.removed."""
        self._held[self._rows[key.layer]] -= self._bars[self._at(key)] != np.inf
        super().removed(key)

    def victim(self, incoming: ExpertKey, evictable: Evictable) -> ExpertKey | None:
        """See Policy.victim."""
        self._digest()
        held, experts = self._held, self._shape.experts
        rows = sorted(range(len(held)), key=held.__getitem__, reverse=True)
        own = self._rows.get(incoming.layer)
        if own is not None and held[own] >= max(1, sum(held) // len(held)):
            rows.remove(own)
            rows.insert(0, own)
        rows = [row for row in rows if held[row]]
        for below in (PROTECTED, float("inf")):  # the protected of any layer only after all others
            for row in rows:
                base = row * experts
                here = slice(base, base + experts)
                key = self._least(self._last[here] + self._barred[here], evictable, base, below)
                if key is not None:
                    return key
        return None
