"""Words that end where there is no room for all of them."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, QSize, Qt
from PySide6.QtGui import QFontMetrics, QImage
from PySide6.QtWidgets import QApplication, QHBoxLayout, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from app.sidebar.chat_model import ChatListModel
from app.sidebar.sidebar import ChatView
from app.storage.records import Chat
from app.theme import fonts
from app.theme.theme import Theme
from app.widgets.buttons import ElidedButton, ElidedLabel, elided_title

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


HEBREW = "\u05d0\u05d9\u05da \u05dc\u05d0\u05e4\u05d5\u05ea \u05dc\u05d7\u05dd \u05de\u05d7\u05de\u05e6\u05ea"


@pytest.mark.parametrize("title", [LONG, "\u600e\u6837\u7528\u5929\u7136\u9175\u6bcd\u70e4\u9762\u5305", HEBREW])
def test_the_number_of_a_chat_stays_where_its_title_is_cut(qapp: QApplication, title: str) -> None:
    metrics = QFontMetrics(fonts.text())
    number = metrics.horizontalAdvance(" (12)")
    wide = metrics.horizontalAdvance(f"{title} (12)") + 4
    assert elided_title(f"{title} (12)", metrics, wide) == f"{title} (12)"
    for width in range(number + 30, wide - 6, 7):
        shown = elided_title(f"{title} (12)", metrics, width)
        assert shown.endswith("\u2026 (12)")
        assert metrics.horizontalAdvance(shown) <= width
        assert not elided_title(title, metrics, width).endswith(")")
        assert "(12)" not in elided_title(f"{title} (12) again", metrics, width)


@pytest.mark.parametrize("direction", [Qt.LayoutDirection.LeftToRight, Qt.LayoutDirection.RightToLeft])
@pytest.mark.parametrize("mode", ["light", "dark"])
@pytest.mark.parametrize("percent", [100, 150])
@pytest.mark.usefixtures("normal_size")
def test_a_chat_and_its_copies_look_different_in_a_narrow_list(
    qtbot: QtBot, theme: Theme, direction: Qt.LayoutDirection, mode: str, percent: int
) -> None:
    theme.set_mode(mode)
    theme.set_percent(percent)
    model = ChatListModel()
    chats = ChatView(theme, model)
    qtbot.addWidget(chats)
    chats.setLayoutDirection(direction)
    chats.resize(190, 600)
    model.fill(
        [
            Chat(id=n, title=title + number, updated_at=1.0, folder_id=folder)
            for n, (title, number, folder) in enumerate(
                (title, number, folder)
                for title in (LONG, HEBREW)
                for folder in (None, 1)
                for number in ("", " (2)", " (3)")
            )
        ]
    )
    chats.show()

    def picture(row: int) -> QImage:
        return chats.grab(chats.visualRect(model.index(row))).toImage()

    assert picture(0).size() != QSize(0, 0)
    assert picture(0) == picture(0)
    for first in range(0, 12, 3):
        whole, second, third = (picture(row) for row in range(first, first + 3))
        assert second not in (whole, third)
        assert whole != third


def test_a_title_in_hebrew_ends_at_its_left(qtbot: QtBot, theme: Theme) -> None:
    model = ChatListModel()
    chats = ChatView(theme, model)
    qtbot.addWidget(chats)
    chats.resize(260, 200)
    model.fill([Chat(id=1, title=HEBREW, updated_at=1.0), Chat(id=2, title=f"{HEBREW}......", updated_at=1.0)])
    chats.show()
    plain, dotted = (ink(chats.grab(chats.visualRect(model.index(row))).toImage()) for row in range(2))
    assert abs(min(p.x() for p in plain) - min(p.x() for p in dotted)) <= 2  # where all titles begin
    wide = QFontMetrics(fonts.text()).horizontalAdvance("......")
    left, foot = min(p.x() for p in dotted), max(p.y() for p in dotted)
    assert all(p.y() > foot - 5 for p in dotted if p.x() < left + wide - 3)  # nothing but dots, low as they are


def ink(picture: QImage) -> list[QPoint]:
    """Where text is."""
    every = (QPoint(x, y) for x in range(picture.width()) for y in range(picture.height()))
    return [p for p in every if (seen := picture.pixelColor(p)).alpha() > 128 and seen.lightness() < 160]
