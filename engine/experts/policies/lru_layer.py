"""Least recently used, every layer for itself (mixtral-offloading)."""

from __future__ import annotations

import numpy as np

from engine.experts.keys import ExpertKey
from engine.experts.policies.lru import Lru
from engine.experts.policies.policy import Evictable, ExpertGrid, LayerVisit
from engine.experts.policies.scored import PROTECTED


class LruPerLayer(Lru):
    """Every layer keeps its own LRU of k experts, k being an even share of what fits.

    A layer that has its share evicts one of its own; one that has less takes from the layer that has most. Whom room
    was made for in this visit counts as there: room for all that a token misses is made before any of it has come.
    """

    def __init__(self, shape: ExpertGrid) -> None:
        super().__init__(shape)
        self._held = [0] * len(shape.layers)
        self._awaited: set[ExpertKey] = set()

    def routed(self, visit: LayerVisit) -> None:
        """See Policy.routed."""
        self._awaited.clear()
        super().routed(visit)

    def inserted(self, key: ExpertKey) -> None:
        """See Policy.inserted."""
        self._held[self._rows[key.layer]] += self._penalties[self._at(key)] == np.inf
        self._awaited.discard(key)
        super().inserted(key)

    def removed(self, key: ExpertKey) -> None:
        """See Policy.removed."""
        self._held[self._rows[key.layer]] -= self._penalties[self._at(key)] != np.inf
        super().removed(key)

    def victim(self, incoming: ExpertKey, evictable: Evictable) -> ExpertKey | None:
        """See Policy.victim."""
        self._bring_up()
        held, own = self._held, self._rows.get(incoming.layer)
        coming = self._awaited - {incoming}
        there = sum(key.layer == incoming.layer for key in coming) + (0 if own is None else held[own])
        full = own is not None and there >= max(1, (sum(held) + len(coming)) // len(held))
        if own is not None:
            self._awaited.add(incoming)
        if own is not None and full and (key := self._least(evictable, *self._of(own), PROTECTED)) is not None:
            return key
        rows = sorted(range(len(held)), key=held.__getitem__, reverse=True)
        if own is not None and full:
            rows.remove(own)
            rows.insert(0, own)
        for below in (PROTECTED, float("inf")):  # the protected of any layer only after all others
            for row in rows:
                key = self._least(evictable, *self._of(row), below) if held[row] else None
                if key is not None:
                    return key
        return None

    def _of(self, row: int) -> tuple[int, int]:
        """Numbers of a row's experts: the first, and where they end."""
        return row * self._shape.experts, (row + 1) * self._shape.experts
