"""Stacked gates: folded norms, native product, and what ridge regression adds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from engine.experts.predictors import Gate, Predictor, StackedGates, TraceView, fitted_row, stacked, walk
from engine.experts.predictors.gates import LinearMap
from engine.kernels.native import NativeKernel
from tests.engine.experts.predictors.runs import EXPERTS, HIDDEN, K, moving, random_gates


def recall(run: TraceView, predictor: Predictor, ahead: int) -> float:
    token, found, asked = -1, 0, 0
    for context in walk(run, [predictor]):
        token += context.row < 0
        row = context.row + ahead
        if context.row < 0 or row >= run.shape.rows:
            continue
        scores = predictor.scores(context, row)
        assert scores is not None
        found += len(set(np.argsort(-scores)[:K].tolist()) & set(run.ids[row, token].tolist()))
        asked += K
    return found / asked


def all_fitted(run: TraceView, gates: list[Gate]) -> list[list[LinearMap]]:
    return [fitted_row(run, gates, row, 2) for row in range(len(gates))]


def test_where_nothing_lies_between_the_folded_gates_are_right() -> None:
    gates = random_gates(4)
    run = moving(gates, 50, drift=0.0)
    for ahead in (1, 2, 3):
        assert recall(run, StackedGates(gates, stacked(gates, 3)), ahead) > 0.99


def test_without_folding_they_would_not_be() -> None:
    gates = random_gates(4)
    run = moving(gates, 50, drift=0.0)
    unfolded = [replace(gate, given_scale=None) for gate in gates]
    assert recall(run, StackedGates(gates, stacked(unfolded, 1)), 1) < 0.9


def test_a_norm_that_shifts_and_one_that_silences_a_channel_are_folded_too() -> None:
    random = np.random.default_rng(5)
    scale, shift = np.exp(random.standard_normal(HIDDEN)).astype(np.float32), np.full(HIDDEN, 0.3, np.float32)
    scale[3] = 0
    first = Gate(
        weight=random_gates(1)[0].weight, bias=None, scale=scale, shift=shift, given_scale=scale, given_shift=shift
    )
    second = Gate(
        weight=random_gates(1, 7)[0].weight,
        bias=None,
        scale=np.where(scale, 2 / np.maximum(scale, 0.1), 0),
        shift=2 * shift,
    )
    x = random.standard_normal(HIDDEN).astype(np.float32)
    [[linear], []] = stacked([first, second], 1)
    assert second.scale is not None
    assert second.shift is not None
    expected = second.weight @ (x * second.scale + second.shift)
    np.testing.assert_allclose(linear.weight @ (x * scale + shift) + linear.bias, expected, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("tokens", [HIDDEN - 4, 400])
def test_taught_gates_know_what_lies_between(tokens: int) -> None:
    """Also where there are fewer tokens than channels, which is solved in the other way."""
    gates = random_gates(4)
    run, other = moving(gates, tokens, 0.2), moving(gates, 200, 0.2, seed=9)
    plain = StackedGates(gates, stacked(gates, 2))
    taught = StackedGates(gates, all_fitted(run, gates))
    for ahead in (1, 2):
        before, now = recall(other, plain, ahead), recall(other, taught, ahead)
        assert now > before + 0.25 * (1 - before) if tokens > HIDDEN else now > before


def test_taught_gates_know_what_comes_over_from_the_token_before_until_a_sequence_begins() -> None:
    gates = random_gates(4)
    run, other = moving(gates, 400, 0.0, carried=0.8), moving(gates, 200, 0.0, seed=9, carried=0.8)
    maps = all_fitted(run, gates)
    knowing, forgetting = StackedGates(gates, maps), StackedGates(gates, maps)
    forgetting.learn = lambda context: None  # type: ignore[method-assign]
    for ahead in (1, 2):
        assert recall(other, knowing, ahead) > recall(other, forgetting, ahead) + 0.05
    one = other.part(7, 8)
    anew = StackedGates(gates, maps)
    for context in walk(one, [knowing, anew]):
        if 0 <= context.row < 2:
            before, now = knowing.scores(context, 2), anew.scores(context, 2)
            assert before is not None
            assert now is not None
            np.testing.assert_array_equal(before, now)


def test_a_bias_on_the_choice_decides_the_rank() -> None:
    plain = random_gates(2)
    biases = np.linspace(-2, 2, EXPERTS, dtype=np.float32)
    gates = [replace(gate, choice=biases) for gate in plain]
    run = moving(gates, 40, drift=0.0)
    assert recall(run, StackedGates(gates, stacked(gates, 1)), 1) > 0.99
    assert recall(run, StackedGates(plain, stacked(plain, 1)), 1) < 0.9


def test_native_code_gives_nearly_the_same_scores() -> None:
    gates = random_gates(3)
    kernel = NativeKernel(threads=1)
    try:
        # A row of both inputs is one group of 8-bit codes here, though the one's weights are far larger.
        for maps, gap in ((stacked(gates, 2), 0.1), (all_fitted(moving(gates, 100, 0.1, carried=0.3), gates), 0.25)):
            native, torch = StackedGates(gates, maps, kernel), StackedGates(gates, maps)
            for context in walk(moving(gates, 10, 0.1), [native, torch]):
                for row in range(context.row + 1, min(context.row + 3, 3)):
                    ours, theirs = native.scores(context, row), torch.scores(context, row)
                    if theirs is None:
                        assert ours is None
                        continue
                    assert ours is not None
                    assert np.linalg.norm(ours - theirs) < gap * np.linalg.norm(theirs)
    finally:
        kernel.close()


def test_beyond_its_depth_and_before_the_first_row_it_says_nothing() -> None:
    gates = random_gates(3)
    predictor = StackedGates(gates, stacked(gates, 1))
    for context in walk(moving(gates, 1, 0.1), []):
        assert (predictor.scores(context, 2) is None) == (context.row != 1)
        if context.row == 1:
            break
