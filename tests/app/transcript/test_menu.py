"""The menu of the right mouse button."""

from __future__ import annotations

from PySide6.QtGui import QGuiApplication
from pytestqt.qtbot import QtBot

from tests.app.acts import Launch, ask


def test_the_address_of_a_link_can_be_copied(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch()
    ask(qtbot, underhill, "Hello")
    view = underhill.window.transcript
    plain = view.menu_of(view.items[1], "")
    over = view.menu_of(view.items[1], "https://example.org/a")
    words = "Copy link"
    assert words not in [action.text() for action in plain.actions()]
    assert over.actions()[0].text() == words
    over.actions()[0].trigger()
    assert QGuiApplication.clipboard().text() == "https://example.org/a"
    plain.deleteLater()
    over.deleteLater()
