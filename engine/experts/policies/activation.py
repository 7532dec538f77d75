"""MoE-Infinity's activation-aware replacement (moe-infinity 4.5 and 4.6, algorithm 1)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from engine.experts.eam import EamCollection, EamMatcher
from engine.experts.policies.policy import ExpertGrid, LayerVisit
from engine.experts.policies.scored import Array, ScoredPolicy, values

EPSILON = 1e-4  # algorithm 1's: among experts of share 0 the later layers' are evicted first


class ActivationAware(ScoredPolicy):
    """Evicts the least (p + epsilon) (1 - row / rows), p being the expert's share of what its layer is expected to do.

    Expected is what the closest earlier answers of the collection did; they are looked up per iteration, anew with
    every layer that has been routed (EamMatcher). Where they say nothing of a layer, this sequence's own activations
    are expected. What many tokens use at once is a prompt, and is kept apart.
    """

    def __init__(self, shape: ExpertGrid, collection: EamCollection | None = None, *, adds: bool = True) -> None:
        """collection: of this model's earlier answers; None: an empty one. adds: every sequence joins it at its end;
        False where the session sees to that.
        """
        super().__init__(shape)
        self._collection = EamCollection(*self.table) if collection is None else collection
        self._adds = adds
        self._matching = EamMatcher(self._collection)
        # Of the tokens of answers, of the one being decoded among them, and of prompts; and the token that that one is.
        self._answer, self._now, self._prompt = (np.zeros(len(self._keys)) for _ in range(3))
        self._each = tuple(map(values, (self._answer, self._now, self._prompt)))
        self._of: Array = np.zeros(1)
        self._begun, self._begun_at = np.zeros(0, np.float32), -1  # similarities before the token's first layer
        rows = len(shape.layers)
        self._first = (1.0 - np.arange(rows) / rows)[:, None]  # the first layers, where no prefetch comes in time, stay

    def _note(self, base: int, visit: LayerVisit) -> None:
        answer, now, prompt = self._each
        if self._of[0] != self._token:
            self._of[0] = self._token
            self._now[:] = 0.0
        for i, expert in enumerate(visit.experts):
            if visit.tokens > 1:
                prompt[base + expert] += 1 if visit.counts is None else visit.counts[i]
            else:
                answer[base + expert] += 1
                now[base + expert] = 1

    def _weigh(self, order: Array) -> None:
        own = (self._answer + self._prompt).reshape(self.table)
        share = own / np.maximum(own.sum(1, keepdims=True), 1.0)
        if len(self._collection):
            if self._matching.changed() or self._begun_at != self._token:
                before = (self._answer - self._now).astype(np.float32)
                self._begun = self._matching.begun(before, self._prompt.astype(np.float32))
                self._begun_at = self._token
            similar = self._begun + self._matching.used(np.flatnonzero(self._now))
            found = self._matching.expected(self._matching.closest(similar))
            share = np.where(found.sum(1, keepdims=True) > 0, found, share)
        order[:] = ((share + EPSILON) * self._first).reshape(-1)

    def _end(self) -> None:
        if self._adds:
            self._collection.add(self._answer.astype(np.float32), self._prompt.astype(np.float32))

    def _forget(self) -> None:
        for noted in self._noted():
            noted[:] = 0.0
        self._begun_at = -1

    def _noted(self) -> Sequence[Array]:
        return self._answer, self._now, self._prompt, self._of
