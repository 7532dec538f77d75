"""The field for what is looked for: its marks have the size of its text, and leave the words their room."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.theme import fonts
from app.theme.theme import Theme
from app.widgets.search_field import SearchField
from tests.app.acts import Launch

DIRECTIONS = [Qt.LayoutDirection.LeftToRight, Qt.LayoutDirection.RightToLeft]


@pytest.fixture(autouse=True)
def normal_size(qapp: QApplication) -> Iterator[None]:
    yield
    fonts.set_percent(100)
    qapp.setFont(fonts.text())


@pytest.fixture
def field(qtbot: QtBot, theme: Theme) -> SearchField:
    made = SearchField("Search chats")
    qtbot.addWidget(made)
    made.show()
    return made


def mid(field: SearchField) -> set[str]:
    """The colours of the pixels where the glass is."""
    picture, at = field.grab().toImage(), field.glass()
    return {picture.pixelColor(x, y).name() for x in range(at.left(), at.right()) for y in range(at.top(), at.bottom())}


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_the_marks_grow_with_the_text_while_one_looks(
    theme: Theme, field: SearchField, direction: Qt.LayoutDirection
) -> None:
    field.setLayoutDirection(direction)
    field.setText("sourdough")
    for percent in (150, 85, 100, 200):
        theme.set_percent(percent)
        field.resize(220, field.sizeHint().height())
        assert field.glass().width() == round(16 * percent / 100)
        assert field.cross.iconSize().width() == round(12 * percent / 100)
        cross = field.cross.geometry()
        assert field.rect().contains(field.glass())
        assert field.rect().contains(cross)
        field.grab()  # which scrolls the words to the cursor
        words = QRect(field.cursorRect().center(), field.cursorRect().center())
        assert not words.intersects(cross)
        field.home(False)
        field.grab()
        words = words.united(QRect(field.cursorRect().center(), field.cursorRect().center()))
        assert not words.intersects(field.glass())
        assert (field.glass().center().x() < cross.center().x()) is (direction is Qt.LayoutDirection.LeftToRight)
        field.end(False)


def test_words_that_do_not_fit_are_fewer_rather_than_cut(theme: Theme, field: SearchField) -> None:
    for percent in (100, 150, 200):
        theme.set_percent(percent)
        widest = field.fontMetrics().horizontalAdvance("Search chats") + 2 * field.glass().right()
        field.resize(widest, field.sizeHint().height())
        assert field.placeholderText() == "Search chats"
        field.resize(field.glass().right() + field.fontMetrics().horizontalAdvance("Search chats"), field.height())
        assert field.placeholderText() == "Search"
        assert field.accessibleName() == "Search chats"


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_the_glass_has_the_colour_of_the_theme(theme: Theme, field: SearchField, mode: str) -> None:
    theme.set_mode("dark" if mode == "light" else "light")
    theme.set_mode(mode)
    theme.set_percent(200)  # lines wide enough to be of one colour in their middle
    field.resize(220, field.sizeHint().height())
    drawn = mid(field)
    assert QColor(theme.palette.muted).name() in drawn
    assert QColor(theme.palette.surface).name() in drawn


def test_the_cross_is_there_for_words_and_takes_them_away(qtbot: QtBot, field: SearchField) -> None:
    assert not field.cross.isVisible()
    qtbot.keyClicks(field, "bread")
    assert field.cross.isVisible()
    with qtbot.waitSignal(field.textChanged):
        qtbot.mouseClick(field.cross, Qt.MouseButton.LeftButton)
    assert field.text() == ""
    assert not field.cross.isVisible()


def test_every_search_of_the_window_is_one(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch()
    window = underhill.window
    settings = window.settings.open()
    library = window.library.show()
    found = {field.accessibleName() for root in (window, settings) for field in root.findChildren(SearchField)}
    assert found == {"Search chats", "Search settings", "Search models"}
    settings.reject()
    assert library is not None
