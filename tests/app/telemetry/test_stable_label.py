"""Words that change often have the room that they need, whichever width they have it at."""

from __future__ import annotations

from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from app.widgets.text import StableLabel


def test_words_that_changed_at_another_width_get_their_lines(qtbot: QtBot) -> None:
    panel = QWidget()
    qtbot.addWidget(panel)
    label = QLabel(panel)
    label.setWordWrap(True)
    steady = StableLabel(label, panel)
    column = QVBoxLayout(panel)
    column.addWidget(steady)
    column.addStretch(1)
    steady.set_text("few")
    panel.resize(120, 300)
    panel.show()
    qtbot.waitUntil(lambda: steady.width() < 120)
    panel.resize(600, 300)
    qtbot.waitUntil(lambda: steady.width() > 500)
    steady.set_text("few, but more of them than fit in")
    assert steady.heightForWidth(600) < steady.heightForWidth(100)  # one line is enough here, and is not there
    panel.resize(120, 300)
    qtbot.waitUntil(lambda: steady.width() < 120 and steady.height() == steady.heightForWidth(steady.width()))
