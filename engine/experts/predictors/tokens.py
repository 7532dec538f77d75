"""A table from token id to the experts of every layer: it speaks before the first layer has run."""

from __future__ import annotations

import math

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
        # Places of count 0 hold an expert each, too, so that none is ever named twice in a row.
        self._unused = np.broadcast_to(np.arange(width, dtype=kind), (shape.rows, width))
        self.experts: NDArray[np.unsignedinteger] = np.tile(self._unused, (64, 1, 1))
        self.counts = np.zeros((64, shape.rows, width), np.uint8)
        self.seen = np.zeros(64, np.uint16)
        self._out = np.zeros(shape.experts, np.float32)
        self._rows = np.arange(shape.rows)[:, None]
        self._hand = 0

    def begin_sequence(self) -> None:
        """It spans sequences."""

    def scores(self, sight: Sight, row: int) -> Floats | None:
        """See Predictor.scores."""
        at = self.rows_of.get(sight.token)
        if at is None:
            return None
        seen = float(self.seen[at]) + PRIOR
        share = FLOOR + PRIOR * self._shape.k / self._shape.experts / seen  # of whom the token never chose
        out = self._out
        out.fill(math.log(share))
        out[self.experts[at, row]] = np.log(self.counts[at, row] * np.float32(1 / seen) + np.float32(share))
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
        experts, counts, rows = self.experts[at], self.counts[at], self._rows
        same = experts[:, None] == chosen[..., None]  # [rows, K, width]
        known = same.any(2)
        column = same.argmax(2)
        if not known.all():
            weight = counts.astype(np.int16)
            weight[(same & known[..., None]).any(1)] = FULL + 1  # not for newcomers
            lowest = weight.argsort(1, kind="stable")
            newcomer = (~known).cumsum(1) - 1  # of its row the how manieth
            column = np.where(known, column, np.take_along_axis(lowest, np.maximum(newcomer, 0), 1))
            experts[rows, column] = chosen
        counts[rows, column] = np.where(known, counts[rows, column] + 1, np.maximum(counts[rows, column], 1))

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
            self.experts[at], self.counts[at], self.seen[at] = self._unused, 0, 0
        self.rows_of[token] = at
        return at

    def _least_seen(self) -> int:
        """A token that was seldom seen: the least of the next few, going round, so that it costs little."""
        near = np.arange(self._hand, self._hand + 32) % self._most
        self._hand = int(near[-1]) + 1
        return int(near[self.seen[near].argmin()])

    def _grow(self) -> None:
        more = min(2 * len(self.seen), self._most)
        added = more - len(self.seen)
        self.experts = np.concatenate([self.experts, np.tile(self._unused, (added, 1, 1))])
        self.counts = np.concatenate([self.counts, np.zeros((added, *self.counts.shape[1:]), np.uint8)])
        self.seen = np.concatenate([self.seen, np.zeros(added, np.uint16)])
