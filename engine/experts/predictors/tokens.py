"""A table from token id to the experts of every layer: it speaks before the first layer has run."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine.experts.predictors.predictor import FLOOR, UNKNOWN, Floats, Shape, Sight

WIDTH = 16  # experts remembered per (token, row)
MOST_TOKENS = 8192  # remembered at once: 12 MB for 48 rows
PRIOR = 2.0  # a token's first sights count as much as this many of nothing in particular
FULL = 255


class TokenTable:
    """Sparse counts: of every token seen, the experts most often chosen in each row and how often.

    What does not fit in the width of a row takes the place of the least seen there, whose count it inherits less one
    (so that a newcomer can rise, as in Space-Saving, Metwally 2005).
    """

    def __init__(self, shape: Shape, most: int = MOST_TOKENS) -> None:
        """most: tokens remembered."""
        self.name = "tokens"
        self._shape, self._most = shape, most
        self.rows_of: dict[int, int] = {}
        self.ids: list[int] = []
        kind = np.uint8 if shape.experts <= 256 else np.uint16
        width = max(min(WIDTH, shape.experts), shape.k)
        self.experts: NDArray[np.unsignedinteger] = np.zeros((64, shape.rows, width), kind)
        self.counts = np.zeros((64, shape.rows, width), np.uint8)
        self.seen = np.zeros(64, np.uint16)
        self._out = np.zeros(shape.experts, np.float32)
        self._row = np.arange(shape.rows)[:, None]
        self._hand = 0

    def begin_sequence(self) -> None:
        """It spans sequences."""

    def scores(self, sight: Sight, row: int) -> Floats | None:
        """See Predictor.scores."""
        at = self.rows_of.get(sight.token)
        if at is None:
            return None
        seen = float(self.seen[at]) + PRIOR
        out = self._out
        out.fill(np.log(FLOOR + PRIOR * self._shape.k / self._shape.experts / seen))
        counts = self.counts[at, row]
        shares = counts * np.float32(1 / seen) + np.float32(FLOOR + PRIOR * self._shape.k / self._shape.experts / seen)
        known = counts > 0
        out[self.experts[at, row][known]] = np.log(shares[known])
        return out

    def learn(self, sight: Sight) -> None:
        """See Predictor.learn; whole tokens only."""
        if sight.row == self._shape.rows - 1 and sight.token != UNKNOWN:
            self.add(sight.token, np.asarray(sight.chosen))

    def add(self, token: int, chosen: NDArray[np.integer]) -> None:
        """One sight of a token. chosen: [rows, K]."""
        at = self.rows_of.get(token)
        if at is None:
            at = self._place_for(token)
        if self.seen[at] == FULL:
            self.counts[at] >>= 1
            self.seen[at] >>= 1
        self.seen[at] += 1
        experts, counts = self.experts[at], self.counts[at]
        for rank in range(chosen.shape[1]):
            mine = chosen[:, rank, None]
            same = (experts == mine) & (counts > 0)
            column = np.where(same.any(1), same.argmax(1), counts.argmin(1))[:, None]
            stays = np.take_along_axis(same, column, 1)
            count = np.take_along_axis(counts, column, 1)
            experts[self._row, column] = mine
            counts[self._row, column] = np.where(stays, count + 1, np.maximum(count, 1))

    def _place_for(self, token: int) -> int:
        if len(self.ids) < self._most:
            at = len(self.ids)
            self.ids.append(token)
            if at == len(self.seen):
                self._grow()
        else:
            at = self._least_seen()
            del self.rows_of[self.ids[at]]
            self.ids[at] = token
            self.counts[at], self.seen[at] = 0, 0
        self.rows_of[token] = at
        return at

    def _least_seen(self) -> int:
        """A token that was seldom seen: the least of the next few, going round, so that it costs little."""
        near = np.arange(self._hand, self._hand + 32) % self._most
        self._hand = int(near[-1]) + 1
        return int(near[self.seen[near].argmin()])

    def _grow(self) -> None:
        more = min(2 * len(self.seen), self._most)
        for name in ("experts", "counts", "seen"):
            old = getattr(self, name)
            new = np.zeros((more, *old.shape[1:]), old.dtype)
            new[: len(old)] = old
            setattr(self, name, new)
