"""The window paints as often as little of the cores allows, and goes faster again only where that is sure to last."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest
from pytestqt.qtbot import QtBot

from app.telemetry import frame_throttle
from app.telemetry.frame_throttle import INTERVALS, MAX_CPU_SHARE, FrameThrottle, choose_intervals
from tests.app.acts import Launch
from tests.app.telemetry.samples import BASE

FASTEST, SLOWEST = INTERVALS[0], INTERVALS[-1]


def test_what_costs_little_is_painted_often() -> None:
    assert choose_intervals(FASTEST, 0.9 * MAX_CPU_SHARE) == FASTEST
    assert choose_intervals(SLOWEST, 0.1 * MAX_CPU_SHARE) == FASTEST


def test_what_costs_more_is_painted_less_often_but_never_seldom() -> None:
    assert choose_intervals(FASTEST, 1.4 * MAX_CPU_SHARE) == INTERVALS[1]
    assert choose_intervals(FASTEST, 1.9 * MAX_CPU_SHARE) == INTERVALS[2]
    assert choose_intervals(FASTEST, 50 * MAX_CPU_SHARE) == SLOWEST


def test_it_does_not_go_to_and_fro() -> None:
    slower = choose_intervals(FASTEST, 1.2 * MAX_CPU_SHARE)
    assert slower != FASTEST
    assert choose_intervals(slower, 1.1 * MAX_CPU_SHARE * FASTEST.text / slower.text) == slower
    assert choose_intervals(slower, 0.9 * MAX_CPU_SHARE * FASTEST.text / slower.text) == slower
    assert choose_intervals(slower, 0.7 * MAX_CPU_SHARE * FASTEST.text / slower.text) == FASTEST


def test_only_while_an_answer_is_made_is_it_judged(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frame_throttle, "WINDOW_SECONDS", 0.0)
    judged: list[float] = []
    maker = FrameThrottle()
    monkeypatch.setattr(maker, "judge", judged.append)
    maker.take(replace(BASE, generating=True))
    assert not judged  # there is a begin, but no end yet
    maker.take(replace(BASE, generating=False))
    maker.take(replace(BASE, generating=True))
    assert not judged  # what it did in between was something else
    maker.take(replace(BASE, generating=True))
    assert len(judged) == 1
    assert judged[0] >= 0


def test_short_answers_are_judged_together(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    """None of them lasts until it could be judged by itself."""
    clock = 0.0
    clocks = SimpleNamespace(perf_counter=lambda: clock, thread_time=lambda: clock / 2)
    monkeypatch.setattr(frame_throttle, "time", clocks)
    monkeypatch.setattr(frame_throttle, "QThread", SimpleNamespace(idealThreadCount=lambda: 1))
    judged: list[float] = []
    maker = FrameThrottle()
    monkeypatch.setattr(maker, "judge", judged.append)
    for generating in (True, True, False) * 7:
        clock += 0.25
        maker.take(replace(BASE, generating=generating))
    assert judged == [pytest.approx(0.5)]


def test_another_pace_reaches_the_panels_once(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch()
    looks: list[object] = []
    qtbot.waitUntil(lambda: underhill.window.live.watched.maps)
    underhill.window.live.watch_changed.connect(looks.append)
    for _ in range(3):
        underhill.frame_throttle.judge(50 * MAX_CPU_SHARE)
    (look,) = looks
    assert (look.pause, look.pulse) == (SLOWEST.text, SLOWEST.telemetry)  # type: ignore[attr-defined]
