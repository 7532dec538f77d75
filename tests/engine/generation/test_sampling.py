"""Sampling: the same distributions as the transformers warpers, seeds that repeat, greedy that is greedy."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from transformers.generation.logits_process import (
    LogitsProcessorList,
    MinPLogitsWarper,
    RepetitionPenaltyLogitsProcessor,
    TemperatureLogitsWarper,
    TopKLogitsWarper,
    TopPLogitsWarper,
)

from engine.errors import UnderhillError
from engine.generation.sampling import Sampler, Sampling, _nucleus


def support(sampling: Sampling, logits: torch.Tensor, draws: int = 3000) -> dict[int, float]:
    """Frequency of every token drawn."""
    sampler = Sampler(sampling)
    counts: dict[int, float] = {}
    for _ in range(draws):
        token = sampler.next(logits)
        counts[token] = counts.get(token, 0) + 1 / draws
    return counts


@pytest.mark.parametrize(
    "sampling",
    [
        Sampling(temperature=0.6, top_p=1.0, seed=1),
        Sampling(temperature=1.0, top_p=0.7, seed=2),
        Sampling(temperature=1.3, top_p=1.0, top_k=5, seed=3),
        Sampling(temperature=1.0, top_p=1.0, min_p=0.2, seed=4),
        Sampling(temperature=0.9, top_p=0.8, top_k=12, seed=5),
    ],
)
def test_draws_follow_the_distribution_of_the_transformers_warpers(sampling: Sampling) -> None:
    logits = torch.randn(40, generator=torch.Generator().manual_seed(7)) * 2
    warpers = LogitsProcessorList([TemperatureLogitsWarper(sampling.temperature)])
    if sampling.min_p:
        warpers.append(MinPLogitsWarper(sampling.min_p))
    if sampling.top_k:
        warpers.append(TopKLogitsWarper(sampling.top_k))
    if sampling.top_p < 1:
        warpers.append(TopPLogitsWarper(sampling.top_p))
    expected = torch.softmax(warpers(torch.zeros(1, 1, dtype=torch.long), logits[None])[0], 0)
    got = support(sampling, logits)
    assert all(expected[token] > 0 for token in got)
    for token in range(40):
        assert got.get(token, 0.0) == pytest.approx(float(expected[token]), abs=0.04)


def test_top_p_over_a_flat_vocabulary_keeps_the_share_asked_for() -> None:
    order = _nucleus(np.zeros(50_000, np.float32), 0.9, np.empty(50_000, np.float32))
    assert order.size == pytest.approx(45_000, abs=50)
    assert np.unique(order).size == order.size


@pytest.mark.parametrize("width", [0.1, 1.0, 3.0, 8.0])
@pytest.mark.parametrize("top_p", [0.05, 0.5, 0.95, 0.999])
def test_top_p_keeps_the_fewest_that_reach_it_however_the_mass_lies(width: float, top_p: float) -> None:
    logits = (torch.randn(3000, generator=torch.Generator().manual_seed(3)) * width).double()
    logits -= logits.max()
    order = _nucleus(logits.float().numpy(), top_p, np.empty(len(logits), np.float32))
    by_mass = torch.softmax(logits, 0).sort(descending=True)
    fewest = int(torch.searchsorted(by_mass.values.cumsum(0), top_p)) + 1
    assert abs(order.size - fewest) <= 1
    assert set(order[: fewest - 1].tolist()) == set(by_mass.indices[: min(order.size, fewest - 1)].tolist())


def test_top_p_zero_leaves_the_likeliest() -> None:
    logits = torch.tensor([0.0, 3.0, 1.0])
    assert support(Sampling(temperature=2.0, top_p=0.0), logits, 50) == {1: pytest.approx(1.0)}


def test_temperature_zero_is_greedy() -> None:
    assert Sampler(Sampling(temperature=0)).next(torch.tensor([0.1, 0.3, 0.2])) == 1


def test_the_same_seed_gives_the_same_tokens_and_another_seed_others() -> None:
    logits = torch.zeros(1000)
    runs = [[Sampler(Sampling(seed=s)).next(logits) for _ in range(1)] for s in (5, 5, 6)]
    long = [(lambda sampler: [sampler.next(logits) for _ in range(20)])(Sampler(Sampling(seed=s))) for s in (5, 5, 6)]
    assert runs[0] == runs[1]
    assert long[0] == long[1] != long[2]


def test_repetition_penalty_matches_transformers_and_counts_new_tokens() -> None:
    logits = torch.tensor([2.0, -1.0, 0.5, 1.9])
    sampler = Sampler(Sampling(temperature=0, repetition_penalty=1.5), context=[0, 1])
    expected = RepetitionPenaltyLogitsProcessor(1.5)(torch.tensor([[0, 1]]), logits[None].clone())[0]
    assert sampler._penalized(logits.numpy()) == pytest.approx(expected.numpy())
    assert sampler.next(logits) == 3
    assert sampler.next(logits) == 0  # 3 has been said now: 1.9 / 1.5 < 2 / 1.5


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_logits_that_are_not_numbers_are_refused(temperature: float) -> None:
    with pytest.raises(UnderhillError, match="not a number"):
        Sampler(Sampling(temperature=temperature)).next(torch.full((8,), float("nan")))


@pytest.mark.parametrize("temperature", [0.0, 1e-300, 1e-38, 1e-6, 1e-3])
def test_the_coldest_temperatures_take_the_likeliest(temperature: float) -> None:
    logits = torch.tensor([1.0, 30.0, 29.0, -200.0])
    assert Sampler(Sampling(temperature=temperature, min_p=0.1, top_p=0.9)).next(logits) == 1
