"""Unimportance scores, T1 and T2 on weights whose counts are known by hand, and thresholds from quantiles."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import UnderhillError
from engine.experts.precision import (
    RequestedPrecision,
    ScoreRecorder,
    Thresholds,
    from_scores,
    full_tier,
    requested_precisions,
    tiers_of,
)
from engine.native.eviction import unimportance
from engine.record.layout import ExpertSpec

HIGH, LOW, SKIP = RequestedPrecision.HIGH, RequestedPrecision.LOW, RequestedPrecision.SKIP


def test_score_is_the_weight_of_those_ranked_before() -> None:
    weights = torch.tensor([[0.1, 0.5, 0.3, 0.1], [4.0, 1.0, 2.0, 1.0]])
    expected = torch.tensor([[0.8, 0.0, 0.5, 0.9], [0.0, 0.75, 0.5, 0.875]], dtype=torch.float64)
    torch.testing.assert_close(torch.from_numpy(unimportance(weights)), expected, rtol=1e-6, atol=1e-7)


def test_thresholds_split_as_in_the_paper() -> None:
    weights = torch.tensor([[0.5, 0.3, 0.15, 0.05], [0.95, 0.03, 0.015, 0.005], [0.25, 0.25, 0.25, 0.25]])
    wanted = requested_precisions(weights, Thresholds(0.6, 0.9))
    assert wanted.tolist() == [
        [HIGH, HIGH, LOW, SKIP],  # scores 0, 0.5, 0.8, 0.95
        [HIGH, SKIP, SKIP, SKIP],  # 0, 0.95, 0.98, 0.995
        [HIGH, HIGH, HIGH, LOW],  # 0, 0.25, 0.5, 0.75
    ]


def test_the_first_is_high_even_when_every_threshold_is_zero() -> None:
    assert requested_precisions(torch.tensor([[0.2, 0.5, 0.3]]), Thresholds(0.0, 0.0)).tolist() == [[SKIP, HIGH, SKIP]]


@given(st.lists(st.floats(0, 1e6, width=32), min_size=1, max_size=12))
def test_exact_never_lowers_anything(row: list[float]) -> None:
    assert requested_precisions(torch.tensor([row]), Thresholds(1.0, 1.0)).tolist() == [[HIGH] * len(row)]


@given(
    st.lists(st.floats(0.001953125, 8, width=32), min_size=1, max_size=8),
    st.floats(0, 1),
    st.floats(0, 1),
)
def test_a_larger_weight_never_gets_a_weaker_demand(row: list[float], a: float, b: float) -> None:
    wanted = requested_precisions(torch.tensor([row]), Thresholds(min(a, b), max(a, b)))[0].tolist()
    ranked = [demand for _, demand in sorted(zip(row, wanted), key=lambda pair: (-pair[0], -pair[1]))]
    assert ranked[0] == HIGH
    assert ranked == sorted(ranked, reverse=True)


@pytest.mark.parametrize(("t1", "t2"), [(-0.1, 0.5), (0.6, 0.5), (0.5, 1.1), (float("nan"), 0.5)])
def test_impossible_thresholds_are_refused(t1: float, t2: float) -> None:
    with pytest.raises(UnderhillError, match="not possible"):
        Thresholds(t1, t2)


def test_tiers_of_requested_precisions() -> None:
    eight, four, raw = ExpertSpec(16, 16, 8), ExpertSpec(16, 16, 4), ExpertSpec(16, 16, 16)
    assert [tiers_of(eight, None)[d] for d in (SKIP, LOW, HIGH)] == [0, 2, 8]
    assert tiers_of(eight, 4) == (0, 2, 4)
    assert tiers_of(four, 8) == (0, 2, 4)
    assert tiers_of(raw, None) == (0, 16, 16)
    assert full_tier(raw, 4) == 16


def test_thresholds_from_quantiles() -> None:
    scores = torch.arange(100, dtype=torch.float64) / 100
    thresholds = from_scores(scores)
    assert thresholds == Thresholds(0.66, 0.96)
    shares = [(scores <= thresholds.t1).sum().item(), (scores <= thresholds.t2).sum().item()]
    assert shares == [67, 97]


def test_the_recorder_sees_what_a_top_2_model_gives() -> None:
    recorder = ScoreRecorder()
    weights = torch.tensor([[0.7, 0.3], [0.4, 0.6], [0.9, 0.1]])
    recorder(0, torch.zeros(3, 2, dtype=torch.int64), weights)
    recorder(5, torch.zeros(1, 2, dtype=torch.int64), weights[:1])
    assert sorted(round(s, 6) for s in recorder.scores.tolist()) == [0, 0, 0, 0, 0.6, 0.7, 0.7, 0.9]
    assert from_scores(recorder.scores, 0.5, 0.25).t1 == 0.0
    with pytest.raises(ValueError, match="at least one"):
        from_scores(ScoreRecorder().scores)


def reference(weights: torch.Tensor) -> torch.Tensor:
    """Unimportance, HOBBIT's eq. 2, in float64 [T, K]."""
    size = weights.abs().to(torch.float64)
    ranked, order = size.sort(dim=1, descending=True, stable=True)
    through = ranked.cumsum(dim=1)
    total = through[:, -1:].clamp_min(torch.finfo(torch.float64).tiny)
    before = (through - ranked) / total
    return torch.empty_like(before).scatter_(1, order, before).clamp_(max=1.0)


@given(st.integers(1, 70), st.integers(1, 5), st.integers(0, 1000))
def test_scores_are_those_of_the_reference_to_the_last_bit(k: int, tokens: int, seed: int) -> None:
    weights = torch.randint(-9, 9, (tokens, k), generator=torch.Generator().manual_seed(seed)) / 8  # with equals, and 0
    assert unimportance(weights).tolist() == reference(weights).tolist()


def test_what_is_no_number_is_above_no_threshold() -> None:
    weights = torch.tensor([[float("nan"), 0.5]])
    assert requested_precisions(weights, Thresholds(0.2, 0.5)).tolist() == [[HIGH, HIGH]]
