"""What the panels know of the last half minute: differences of counters, and none across models."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.telemetry.history import TelemetryHistory, shares
from tests.app.telemetry.samples import BASE


def test_counts_are_differences_between_snapshots() -> None:
    history = TelemetryHistory()
    history.add(BASE)
    history.add(replace(BASE, hits=19, misses=11, precision={"8": 15, "2": 15}, tokens=6))
    last = history.samples[-1]
    assert (last.fates["kept"] + last.fates["ahead"]) / sum(last.fates.values()) == pytest.approx(0.9)
    assert shares(last.ran) == {"32": 0, "16": 0, "8": 0, "4": 0, "2": 1.0, "skipped": 0}


def test_hits_and_misses_are_parted_by_who_asked_for_the_read() -> None:
    history = TelemetryHistory()
    history.add(BASE)
    history.add(replace(BASE, hits=20, misses=16, foreseen=4, foreseen_late=1))
    assert history.samples[-1].fates == {"kept": 6, "ahead": 4, "late": 1, "missed": 5}
    history.add(replace(BASE, hits=26, misses=17, foreseen=2, foreseen_late=0))  # reading ahead began anew
    assert history.samples[-1].fates == {"kept": 4, "ahead": 2, "late": 0, "missed": 1}


def test_without_uses_there_is_no_rate() -> None:
    history = TelemetryHistory()
    history.add(BASE)
    history.add(BASE)
    assert history.samples[-1].fate_shares is None
    assert shares(history.samples[-1].ran) is None


def test_another_model_begins_anew() -> None:
    history = TelemetryHistory()
    history.add(BASE)
    history.add(replace(BASE, hits=1, misses=0, tokens=0))
    assert len(history.samples) == 1
    assert history.samples[0].fate_shares == {"kept": 1.0, "ahead": 0.0, "late": 0.0, "missed": 0.0}


def test_the_speed_of_reading_is_shown_while_a_prompt_is_read() -> None:
    history = TelemetryHistory()
    history.add(replace(BASE, tokens_per_second=0.0, prompt_tokens_per_second=90.0))
    history.add(replace(BASE, prompt_tokens_per_second=90.0))
    assert [s.prompt_tokens_per_second for s in history.samples] == [90.0, 0.0]


def test_an_answer_between_two_snapshots_has_its_speed() -> None:
    idle = replace(BASE, generating=False, tokens_per_second=0.0)
    done = replace(idle, tokens=idle.tokens + 40, answer_tokens_per_second=640.0)
    history = TelemetryHistory()
    for now in (idle, done, done):
        history.add(now)
    assert [s.tokens_per_second for s in history.samples] == [0.0, 640.0, 0.0]


def test_a_snapshot_of_several_steps_is_as_long_and_counted_once() -> None:
    history = TelemetryHistory()
    history.add(BASE)
    history.add(replace(BASE, hits=18, tokens_per_second=7.0), steps=3)
    assert [s.tokens_per_second for s in history.samples] == [BASE.tokens_per_second, 7.0, 7.0, 7.0]
    assert sum(sum(s.fates.values()) for s in history.samples) == 18 + BASE.misses


def test_history_is_bounded() -> None:
    history = TelemetryHistory()
    for number in range(1000):
        history.add(replace(BASE, hits=10 + number))
    assert len(history.samples) <= 150
