"""What is typed while the keyboard is elsewhere in the window goes into the message."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QContextMenuEvent, QGuiApplication
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from app.application import Application
from tests.app.acts import Launch, ask

pytestmark = pytest.mark.long

CTRL = Qt.KeyboardModifier.ControlModifier
ALT = Qt.KeyboardModifier.AltModifier


@pytest.fixture
def asked(qtbot: QtBot, launch: Launch) -> Application:
    """A chat of two questions in the active window."""
    underhill = launch()
    underhill.window.activateWindow()
    qtbot.waitUntil(underhill.window.isActiveWindow)
    ask(qtbot, underhill, "Hello")
    ask(qtbot, underhill, "And then?")
    return underhill


def focused(widget: QWidget) -> QWidget:
    widget.setFocus()
    assert widget.hasFocus()
    return widget


@pytest.mark.parametrize("place", ["conversation", "Toggle sidebar", "button"])
def test_words_reach_the_message_from_everywhere(place: str, qtbot: QtBot, asked: Application) -> None:
    window = asked.window
    edit = window.composer.edit
    where = {"conversation": window.transcript, "Toggle sidebar": window.sidebar.list, "button": window.header.settings}
    qtbot.keyClicks(focused(where[place]), "W")
    assert edit.hasFocus()
    qtbot.keyClicks(edit, "hy so?")
    assert edit.toPlainText() == "Why so?"


def test_what_is_pasted_reaches_the_message(qtbot: QtBot, asked: Application) -> None:
    window = asked.window
    QGuiApplication.clipboard().setText("from elsewhere")
    qtbot.keyClick(focused(window.transcript), Qt.Key.Key_V, CTRL)
    assert window.composer.text() == "from elsewhere"
    assert window.composer.edit.hasFocus()


def test_keys_that_write_nothing_stay_where_they_are(qtbot: QtBot, asked: Application) -> None:
    window = asked.window
    view = focused(window.transcript)
    for key, held in (
        (Qt.Key.Key_Space, Qt.KeyboardModifier.NoModifier),
        (Qt.Key.Key_Down, Qt.KeyboardModifier.NoModifier),
        (Qt.Key.Key_C, CTRL),
        (Qt.Key.Key_X, ALT),
    ):
        qtbot.keyClick(view, key, held)
    assert view.hasFocus()
    assert window.composer.text() == ""


def test_a_chat_that_is_renamed_takes_its_own_words(qtbot: QtBot, asked: Application) -> None:
    chats = asked.window.sidebar.list
    chats.setCurrentIndex(chats.model().index(1, 0))
    qtbot.keyClick(focused(chats), Qt.Key.Key_F2)
    field = QApplication.focusWidget()
    assert field is not None
    assert chats.isAncestorOf(field)
    qtbot.keyClicks(field, "Another")
    assert asked.window.composer.text() == ""


def test_alt_and_arrows_go_to_the_messages_and_up_alone_edits(qtbot: QtBot, asked: Application) -> None:
    window = asked.window
    last = window.transcript.current
    qtbot.keyClick(focused(window.composer.edit), Qt.Key.Key_Up, ALT)
    assert window.composer.text() == ""
    assert window.transcript.hasFocus()
    qtbot.keyClick(window.transcript, Qt.Key.Key_Up, ALT)
    assert window.transcript.current == last - 1


def test_one_writes_at_once_in_a_chat_begun_from_another(qtbot: QtBot, asked: Application) -> None:
    window, before = asked.window, asked.conversation.chat
    assert before is not None
    focused(window.transcript)
    window.transcript.message_actions.branch.emit(window.transcript.items[1].message.id)
    qtbot.waitUntil(lambda: asked.conversation.chat is not None and asked.conversation.chat.id != before.id)
    assert window.composer.edit.hasFocus()


def test_the_menu_by_keys_opens_at_its_message(qtbot: QtBot, asked: Application) -> None:
    view = asked.window.transcript
    focused(view)
    view.choose(1)
    middle = view.viewport().rect().center()
    by_mouse = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, middle, view.mapToGlobal(middle))
    at = view.menu_position(1, QContextMenuEvent(QContextMenuEvent.Reason.Keyboard, middle, view.mapToGlobal(middle)))
    top = view.origin(1).y()
    assert top <= at.y() < top + view.items[1].foot + view.fontMetrics().lineSpacing()
    assert view.menu_position(1, by_mouse) == middle
