"""What a person does in the window, and what is then on the page and on disk."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractButton, QLineEdit, QWidget
from pytestqt.qtbot import QtBot

from app.application import Application
from app.sidebar.sidebar import Sidebar
from app.storage.store import ChatStore
from tests.app.conftest import close

Launch = Callable[..., Application]


def ask(qtbot: QtBot, underhill: Application, text: str) -> None:
    """Type a message and wait for its answer."""
    composer = underhill.window.composer
    composer.edit.setFocus()
    composer.edit.setPlainText("")
    qtbot.keyClicks(composer.edit, text)
    qtbot.keyClick(composer.edit, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: not underhill.conversation.working and bool(underhill.conversation.messages))


def name_folder(qtbot: QtBot, sidebar: Sidebar, name: str) -> None:
    """Type the name of a new folder, which is being edited in the list; '' leaves the one it has."""
    qtbot.waitUntil(lambda: sidebar.naming and sidebar.list.renaming)
    field = sidebar.list.viewport().findChildren(QLineEdit)[-1]
    if name:
        field.selectAll()
        qtbot.keyClicks(field, name)
    qtbot.keyClick(field, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: not sidebar.list.renaming)


def button(parent: QWidget, name: str) -> QAbstractButton:
    """The button that screen readers call so."""
    return next(b for b in parent.findChildren(QAbstractButton) if (b.accessibleName() or b.text()) == name)


def contents(underhill: Application) -> list[str]:
    return [item.message.content for item in underhill.window.transcript.items]


def on_disk(underhill: Application, tmp_path: Path) -> list[list[tuple[str, str, str]]]:
    """(role, content, state) of every chat, after the window is closed."""
    close(underhill)
    store = ChatStore(tmp_path / "chats.db")
    found = [[(m.role, m.content, m.state) for m in store.path(c.id)] for c in store.chats()]
    store.close()
    return found
