"""The picture of the scores and the two cuts."""

from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from app.settings.scores import ScorePicture
from app.theme.theme import Theme


@pytest.mark.parametrize("cuts", [(1.0, 1.0), (0.0, 0.0), (0.5, 0.51), (0.2, 0.8)])
def test_the_words_of_the_two_cuts_never_stand_on_each_other(
    qtbot: QtBot, theme: Theme, cuts: tuple[float, float]
) -> None:
    picture = ScorePicture(theme)
    qtbot.addWidget(picture)
    picture.resize(400, 120)
    picture._cuts = list(cuts)
    (_, _, first), (words, _, second) = picture.labels()
    wide = picture.fontMetrics().horizontalAdvance(words)
    assert first >= 0
    assert first + wide < second
    assert second + wide <= 400
