"""Growing into memory that nobody takes: by how much, when, and that it never swings."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from engine.hardware.machine import GB
from engine.hardware.own_use import CALM, FEWEST, MARGIN, MEMORY, NEAR, SHARE, Slack, follow

PLANNED, CEILING, RECORD = GB, 2 * GB, 3_000_000


def simulate(beside: list[int], full: bool = True) -> list[tuple[int, int]]:
    """Second by second (what has grown, what the whole process takes). beside: taken beside the cache's own bytes.

    full: the cache is full at once; else it never is. Experts beyond the planned take a little more than their bytes.
    """
    slack, seen = Slack(), []
    for second, other in enumerate(beside):
        held = PLANNED + slack.grown if full else PLANNED // 2
        other += slack.grown // (2 * SHARE)
        slack = follow(slack, other, held, planned=PLANNED, limit=CEILING, record=RECORD, now=float(second))
        seen.append((slack.grown, other + PLANNED + slack.grown))
    return seen


def test_it_grows_by_whole_experts_once_there_was_room_for_a_while() -> None:
    seen = simulate([CEILING - PLANNED - 200_000_000] * 60)
    grown = [g for g, _ in seen]
    assert grown[: int(CALM)] == [0] * int(CALM)
    assert all(g % RECORD == 0 for g in grown)
    assert 150_000_000 < grown[-1] <= 200_000_000 - MARGIN
    assert grown == sorted(grown)
    assert len(set(grown)) <= 3


def test_a_little_room_is_left_alone() -> None:
    spare = MARGIN + FEWEST * RECORD - 1
    assert {g for g, _ in simulate([CEILING - PLANNED - spare] * 60)} == {0}


def test_what_has_not_come_yet_counts_as_if_it_were_here() -> None:
    beside = CEILING - PLANNED - 100_000_000
    assert max(g for g, _ in simulate([beside] * 60, full=False)) <= 100_000_000 - MARGIN


def test_it_comes_down_at_once_and_stays_while_the_peak_is_remembered() -> None:
    low, high = CEILING - PLANNED - 200_000_000, CEILING - PLANNED - 120_000_000
    seen = simulate([low] * 20 + [high] * 3 + [low] * (int(MEMORY) - 100))
    before, after = seen[19], seen[20]
    assert after[0] < before[0]
    assert after[1] + RECORD >= CEILING - MARGIN - RECORD
    assert after[1] <= CEILING - NEAR
    assert {g for g, _ in seen[20:]} == {after[0]}


def test_small_changes_beside_it_change_nothing() -> None:
    low = CEILING - PLANNED - 200_000_000
    seen = simulate([low] * 20 + [low + NEAR // 2, low] * 100)
    assert len({g for g, _ in seen[20:]}) == 1


def test_it_gives_back_no_more_than_it_has() -> None:
    assert (
        follow(Slack(RECORD), CEILING, PLANNED + RECORD, planned=PLANNED, limit=CEILING, record=RECORD, now=0.0).grown
        == 0
    )


@given(st.lists(st.integers(0, 300_000_000), min_size=1, max_size=80))
def test_it_never_takes_the_process_nearer_to_its_ceiling_than_what_else_it_took(others: list[int]) -> None:
    base = CEILING - PLANNED - 300_000_000
    for grown, whole in simulate([base + other for other in others]):
        assert grown >= 0
        assert whole <= CEILING - NEAR or grown == 0


@given(st.lists(st.integers(0, 300_000_000), min_size=1, max_size=200))
def test_it_never_swings(others: list[int]) -> None:
    """Within the time that a peak is remembered: up, then only down."""
    grown = [g for g, _ in simulate([CEILING - PLANNED - 300_000_000 + other for other in others])]
    fell = next((at for at, (a, b) in enumerate(itertools.pairwise(grown)) if b < a), None)
    if fell is not None:
        rest = grown[fell + 1 :]
        assert rest == sorted(rest, reverse=True)
