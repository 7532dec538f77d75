"""The chart of the scores and the two cuts."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import pytest
from PySide6.QtCore import QPoint, Qt
from pytestqt.qtbot import QtBot

from app.application import Application
from app.settings.preset_cards import PresetCards
from app.settings.scores import ScoreChart, pushed_cuts
from app.theme.theme import Theme
from engine import protocol
from engine.library.dials import Calibration, DialCost
from tests.app.conftest import engine_of
from tests.app.fake_cards import BUILTIN
from tests.app.settings.controls import type_into

SCORES = (500, *(100 for _ in range(199)))  # a fifth scores 0, or nearly


def with_scores(dials: dict[str, DialCost], scores: tuple[int, ...] = SCORES) -> protocol.ModelCard:
    return dataclasses.replace(
        BUILTIN,
        calibration=Calibration(
            tokens=9, scored=9, scored_here=0, share=0.0, exact_perplexity=2.0, dials=dials, scores=scores
        ),
    )


DIALS = {"balanced": DialCost(0.5, 0.8), "fast": DialCost(0.2, 0.7)}


@pytest.mark.parametrize("cuts", [(1.0, 1.0), (0.0, 0.0), (0.5, 0.51), (0.2, 0.8)])
def test_the_words_of_the_two_cuts_never_stand_on_each_other(
    qtbot: QtBot, theme: Theme, cuts: tuple[float, float]
) -> None:
    chart = ScoreChart(theme)
    qtbot.addWidget(chart)
    chart.resize(400, 120)
    chart.cuts = list(cuts)
    (_, _, first), (words, _, second) = chart.labels()
    wide = chart.fontMetrics().horizontalAdvance(words)
    assert first >= 0
    assert first + wide < second
    assert second + wide <= 400


def test_the_first_expert_is_drawn_as_it_runs_whatever_the_cuts(qtbot: QtBot, theme: Theme) -> None:
    chart = ScoreChart(theme)
    qtbot.addWidget(chart)
    chart.show_scores(SCORES, 0.0, 0.5)
    assert [chart.tier(bar) for bar in (0, 1, 24, 25, 49)] == [0, 1, 1, 2, 2]
    assert with_scores(DIALS).calibration.shares(0.0, 0.5)[0] > 0.0  # type: ignore[union-attr]


def test_a_cut_that_the_other_pushes_says_so() -> None:
    card = with_scores(DIALS)  # Balanced cuts at 0.5 and 0.8
    assert pushed_cuts(card, "balanced", None, 0.6) == {}
    assert pushed_cuts(card, "balanced", None, 0.3) == {"t1": "T1 lowered to 0.3: it can't exceed T2."}
    assert pushed_cuts(card, "balanced", 0.9, None) == {"t2": "T2 raised to 0.9: it can't be below T1."}
    assert pushed_cuts(card, "balanced", 0.2, 0.3) == {}
    assert pushed_cuts(card, "exact", None, 0.3) == {}
    assert pushed_cuts(None, "balanced", None, 0.3) == {}


@pytest.mark.long
def test_the_scores_show_what_the_dial_and_cuts_by_hand_do(qtbot: QtBot, launch: Callable[..., Application]) -> None:
    underhill = launch()
    dialog = underhill.window.settings.open()
    dialog.advanced.setChecked(True)
    dialog.show_page(2)
    assert "once they are measured" in dialog.scores.words.text()
    underhill.link.model_changed.emit(with_scores(DIALS, ()))  # measured by an older version
    assert dialog.scores.words.text() == "Measure quality now shows its scores."
    assert dialog.measure.button.isEnabled()
    underhill.link.model_changed.emit(with_scores(DIALS))
    told = dialog.scores.chart.accessibleDescription()
    assert told == "51% full precision, 29% lower precision, 20% skipped"
    light = dialog.scores.words.text()
    underhill.theme.set_mode("dark")
    assert dialog.scores.words.text() != light  # its legend has the colours of the chart
    underhill.theme.set_mode("light")
    assert dialog.scores.words.text() == light
    box = dialog.editors["dial"].control
    assert isinstance(box, PresetCards)
    handles = [dialog.editors[cut].slider for cut in ("t1", "t2")]
    assert [handle.value_at(handle.value()) for handle in handles if handle] == [0.5, 0.8]  # those of the preset
    box.cards["fast"].click()
    assert dialog.scores.chart.accessibleDescription() != told
    type_into(qtbot, dialog, "t1", "0.6")
    assert dialog.scores.chart.cuts == [0.6, 0.7]
    box.cards["balanced"].click()  # its own cuts again
    assert dialog.scores.chart.cuts == [0.5, 0.8]
    assert underhill.window.preferences.engine == {}
    type_into(qtbot, dialog, "t2", "0.3")
    assert "it can't exceed T2" in dialog.editors["t1"].more.text()
    box.cards["exact"].click()
    assert "100%" in dialog.scores.chart.accessibleDescription()
    assert not dialog.editors["t1"].more.text()
    dialog.reject()


@pytest.mark.long
def test_a_cut_is_dragged_and_never_past_the_other(qtbot: QtBot, launch: Callable[..., Application]) -> None:
    underhill = launch()
    dialog = underhill.window.settings.open()
    dialog.advanced.setChecked(True)
    dialog.show_page(2)
    underhill.link.model_changed.emit(with_scores(DIALS))
    chart = dialog.scores.chart
    chart.resize(412, chart.height())  # 400 pixels from 0 to 1

    def at(share: float) -> QPoint:
        return QPoint(round(6 + 400 * share), chart.height() // 2)

    qtbot.mousePress(chart, Qt.MouseButton.LeftButton, pos=at(0.5))
    qtbot.mouseMove(chart, at(0.95))
    qtbot.mouseRelease(chart, Qt.MouseButton.LeftButton, pos=at(0.95))
    assert underhill.window.preferences.engine["t1"] == pytest.approx(0.8)
    qtbot.mousePress(chart, Qt.MouseButton.LeftButton, pos=at(0.2))  # nothing to take hold of
    qtbot.mouseMove(chart, at(0.1))
    qtbot.mouseRelease(chart, Qt.MouseButton.LeftButton, pos=at(0.1))
    assert underhill.window.preferences.engine["t1"] == pytest.approx(0.8)
    sent = [c.settings for c in engine_of(underhill).received if isinstance(c, protocol.UpdateSettings)]
    assert {"t1": 0.8} in sent
    dialog.reject()
