"""The replay of answers at once: what it counts as read."""

from __future__ import annotations

import numpy as np
import pytest

from tests.benchmarks.shared_reads import EVEN, LENGTH, Lru, different, even, reads


def test_what_a_step_finds_there_stays_until_it_is_over() -> None:
    cache = Lru(2)
    cache.use([1, 2])
    cache.use([3, 1])  # 1 would have made way for 3, were it not asked for
    assert cache.misses == 3
    cache.use([2])
    assert cache.misses == 4


def test_the_same_answer_several_times_is_read_once_at_once() -> None:
    (one,), _ = even(1)
    group = np.stack([one, one, one, one])
    assert different([group]) == pytest.approx(1 / 4)
    experts, k = EVEN[1:]
    assert reads([group], k, False) == pytest.approx(4 * reads([group], k, True), rel=0.02)
    assert reads([group], experts, False) == reads([group], experts, True)  # all of them are kept


def test_drawn_evenly_answers_share_by_chance_alone() -> None:
    answers, experts = even(4)
    k = EVEN[2]
    assert answers.shape == (4, EVEN[0], LENGTH, k)
    chance = experts * (1 - (1 - k / experts) ** 4) / (4 * k)
    assert different([answers]) == pytest.approx(chance, rel=0.02)
