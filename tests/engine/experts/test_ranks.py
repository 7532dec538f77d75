"""What an expert is expected to be wanted at, from its rank, is what the dial asked of that rank before."""

from __future__ import annotations

import pytest
import torch

from engine.experts.precision import EXACT, Demand, Thresholds, demands, scores_by_rank, unimportance
from engine.experts.ranks import Ranks

WEIGHTS = [0.1, 0.4, 0.3, 0.2]  # scores by rank: 0, 0.4, 0.7, 0.9
LAYER = 3


def asked(ranks: Ranks, most: int = 4) -> list[Demand]:
    return ranks.demands(LAYER, most)


def test_scores_by_rank_are_the_same_in_plain_python() -> None:
    weights = torch.tensor([WEIGHTS], dtype=torch.float64)
    assert scores_by_rank(WEIGHTS) == pytest.approx(unimportance(weights)[0].sort().values.tolist())


def test_as_the_dial_asks() -> None:
    cut = Thresholds(0.5, 0.8)
    ranks = Ranks((LAYER,))
    ranks.set_thresholds(cut)
    ranks.learn(LAYER, WEIGHTS)
    by_rank = demands(torch.tensor([sorted(WEIGHTS, reverse=True)]), cut)[0].tolist()
    assert asked(ranks) == by_rank == [Demand.HIGH, Demand.HIGH, Demand.LOW, Demand.SKIP]
    assert asked(ranks, 10)[4:] == 6 * [Demand.SKIP]  # as of the last


def test_most_tokens_decide_and_the_last_ones_weigh_more() -> None:
    ranks = Ranks((LAYER,))
    ranks.set_thresholds(Thresholds(0.5, 0.8))
    even = [0.25] * 4  # scores 0, 0.25, 0.5, 0.75: nobody is skipped
    for _ in range(50):
        ranks.learn(LAYER, WEIGHTS)
    ranks.learn(LAYER, even)
    assert asked(ranks)[3] == Demand.SKIP
    for _ in range(50):
        ranks.learn(LAYER, even)
    assert asked(ranks) == [Demand.HIGH, Demand.HIGH, Demand.HIGH, Demand.LOW]


def test_another_dial_begins_anew() -> None:
    ranks = Ranks((LAYER,))
    ranks.set_thresholds(Thresholds(0.5, 0.8))
    assert asked(ranks) == [Demand.HIGH, *3 * [Demand.LOW]]  # before anything was seen
    ranks.learn(LAYER, WEIGHTS)
    ranks.set_thresholds(Thresholds(0.0, 0.0))
    ranks.learn(LAYER, WEIGHTS)
    assert asked(ranks) == [Demand.HIGH, *3 * [Demand.SKIP]]
    ranks.set_thresholds(EXACT)
    assert asked(ranks) == 4 * [Demand.HIGH]
