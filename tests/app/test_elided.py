"""Words that end where there is no room for all of them."""

from __future__ import annotations

from PySide6.QtWidgets import QHBoxLayout, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from app.theme.theme import Theme
from app.widgets.elided import ElidedButton, ElidedLabel

LONG = "A model of a very long name that nobody could ever read at one glance"


def test_they_give_way_to_what_stands_beside_them(qtbot: QtBot, theme: Theme) -> None:
    holder = QWidget()
    qtbot.addWidget(holder)
    row = QHBoxLayout(holder)
    name, state, other = ElidedButton(LONG, holder), ElidedLabel(holder), QPushButton("Cancel", holder)
    state.setText("Quantizing layer 5 of 6")
    row.addWidget(name)
    row.addWidget(state, 1)
    row.addWidget(other)
    holder.resize(300, 60)
    holder.show()
    assert holder.width() == 300  # nothing makes it wider
    assert other.width() >= other.sizeHint().width()
    assert other.geometry().right() < 300
    assert name.width() < name.sizeHint().width()
    holder.grab()  # painted without a word from Qt
    for width, seen in ((20, False), (120, True), (400, True)):
        state.resize(width, 20)
        picture = state.grab().toImage()
        shades = {picture.pixel(x, y) for x in range(picture.width()) for y in range(picture.height())}
        assert (len(shades) > 1) is seen, width
    holder.resize(1400, 60)
    qtbot.waitUntil(lambda: name.width() == name.sizeHint().width())
    assert state.width() > state.fontMetrics().horizontalAdvance(state.text())
