"""The chart of the scores and the two cuts."""

from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from app.settings.scores import ScoreChart, pushed_cuts
from app.theme.theme import Theme
from tests.app.settings.test_dialog import DIALS, SCORES, with_scores


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
