"""Columns of the window grow with the text as far as there is room, and stand where what is above them does."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QToolButton
from pytestqt.qtbot import QtBot

from tests.app.acts import Launch, ask
from tests.app.places import settle

pytestmark = [pytest.mark.long, pytest.mark.usefixtures("normal_size")]


@pytest.mark.parametrize("percent", [100, 150])
def test_composer_and_text_stand_one_below_the_other(qtbot: QtBot, launch: Launch, percent: int) -> None:
    underhill = launch(script=lambda messages: "A line.\n\n" * len(messages) ** 3)
    underhill.theme.set_percent(percent)
    window = underhill.window
    window.resize(2400, 820)  # with the panels beside it
    view, seen = window.transcript, set()
    for question in ("One", "Two", "Three"):
        ask(qtbot, underhill, question)
        settle(qtbot, window)
        seen.add(view.verticalScrollBar().isVisible())
        left = view.viewport().mapTo(window, QPoint(round(view.origin(0).x()), 0)).x()
        composer = window.composer.mapTo(window, QPoint()).x()
        assert abs(left - composer - 16) <= 1  # a scroll bar moves neither
        assert abs(window.composer.width() - view.layout_.column - 32) <= 1
    assert seen == {False, True}


def test_filters_of_models_stay_on_a_line_in_large_text(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch()
    underhill.theme.set_percent(150)
    window = underhill.window
    window.resize(1600, 820)
    library = window.library.show()
    settle(qtbot, window)
    assert len({tab.y() for tab in library.findChildren(QToolButton, "segment")}) == 1
