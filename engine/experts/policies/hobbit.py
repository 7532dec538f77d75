"""HOBBIT's multidimensional priority: recency, frequency, use at high precision, and distance (hobbit, eq. 3)."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import astuple, dataclass

import numpy as np

from engine.errors import Kind, UnderhillError
from engine.experts.policies.policy import ExpertGrid, LayerVisit
from engine.experts.policies.scored import Array, EvictionState, ScoredPolicy
from engine.native.eviction import HobbitScores
from engine.translatable import msg


class Hobbit(ScoredPolicy):
    """Evicts the least w_lru R/T + w_lfu F/T + w_lhu H/T + w_fld (1 - d / l_n) (eq. 3).

    R: the token that used it last, F: uses, H: uses at high precision, all in this sequence; T: tokens so far. Scores
    are kept times T, which is the same for all and so changes no order. What a reset makes equal is evicted in the
    order of its last use.

    A prompt counts as one use of each expert it visits, however many of its tokens chose it: it visits nearly all of
    them, and what is chosen by many of its tokens is read once. Counted by tokens, more is missed (docs/caching.md).

    d: visits until the expert's layer has its turn, 1 for the next layer and l_n for the one that runs. The paper has
    (l_t - l_i + l_n) mod l_n, the same but for the layer that runs, which it gives 0 and so keeps before all others;
    those of its experts that the token uses are leased anyhow, and the rest are a whole round away. On traces of the
    built-in model that would cost 5 % more misses in a cache of an eighth, and 1 to 4 % in larger ones.
    """

    def __init__(self, shape: ExpertGrid, weights: HobbitWeights) -> None:
        super().__init__(shape)
        self.weights = weights
        n = len(self._keys)
        self.score, self.last, self._tick = np.zeros(n), np.zeros(n), np.zeros(n)  # last: R; tick: for ties
        self._near = self._nearness()
        # hobbit.c keeps all of these up to date, and knows their addresses.
        self._numbers = HobbitScores(
            self.score, self.last, self._tick, self._penalty, self._near, self._priority, state=self._state
        )  # fmt: skip
        self._next = self._numbers.found
        self._numbers.weigh(weights.lru, weights.lfu, weights.lhu)

    def eviction_state(self) -> EvictionState:
        """See ScoredPolicy."""
        return super().eviction_state()._replace(hobbit=self._numbers.address)

    def routed(self, visit: LayerVisit) -> None:
        """See Policy.routed."""
        self._numbers.note(self._rows[visit.layer], visit.experts, visit.high, visit.tokens)

    def reweigh(self, weights: HobbitWeights) -> None:
        """Other weights from now on. Uses count from here; when each expert was used last is still known."""
        self.weights = weights
        # Scores are kept as running sums (hobbit.c), and the uses in them cannot be taken apart any more; recency can
        # be had from `last`.
        self.score[:] = weights.lru * self.last
        self._near[:] = self._nearness()  # in place: native code knows the addresses
        self._numbers.weigh(weights.lru, weights.lfu, weights.lhu)
        self._weighed = False

    def _nearness(self) -> Array:
        """w_fld (1 - d / l_n): [rows + 1, rows], by the row that runs."""
        rows = len(self._shape.layers)
        # eq. 3's distance, but 1 to l_n instead of 0 to l_n - 1: see the class.
        ahead = (np.arange(rows) - 1) % rows + 1  # visits until its turn, by rows from the one that runs
        near = self.weights.fld * (1.0 - ahead / rows)
        return np.stack([np.roll(near, row) for row in range(rows + 1)])

    def _prioritize(self) -> None:
        self._numbers.prioritize()

    def _found(self) -> array[int]:
        return self._numbers.found

    def _forget(self) -> None:
        self.score[:] = 0.0
        self.last[:] = 0.0

    def _noted(self) -> Sequence[Array]:
        return self.score, self.last, self._tick

    @property
    def round(self) -> tuple[float, ...]:
        """See ScoredPolicy."""
        return self._numbers.round

    @round.setter
    def round(self, value: tuple[float, ...]) -> None:
        self._token, self._row = int(value[0]), int(value[1])
        self._numbers.round = self._token, self._row


@dataclass(frozen=True)
class HobbitWeights:
    """How much recency, frequency, high precision and distance count; they sum to 1.

    Raises UnderhillError(BAD_REQUEST) otherwise.
    """

    lru: float
    lfu: float
    lhu: float
    fld: float

    def __post_init__(self) -> None:
        weights = astuple(self)
        # Scores of another sum would only be a multiple of these and order alike, but figures in files and in the plan
        # would not compare; 1e-6 is what is left of sums of decimals such as 0.1 in float64.
        if not (all(0.0 <= w <= 1.0 for w in weights) and abs(sum(weights) - 1.0) < 1e-6):
            raise UnderhillError(
                Kind.BAD_REQUEST,
                msg(
                    "The cache policy's weights {weights} are not possible.",
                    weights=", ".join(f"{w:g}" for w in weights),
                ),
                msg("They go from 0 to 1 and sum to 1."),
            )

    @property
    def rounded(self) -> tuple[float, ...]:
        """For people and files: lru, lfu, lhu, fld."""
        return tuple(round(w, 4) for w in astuple(self))


@dataclass(frozen=True)
class HobbitWeightsByShare:
    """Weights for caches of different sizes: pairs of a share of the model's experts, and what is best there.

    The smaller the cache, the more recency counts; the larger, the more use does.
    """

    pairs: tuple[tuple[float, HobbitWeights], ...]

    def at(self, share: float) -> HobbitWeights:
        """Those of the nearest share."""
        return min(self.pairs, key=lambda pair: abs(pair[0] - share))[1]


# What serves the built-in model's routing under all dials and costs a Zipf stream, whose best policy is LFU, at most
# 1.4 % (tests.benchmarks.policies). Under the Exact dial every use is at high precision, so lhu stands for lfu, too.
DEFAULT = HobbitWeightsByShare(
    (
        (0.125, HobbitWeights(0.4, 0.0, 0.4, 0.2)),
        (0.25, HobbitWeights(0.4, 0.0, 0.4, 0.2)),
        (0.5, HobbitWeights(0.2, 0.0, 0.6, 0.2)),
        (0.75, HobbitWeights(0.0, 0.0, 0.9, 0.1)),
    )
)
