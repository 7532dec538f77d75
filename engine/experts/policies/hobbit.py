"""HOBBIT's multidimensional priority: recency, frequency, use at high precision, and distance (hobbit, eq. 3)."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

import numpy as np

from engine.experts.policies.policy import Shape, Visit
from engine.experts.policies.scored import Array, Leaving, Scored, values
from engine.experts.policies.weights import Weights
from engine.kernels.hobbit import numbers_where_native

TIE = 1e-9  # of a use, per visit


class Hobbit(Scored):
    """The least w_lru R/T + w_lfu F/T + w_lhu H/T + w_fld (1 - d / l_n) leaves.

    R: the token that used it last, F: uses, H: uses at high precision, all in this sequence; T: tokens so far. Scores
    are kept times T, which is the same for all and so changes no order. What a reset makes equal leaves in the order of
    its last use.

    A prompt counts as one use of each expert it visits, however many of its tokens chose it: it visits nearly all of
    them, and what is chosen by many of its tokens is read once. Counted by tokens, more is missed (docs/caching.md).

    d: visits until the expert's layer has its turn, 1 for the next layer and l_n for the one that runs. The paper has
    (l_t - l_i + l_n) mod l_n, the same but for the layer that runs, which it gives 0 and so keeps before all others;
    those of its experts that the token uses are leased anyhow, and the rest are a whole round away. On traces of the
    built-in model that would cost 5 % more misses in a cache of an eighth, and 1 to 4 % in larger ones.
    """

    def __init__(self, shape: Shape, weights: Weights) -> None:
        super().__init__(shape)
        self.weights = weights
        self._score: Array = np.zeros(len(self._keys))
        self._last: Array = np.zeros(len(self._keys))  # R
        self._tick: Array = np.zeros(len(self._keys))  # for ties: the visit that used it last, in all sequences
        self._each = tuple(map(values, (self._score, self._last, self._tick)))
        self._visits = 0.0
        self._near = self._nearness()
        self._native = numbers_where_native(
            self._score, self._last, self._tick, self._barred, self._near, self._order, self._state
        )
        if self._native is not None:
            self._next = self._native.found
            self._native.weigh(weights.lru, weights.lfu, weights.lhu)

    def leaving(self) -> Leaving | None:
        """See Scored."""
        found = super().leaving()
        return found if found is None or self._native is None else found._replace(hobbit=self._native.address)

    def routed(self, visit: Visit) -> None:
        """See Policy.routed."""
        if self._native is None:
            super().routed(visit)
        else:
            self._native.note(self._rows[visit.layer], visit.experts, visit.high, visit.tokens)

    def reweigh(self, weights: Weights) -> None:
        """Other weights from now on. Uses count from here; when each expert was used last is still known."""
        self._digest()
        self.weights = weights
        self._score[:] = weights.lru * self._last
        self._near[:] = self._nearness()  # in place: native code knows the addresses
        if self._native is not None:
            self._native.weigh(weights.lru, weights.lfu, weights.lhu)
        self._weighed = False

    def _nearness(self) -> Array:
        """[rows + 1, rows], by the row that runs."""
        rows = len(self._shape.layers)
        ahead = (np.arange(rows) - 1) % rows + 1  # visits until its turn, by rows from the one that runs
        near = self.weights.fld * (1.0 - ahead / rows)
        return np.stack([np.roll(near, row) for row in range(rows + 1)])

    def _note(self, base: int, visit: Visit) -> None:
        score, last, tick = self._each
        w, token, visits = self.weights, self._token, self._visits + TIE
        self._visits = visits
        recent = w.lru * token
        for i, expert in enumerate(visit.experts):
            at = base + expert
            used = w.lfu + w.lhu if visit.high is None or visit.high[i] else w.lfu
            score[at] += recent - w.lru * last[at] + used
            last[at] = token
            tick[at] = visits

    def _weigh(self, order: Array) -> None:
        np.add(self._score, self._tick, out=order)
        if self.weights.fld:
            by_row = order.reshape(self.table)
            by_row += (self._near[self._row] * self._token)[:, None]

    def _rank(self) -> None:
        if self._native is None:
            super()._rank()
        else:
            self._native.rank()  # the same numbers, to the last bit

    def _found(self) -> array[int] | None:
        return None if self._native is None else self._native.found

    def _forget(self) -> None:
        self._score[:] = 0.0
        self._last[:] = 0.0

    def _noted(self) -> Sequence[Array]:
        return self._score, self._last, self._tick

    @property
    def _round(self) -> tuple[float, ...]:
        """See Scored."""
        return (self._token, self._row) if self._native is None else self._native.round

    @_round.setter
    def _round(self, value: tuple[float, ...]) -> None:
        self._token, self._row = int(value[0]), int(value[1])
        if self._native is not None:
            self._native.round = self._token, self._row
