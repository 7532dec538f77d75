"""Who computes what: the layer ends soonest, and nothing crosses that does not pay."""

from __future__ import annotations

import itertools
import random

import pytest

from engine.experts.card.split import (
    LEARN,
    Crossing,
    SideRates,
    crossing,
    crossing_first,
    split,
    surely_more,
    worth_bringing,
)

LAPTOP = SideRates(host=60e-6, card=15e-6, handover=90e-6)


def ends(rates: SideRates, only_card: int, both: int, only_host: int, taken: int) -> float:
    """When the later side is through."""
    there = only_card + taken
    card = rates.handover + there * rates.card if there else 0.0
    return max(card, (both - taken + only_host) * rates.host)


@pytest.mark.parametrize("seed", range(200))
def test_no_other_share_would_end_sooner(seed: int) -> None:
    rng = random.Random(seed)
    rates = SideRates(*(10 ** rng.uniform(-6, -3) for _ in range(3)))
    only_card, both, only_host = (rng.randrange(9) for _ in range(3))
    found = split(rates, only_card, both, only_host)
    every = [ends(rates, only_card, both, only_host, taken) for taken in range(both + 1)]
    assert every[found] == pytest.approx(min(every))


def crossed_ends(rates: SideRates, there: list[int], own: list[Crossing], rest: list[int], taken: int) -> float:
    """When the later side is through, step by step: each arrives, and is computed when the one before is."""
    card, at = rates.call_seconds(there) if there else 0.0, 0.0
    computed = sum(rates.card_seconds(way.tokens) for way in own[:taken])
    if taken:
        at = sum(way.link for way in own[:taken]) + rates.handover + rates.card_seconds(own[taken - 1].tokens)
        card = rates.call_seconds(there) + computed
    return max(card, at, sum(map(rates.host_seconds, [*(way.tokens for way in own[taken:]), *rest])))


@pytest.mark.parametrize("seed", range(100))
def test_no_other_number_that_crosses_would_end_sooner(seed: int) -> None:
    rng = random.Random(seed)
    rates = SideRates(*(10 ** rng.uniform(-6, -3) for _ in range(3)))
    there, rest = ([rng.choice([1, 4, 30]) for _ in range(rng.randrange(6))] for _ in range(2))
    tokens = sorted((rng.choice([1, 9, 60, 200]) for _ in range(rng.randrange(9))), reverse=True)
    lacking = [Crossing(own, 10 ** rng.uniform(-5, -3)) for own in tokens]
    taken, seconds = crossing(rates, there, lacking, rest)
    every = [crossed_ends(rates, there, lacking, rest, n) for n in range(len(lacking) + 1)]
    assert every[taken] == pytest.approx(min(every))
    assert seconds <= every[taken] * (1 + 1e-9)


@pytest.mark.parametrize("seed", range(100))
def test_of_one_token_no_other_number_that_crosses_first_would_end_sooner(seed: int) -> None:
    rng = random.Random(seed)
    rates = SideRates(*(10 ** rng.uniform(-6, -3) for _ in range(3)))
    there, rest = rng.randrange(5), rng.randrange(5)
    links = [10 ** rng.uniform(-6, -4) for _ in range(rng.randrange(9))]
    found = crossing_first(rates, there, links, rest)
    every = [sum(links[:n]) + ends(rates, there + n, 0, len(links) - n + rest, 0) for n in range(len(links) + 1)]
    assert every[found] == pytest.approx(min(every))


def test_the_more_tokens_the_more_experts_cross() -> None:
    way = 250e-6  # 2.7 MB at 11 GB/s
    found = [crossing(LAPTOP, [], [Crossing(tokens, way)] * 100, [])[0] for tokens in (1, 8, 32, 128, 512)]
    assert found == sorted(found)
    assert found[0] < 25
    assert found[-1] > 60
    assert crossing(LAPTOP, [], [Crossing(1, way)], []) == (0, 0.0)


def test_a_handover_that_costs_more_than_it_saves_is_not_made() -> None:
    assert split(SideRates(1e-6, 1e-6, 1e-3), 0, 8, 0) == 0
    assert split(LAPTOP, 0, 8, 0) == 5
    assert split(LAPTOP, 0, 1, 7) == 1
    assert split(LAPTOP, 8, 0, 0) == 0


def test_rates_follow_what_is_seen_and_no_single_disturbance() -> None:
    rates = LAPTOP
    for _ in range(300):
        rates = rates.seen_host([1] * 4, 4 * 30e-6).seen_card([1] * 8, 2 * (90e-6 + 8 * 15e-6))
    assert rates.host == pytest.approx(30e-6, rel=0.01)
    assert rates.handover + 8 * rates.card == pytest.approx(2 * (90e-6 + 8 * 15e-6), rel=0.01)
    assert LAPTOP.seen_host([1], 10.0).host <= LAPTOP.host * (1 + 3 * LEARN + 1e-9)


def test_what_is_brought_over_pays_for_its_way() -> None:
    assert worth_bringing(LAPTOP, 10, 300e-6)
    assert not worth_bringing(LAPTOP, 3, 300e-6)
    assert not worth_bringing(SideRates(10e-6, 15e-6, 90e-6), 1000, 300e-6)
    pays = [worth_bringing(LAPTOP, uses, 300e-6) for uses in range(30)]
    assert all(a <= b for a, b in itertools.pairwise(pays))


def test_experts_that_are_used_alike_stay_where_they_are() -> None:
    # The most and the least used of thousands that are drawn alike: a Poisson of 37 reaches from 17 to 58.
    assert surely_more(58, 17) < 16
    assert not worth_bringing(LAPTOP, surely_more(45, 20), 300e-6)
    assert worth_bringing(LAPTOP, surely_more(100, 20), 300e-6)
    assert surely_more(5, 5) < 0
