"""The message at the bottom stands on nothing that one reads."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRect
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from app.widgets.messages import Toast
from tests.app.acts import Launch


def area(widget: QWidget, window: QWidget) -> QRect:
    return QRect(widget.mapTo(window, QPoint(0, 0)), widget.size())


def test_it_is_above_the_composer_however_tall_that_is(qtbot: QtBot, launch: Launch) -> None:
    window = launch().window
    window.toast.show_message("Something was deleted.", "Undo", lambda: None)
    window.composer.set_text("A line.\n" * 12)
    qtbot.waitUntil(lambda: window.composer.height() > 200)
    qtbot.waitUntil(lambda: not area(window.toast, window).intersects(area(window.composer, window)))


def test_the_library_makes_room_for_it(qtbot: QtBot, launch: Launch) -> None:
    window = launch().window
    page = window.library.show()
    window.toast.show_message("A model moved to trash", "Undo", lambda: None)
    qtbot.waitUntil(lambda: not area(window.toast, window).intersects(area(page.pages, window)))
    before = page.pages.height()
    window.toast.end()
    qtbot.waitUntil(lambda: page.pages.height() > before)


def test_a_long_path_is_broken_into_lines_and_stays_inside(qtbot: QtBot) -> None:
    parent = QWidget()
    qtbot.addWidget(parent)
    parent.resize(500, 300)
    parent.show()
    toast = Toast(parent, QWidget(parent))
    toast.show_message("Mixtral is in " + "/a-folder-with-a-name" * 8 + " now.", "Undo", lambda: None)
    assert parent.rect().contains(toast.geometry())
    toast.show_message("Short.")
    assert toast.width() < 200
    toast.end()
