"""Names that look like marks are shown as they are."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QTextDocument
from PySide6.QtWidgets import QMenu
from pytestqt.qtbot import QtBot

from app.widgets.text import plain_tip
from tests.app.acts import Launch, ask

ODD = "<b>R&D</b> &amp;  two"


def test_a_tooltip_says_what_was_written() -> None:
    document = QTextDocument()
    document.setHtml(plain_tip(ODD))
    assert document.toPlainText() == ODD
    assert plain_tip("") == ""


def test_titles_and_folders_may_have_any_name(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch()
    window = underhill.window
    ask(qtbot, underhill, "hello")
    chat = underhill.conversation.chat
    assert chat is not None
    underhill.conversation.rename(chat.id, ODD)
    window.chats.change(lambda store: store.make_folder(ODD))
    model = window.sidebar.model
    tip = Qt.ItemDataRole.ToolTipRole
    qtbot.waitUntil(lambda: len(window.sidebar.folders) == 1)
    qtbot.waitUntil(lambda: model.data(model.index_of(chat.id), tip) == plain_tip(ODD))
    menu = QMenu(window)
    window.sidebar.fill_chat_menu(menu, chat)
    entries = [action.text() for inside in menu.findChildren(QMenu) for action in inside.actions()]
    assert ODD.replace("&", "&&") in entries
    menu.deleteLater()
    window.toast.show_message(ODD)
    assert window.toast.label.textFormat() == Qt.TextFormat.PlainText
