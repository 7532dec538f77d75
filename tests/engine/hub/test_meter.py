"""Rate and time left: of late, and only of what was done here."""

from __future__ import annotations

import pytest

from engine.hub.control import RATE_WINDOW, RateEstimator


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_nothing_is_said_before_anything_was_done(clock: Clock) -> None:
    pace = RateEstimator(clock)
    assert (pace.rate, pace.left) == (0.0, None)
    pace.note(5, 100)
    assert (pace.rate, pace.left) == (0.0, None)
    clock.now += 1
    pace.note(5, 100)
    assert (pace.rate, pace.left) == (0.0, None)


def test_what_an_earlier_run_did_is_not_fast(clock: Clock) -> None:
    pace = RateEstimator(clock)
    pace.note(900, 1000)
    clock.now += 2
    pace.note(920, 1000)
    assert pace.rate == pytest.approx(10)
    assert pace.left == pytest.approx(8)


def test_it_follows_what_happens_of_late(clock: Clock) -> None:
    pace = RateEstimator(clock)
    for step in range(100):
        pace.note(step * 100, 100_000)
        clock.now += 1
    for step in range(int(RATE_WINDOW) + 2):
        pace.note(10_000 + step, 100_000)
        clock.now += 1
    assert pace.rate == pytest.approx(1, rel=0.01)


def test_one_slow_step_counts_even_when_it_is_longer_than_the_window(clock: Clock) -> None:
    pace = RateEstimator(clock)
    pace.note(0, 100)
    clock.now += 3 * RATE_WINDOW
    pace.note(30, 100)
    assert pace.rate == pytest.approx(30 / (3 * RATE_WINDOW))


@pytest.mark.parametrize(("done", "total"), [(0, 1000), (60, 70)])
def test_something_else_starts_over(clock: Clock, done: int, total: int) -> None:
    pace = RateEstimator(clock)
    pace.note(10, 1000)
    clock.now += 1
    pace.note(500, 1000)
    pace.note(done, total)
    assert pace.left is None
    clock.now += 1
    pace.note(done + 2, total)
    assert pace.rate == pytest.approx(2)
