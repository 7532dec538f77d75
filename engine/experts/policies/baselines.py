"""The policies that others are held against: LRU, LRU per layer, LFU, EdgeMoE's and MoE-Infinity's."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from engine.experts.eam import EamCollection, EamMatcher
from engine.experts.keys import ExpertKey
from engine.experts.policies.policy import Evictable, ExpertGrid, LayerVisit
from engine.experts.policies.scored import PROTECTED, Array, ScoredPolicy, values

TIE = 1e-9  # of a use, per visit, for LFU: of equals the one unused for longest is evicted; 1e9 visits make one use
EPSILON = 1e-4  # algorithm 1's: among experts of share 0 the later layers' are evicted first


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
        """Nothing: recency is kept across sequences."""

    def _noted(self) -> Sequence[Array]:
        return (self._last,)


class LruPerLayer(Lru):
    """Every layer keeps its own LRU of as many experts as is its even share of what fits.

    A layer that has its share evicts one of its own; one that has less takes from the layer that has most. Pending
    loads of this visit count as resident: a token's misses are all reserved before one has come.
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
        # A token's misses of a layer are all reserved before one is there: counted by residents alone, its own layer
        # would seem to have room for each of them.
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
        # Far below one use, and above 0: times the turn it still orders those that were never used by their distance.
        np.add(self._uses, 1e-6, out=order)
        by_row = order.reshape(self.table)
        by_row *= self._turns[self._row]

    def _forget(self) -> None:
        """Nothing: uses of all sequences count."""

    def _noted(self) -> Sequence[Array]:
        return (self._uses,)


class ActivationAware(ScoredPolicy):
    """Evicts the least (p + epsilon) (1 - row / rows), p being the expert's share of what its layer is expected to do.

    Source: MoE-Infinity, sections 4.5 and 4.6, algorithm 1.

    Expected is what the closest earlier answers of the collection did; they are looked up per iteration, anew with
    every layer that has been routed (EamMatcher). Where they say nothing of a layer, this sequence's own activations
    are expected. What many tokens use at once is a prompt, and is kept apart.
    """

    def __init__(self, shape: ExpertGrid, collection: EamCollection | None = None, *, adds: bool = True) -> None:
        """collection: of this model's earlier answers; None: an empty one. adds: every sequence joins it at its end;
        False where the session sees to that.
        """
        super().__init__(shape)
        self.collection = EamCollection(*self.table) if collection is None else collection
        self._adds = adds
        self._matching = EamMatcher(self.collection)
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
        if len(self.collection):
            if self._matching.changed() or self._begun_at != self._token:
                # Without the token under way, which is matched by itself (`used`): it would count twice.
                before = (self._answer - self._now).astype(np.float32)
                self._begun = self._matching.begun(before, self._prompt.astype(np.float32))
                self._begun_at = self._token
            similar = self._begun + self._matching.used(np.flatnonzero(self._now))
            found = self._matching.expected(self._matching.closest(similar))
            share = np.where(found.sum(1, keepdims=True) > 0, found, share)
        order[:] = ((share + EPSILON) * self._first).reshape(-1)

    def _end(self) -> None:
        if self._adds:
            self.collection.add(self._answer.astype(np.float32), self._prompt.astype(np.float32))

    def _forget(self) -> None:
        for noted in self._noted():
            noted[:] = 0.0
        self._begun_at = -1

    def _noted(self) -> Sequence[Array]:
        return self._answer, self._now, self._prompt, self._of
