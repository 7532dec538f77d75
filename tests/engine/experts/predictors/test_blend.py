"""Weights are found by what helps; what does not help is not even asked."""

from __future__ import annotations

import numpy as np

from engine.experts.predictors import (
    Blend,
    Predictor,
    RoutingContext,
    RoutingShape,
    TokenTable,
    TraceView,
    fit_weights,
    walk,
)
from engine.experts.predictors.gates import own_scores
from engine.experts.predictors.predictor import Floats
from tests.engine.experts.predictors.runs import EXPERTS, K, by_rule, moving, random_gates


class Oracle(Predictor):
    """Knows the scores, as far as noise lets it."""

    def __init__(self, run: TraceView, noise: float, seed: int, name: str = "oracle") -> None:
        gates = random_gates(run.shape.rows)
        random = np.random.default_rng(seed)
        true = np.stack([own_scores(run, gate, row) for row, gate in enumerate(gates)])
        self.name, self.asked = name, 0
        self._scores = (true + noise * random.standard_normal(true.shape) * true.std()).astype(np.float32)
        self._token = -1

    def scores(self, context: RoutingContext, row: int) -> Floats | None:
        self.asked += 1
        return None if context.row < 0 else self._scores[row, self._token]

    def learn(self, context: RoutingContext) -> None:
        self._token += context.row == 0


def hits(run: TraceView, blend: Blend | Oracle) -> float:
    token, found, asked = -1, 0, 0
    for context in walk(run, [blend]):
        token += context.row < 0
        if 0 <= context.row < run.shape.rows - 1:
            scores = blend.scores(context, context.row + 1)
            assert scores is not None
            found += len(set(np.argsort(-scores)[:K].tolist()) & set(run.ids[context.row + 1, token].tolist()))
            asked += K
    return found / asked


def test_two_that_err_apart_are_better_together_and_noise_is_left_out() -> None:
    gates = random_gates(3)
    run = moving(gates, 300, 0.1)

    def parts() -> list[Oracle]:
        return [Oracle(run, 0.5, 1, "a"), Oracle(run, 0.5, 2, "b"), Oracle(run, 1e3, 3, "noise")]

    weights = fit_weights(run, parts(), 2, gates)
    assert weights.shape == (3, 3)
    assert (weights[:2, :2] > 0.2).all()
    assert not weights[:2, 2].any()
    assert not weights[2].any()  # before the first row nobody spoke
    asked = parts()
    blend = Blend(asked, weights)
    assert hits(run, blend) > hits(run, asked[0].__class__(run, 0.5, 1)) + 0.02
    assert asked[2].asked == 0


def test_without_gates_it_is_fitted_to_what_was_chosen() -> None:
    random = np.random.default_rng(3)
    run = by_rule(random.integers(0, 4, 60), 3)
    table = TokenTable(RoutingShape(3, EXPERTS, K))
    for _ in walk(run, [table]):
        pass
    weights = fit_weights(run, [table], 2, None)
    assert (weights[:, 0] > 0).all()


def test_farther_than_it_was_fitted_for_it_says_nothing() -> None:
    table = TokenTable(RoutingShape(3, EXPERTS, K))
    table.add(4, np.zeros((3, K), np.int64))
    blend = Blend([table], np.ones((2, 1), np.float32))
    context = RoutingContext()
    context.begin(4)
    assert blend.scores(context, 2) is not None
    context.routed([0, 1, 2], None)
    assert blend.scores(context, 1) is not None
    assert blend.scores(context, 2) is None
