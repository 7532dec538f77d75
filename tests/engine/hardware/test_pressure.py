"""When the cache gives way to other programs, when it comes back, and what it never does."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.hardware import probe
from engine.hardware.machine import GB, Memory
from engine.hardware.pressure import CALM, GROUP_HIGH, GROUP_LOW, HIGH, LOW, Pressure, Reading, decide, read

PLANNED, SMALLEST = 8 * GB, GB
PLENTY = Reading(16 * GB, 5 * GB)


def simulate(free: list[int], planned: int = PLANNED, period: float = 1.0) -> list[int]:
    """What the cache holds, second by second. free: what would be free if it held all that is planned."""
    state, held, seen = Pressure(), planned, []
    for second, other in enumerate(free):
        reading = Reading(16 * GB, max(0, other + planned - held))
        state = decide(state, reading, held, planned, SMALLEST, second * period)
        held = planned if state.limit is None else min(planned, state.limit)
        seen.append(held)
    return seen


def test_with_enough_free_nothing_happens() -> None:
    assert decide(Pressure(), PLENTY, PLANNED, PLANNED, SMALLEST, 0.0) == Pressure()


def test_when_memory_runs_short_all_that_is_missing_is_given_back_at_once() -> None:
    held = simulate([3 * GB, 3 * GB, LOW - 1])
    assert held == [PLANNED, PLANNED, PLANNED - (HIGH - LOW + 1)]


def test_between_the_marks_nothing_changes_in_either_direction() -> None:
    held = simulate([LOW - 1, *[LOW + 1] * 200])
    assert set(held) == {PLANNED - (HIGH - LOW + 1)}


def test_it_grows_back_slowly_once_there_has_been_enough_for_a_while() -> None:
    short = 30
    held = simulate([0] * short + [6 * GB] * 120)
    assert held[short - 1] == PLANNED - HIGH
    calm = short + int(CALM) - 1
    assert set(held[short:calm]) == {PLANNED - HIGH}
    assert held[-1] == PLANNED
    grown = [b - a for a, b in zip(held[short:], held[short + 1 :], strict=False) if b != a]
    assert all(0 < step <= PLANNED // 8 for step in grown)


@pytest.mark.parametrize(
    ("beside", "back"),
    [(0, GB // 2), (GB // 4, GB // 8 + GROUP_HIGH), (GB // 2, 0)],  # all of it; half of what there is room for; nothing
)
def test_what_is_less_than_a_step_comes_back_too(beside: int, back: int) -> None:
    """A control group that was full for a moment, and in which others then take this `beside`."""
    held = PLANNED - GB // 2
    state = Pressure(held, 0.0)
    for second in range(400):
        free = 10 * GB - (held + 2 * GB - 3 * GROUP_HIGH + beside)
        reading = Reading(64 * GB, 40 * GB, group_free=free)
        state = decide(state, reading, held, PLANNED, SMALLEST, float(second))
        held = PLANNED if state.limit is None else min(PLANNED, state.limit)
    assert held == PLANNED - GB // 2 + back


def test_it_never_goes_to_and_fro_where_another_program_stays() -> None:
    """What was given back makes memory free: growing into it again would only make it short again."""
    held = simulate([0] * 600)
    assert len(set(held)) == 1


@given(st.lists(st.integers(0, 12 * GB), min_size=1, max_size=60))
def test_it_stays_between_the_smallest_and_the_planned(free: list[int]) -> None:
    assert all(SMALLEST <= held <= PLANNED for held in simulate(free))


def test_it_never_goes_below_what_it_needs_to_work() -> None:
    state = decide(Pressure(), Reading(16 * GB, 0), SMALLEST + 5, PLANNED, SMALLEST, 0.0)
    assert state.limit == SMALLEST


def test_waiting_for_memory_counts_only_where_little_is_free() -> None:
    between = (LOW + HIGH) // 2
    calm, stalled = (Reading(16 * GB, between, stalled=s) for s in (0.0, 40.0))
    assert decide(Pressure(), calm, PLANNED, PLANNED, SMALLEST, 0.0).limit is None
    assert decide(Pressure(), stalled, PLANNED, PLANNED, SMALLEST, 0.0).limit == PLANNED - (HIGH - between)
    assert decide(Pressure(), Reading(16 * GB, 5 * GB, stalled=40.0), PLANNED, PLANNED, SMALLEST, 0.0).limit is None


def test_a_control_group_has_marks_of_its_own() -> None:
    near = Reading(4 * GB, 30 * GB, group_free=GROUP_LOW + 1)
    over = Reading(4 * GB, 30 * GB, group_free=GROUP_LOW - 1)
    assert decide(Pressure(), near, 2 * GB, 2 * GB, SMALLEST, 0.0).limit is None
    assert decide(Pressure(), over, 2 * GB, 2 * GB, SMALLEST, 0.0).limit == 2 * GB - (GROUP_HIGH - GROUP_LOW + 1)


def test_a_lower_plan_ends_what_pressure_asked_for() -> None:
    state = Pressure(4 * GB, 0.0)
    assert decide(state, PLENTY, 3 * GB, 3 * GB, SMALLEST, 1.0).limit is None


def test_what_is_read_is_what_the_system_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "memory"
    file.write_text(
        "some avg10=12.34 avg60=0.00 avg300=0.00 total=1\nfull avg10=5.00 avg60=0.00 avg300=0.00 total=1\n",
        encoding="utf-8",
    )
    monkeypatch.setattr(probe, "memory", lambda: Memory(10, 9, 8))
    monkeypatch.setattr(probe, "rss", lambda: 7)
    assert read((tmp_path / "none", file)) == Reading(10, 9, 8, 12.34, 7)
    assert read(()) == Reading(10, 9, 8, 0.0, 7)


def test_this_machine_can_be_read() -> None:
    seen = read()
    assert 0 < seen.free <= probe.memory().limit or seen.group_free is not None
    assert 0.0 <= seen.stalled <= 100.0
