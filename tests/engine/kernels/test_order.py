"""Native code puts experts in the order that numpy does, to the last bit."""

from __future__ import annotations

from array import array

import numpy as np
import pytest

from engine.experts.keys import ExpertKey
from engine.experts.policies import ExpertGrid, LayerVisit
from engine.experts.policies.hobbit import Hobbit, HobbitWeights
from engine.experts.policies.scored import ScoredPolicy
from engine.native.eviction import FIRST_OUT, HobbitScores, LeastRanked


def numbers(rows: int, experts: int, rng: np.random.Generator) -> tuple[HobbitScores, list[np.ndarray], array[int]]:
    """scores, last, ticks, bars, near and order of so many experts, and how far they are in order."""
    n, state = rows * experts, array("i", [0, 0])
    scores, last, ticks, order = (rng.normal(size=n) * 1e3 for _ in range(4))
    given = [scores, last, ticks, rng.choice([0.0, 1e15, np.inf], n), rng.random((rows + 1, rows)), order]
    return HobbitScores(*given, state=state), given, state  # type: ignore[arg-type]


@pytest.mark.parametrize(("rows", "experts"), [(1, 1), (3, 7), (24, 128)])
def test_the_sum_is_taken_in_the_order_that_is_promised(rows: int, experts: int) -> None:
    ours, (scores, _, ticks, bars, near, order), state = numbers(rows, experts, np.random.default_rng(3))
    token = 0
    for row in (*range(rows), *range(rows)):
        token += not row
        ours.note(row, [], None, 1)
        assert not state[0]
        ours.prioritize()
        by_row = (scores + ticks).reshape(rows, experts) + (near[row] * token)[:, None]
        assert np.array_equal(order, by_row.reshape(-1) + bars)
        leaving = [at for at in order.argsort(kind="stable").tolist() if order[at] < np.inf]
        least = LeastRanked(order)
        found = least.found[: least()].tolist()
        assert found == ours.found[: state[1]].tolist() == leaving[:FIRST_OUT]


def test_arrays_that_it_must_not_follow_are_refused() -> None:
    good, near, state = np.zeros(6), np.zeros((3, 2)), array("i", [0, 0])
    for bad in (np.zeros(5), np.zeros(6, np.float32), np.zeros(12)[::2]):
        with pytest.raises(ValueError, match="not contiguous float64"):
            HobbitScores(good, good, good, bad, near, good.copy(), state=state)
        with pytest.raises(ValueError, match="not contiguous float64"):
            LeastRanked(bad.reshape(1, -1) if bad.flags.c_contiguous and bad.dtype == np.float64 else bad)
    with pytest.raises(ValueError, match="in 4 rows"):
        HobbitScores(good, good, good, good, np.zeros((5, 4)), good.copy(), state=state)


class PlainHobbit(ScoredPolicy):
    """HOBBIT's eq. 3 times T, in numpy, in the order of operations of hobbit.c."""

    def __init__(self, shape: ExpertGrid, weights: HobbitWeights) -> None:
        super().__init__(shape)
        self.score, self.last, self.tick = (np.zeros(len(shape.layers) * shape.experts) for _ in range(3))
        self.visits = 0.0
        self.weights = weights

    def _note(self, base: int, visit: LayerVisit) -> None:
        w, self.visits = self.weights, self.visits + 1e-9
        for at, expert in enumerate(visit.experts):
            own = base + expert
            used = w.lfu + w.lhu if visit.high is None or visit.high[at] else w.lfu
            self.score[own] += w.lru * self._token - w.lru * self.last[own] + used
            self.last[own], self.tick[own] = self._token, self.visits

    def _weigh(self, order: np.ndarray) -> None:
        rows = self.table[0]
        near = self.weights.fld * (1.0 - ((np.arange(rows) - 1) % rows + 1) / rows)
        order[:] = self.score + self.tick
        order.reshape(self.table)[:] += (np.roll(near, self._row) * self._token)[:, None]

    def reweigh(self, weights: HobbitWeights) -> None:
        self._digest()
        self.weights = weights
        self.score[:] = weights.lru * self.last
        self._weighed = False

    def _forget(self) -> None:
        self.score[:] = self.last[:] = 0.0

    def _noted(self) -> list[np.ndarray]:
        return [self.score, self.last, self.tick]


@pytest.mark.parametrize("fld", [0.0, 0.2])
def test_hobbit_s_victims_are_those_of_the_plain_formula(fld: float) -> None:
    shape, weights = ExpertGrid((0, 2, 5), 16), HobbitWeights(0.4, 0.0, 0.6 - fld, fld)
    ours, plain = Hobbit(shape, weights), PlainHobbit(shape, weights)
    dice = np.random.default_rng(4)
    there: set[ExpertKey] = set()
    left = 0
    for step in range(300):
        layer = shape.layers[step % 3]
        chosen = dice.permutation(16)[:4].tolist()
        high = [bool(one) for one in dice.integers(0, 2, 4)]
        counts = dice.integers(1, 5, 4).tolist() if step % 7 == 0 else None
        visit = LayerVisit(layer, chosen, None if step % 5 == 0 else high, counts, 9 if counts else 1)
        for policy in (ours, plain):
            policy.routed(visit)
            policy.protect([ExpertKey(shape.layers[(step + 1) % 3], step % 16)])
        for key in (ExpertKey(layer, expert) for expert in chosen):
            if key in there:
                continue
            if len(there) == 20:
                free = {one for one in there if (one.expert % 4 == 3 if step % 2 else one.expert != 3)} or there
                gone = ours.victim(key, free.__contains__)
                assert gone == plain.victim(key, free.__contains__)
                assert gone is not None
                there.remove(gone)
                left += 1
                for policy in (ours, plain):
                    policy.removed(gone)
            there.add(key)
            for policy in (ours, plain):
                policy.inserted(key)
        if step % 100 == 99:
            for policy in (ours, plain):
                policy.begin_sequence()
        if step == 150:
            for policy in (ours, plain):
                policy.reweigh(HobbitWeights(0.1, 0.2, 0.7 - fld, fld))
    assert left > 100
