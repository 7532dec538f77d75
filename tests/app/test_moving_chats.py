"""Chats go into a folder and out of it: dragged, by key, several at once; and back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest
from PySide6.QtCore import QMimeData, QPointF, Qt
from PySide6.QtGui import QDragMoveEvent, QDropEvent
from PySide6.QtWidgets import QApplication, QLineEdit, QMenu
from pytestqt.qtbot import QtBot

from app.application import Application
from app.sidebar.chat_model import SectionRow
from app.sidebar.sidebar import MIME, Sidebar
from app.storage.records import Chat
from tests.app.acts import Launch, ask, contents, name_folder

pytestmark = pytest.mark.long


def chats(sidebar: Sidebar) -> list[Chat]:
    return [row for row in sidebar.model.rows if isinstance(row, Chat)]


def inside(sidebar: Sidebar) -> list[str]:
    """Titles of chats that are in some folder."""
    return sorted(chat.title for chat in chats(sidebar) if chat.folder_id is not None)


def held(sidebar: Sidebar) -> dict[str, int]:
    """How many chats are in each folder."""
    inside = Counter(chat.folder_id for chat in chats(sidebar))
    shown = [row.folder for row in sidebar.model.rows if isinstance(row, SectionRow) and row.folder is not None]
    return {folder.name: inside[folder.id] for folder in shown}


def settled(qtbot: QtBot, underhill: Application) -> None:
    """Wait until the list has been read that a job of the database, asked for before, had read anew."""
    done: list[None] = []
    database = underhill.window.chats.database
    database.submit(lambda store: None, lambda _: database.submit(lambda store: None, done.append))
    qtbot.waitUntil(lambda: bool(done))


def drop(sidebar: Sidebar, moved: list[Chat], row: int) -> int:
    """Let go of chats over a row; -1: below all rows. Returns the row that was marked before."""
    view, data = sidebar.list, QMimeData()
    data.setData(MIME, " ".join(str(chat.id) for chat in moved).encode())
    where = view.visualRect(sidebar.model.index(row)).center() if row >= 0 else view.viewport().rect().bottomLeft()
    common = (Qt.DropAction.MoveAction, data, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier)
    view.dragMoveEvent(QDragMoveEvent(where, *common))
    marked = view.delegate.target
    view.dropEvent(QDropEvent(QPointF(where), *common))
    assert view.delegate.target == -1
    return marked


@pytest.fixture
def talked(qtbot: QtBot, launch: Launch) -> Callable[[], Application]:
    def make() -> Application:
        underhill = launch()
        for text in ("one", "two", "three"):
            underhill.window.navigator.new_chat()
            ask(qtbot, underhill, text)
        underhill.window.chats.change(lambda store: store.make_folder("Letters"))
        qtbot.waitUntil(lambda: len(underhill.window.sidebar.model.rows) == 5)
        return underhill

    return make


def test_dragged_into_a_folder_and_out_of_it(qtbot: QtBot, talked: Callable[[], Application]) -> None:
    window = talked().window
    sidebar = window.sidebar
    assert isinstance(sidebar.model.rows[0], SectionRow)
    assert drop(sidebar, chats(sidebar)[:2], 0) == 0
    qtbot.waitUntil(lambda: inside(sidebar) == ["three", "two"])
    assert "2 chats moved to “Letters”" in window.toast.accessibleName()
    alone = next(chat for chat in chats(sidebar) if chat.folder_id is None)
    assert drop(sidebar, [alone], 1) == 0  # over a chat of the folder
    qtbot.waitUntil(lambda: inside(sidebar) == ["one", "three", "two"])
    assert drop(sidebar, chats(sidebar)[:1], -1) == -1
    qtbot.waitUntil(lambda: len(inside(sidebar)) == 2)
    window.toast.undo()
    qtbot.waitUntil(lambda: len(inside(sidebar)) == 3)


def test_a_folder_that_became_one_with_another_is_given_back(qtbot: QtBot, talked: Callable[[], Application]) -> None:
    underhill = talked()
    window = underhill.window
    sidebar = window.sidebar
    drop(sidebar, chats(sidebar)[:2], 0)
    qtbot.waitUntil(lambda: inside(sidebar) == ["three", "two"])
    window.chats.change(lambda store: store.make_folder("Work"))
    qtbot.waitUntil(lambda: len(held(sidebar)) == 2)
    letters = next(row.folder for row in sidebar.model.rows if isinstance(row, SectionRow) and row.title == "Letters")
    assert letters is not None
    sidebar.model.folder_renamed.emit(letters.id, "Work")
    qtbot.waitUntil(lambda: held(sidebar) == {"Work": 2})
    assert "Merged with the existing folder “Work”" in window.toast.accessibleName()
    window.toast.undo()
    qtbot.waitUntil(lambda: held(sidebar) == {"Letters": 2, "Work": 0})


def test_let_go_where_they_were_nothing_is_said(qtbot: QtBot, talked: Callable[[], Application]) -> None:
    window = talked().window
    drop(window.sidebar, chats(window.sidebar), -1)
    assert not window.toast.isVisible()


@pytest.mark.qt_log_ignore("This plugin does not support")  # menus, on a platform without windows
def test_by_keys(qtbot: QtBot, talked: Callable[[], Application]) -> None:
    window = talked().window
    sidebar, view = window.sidebar, window.sidebar.list
    view.setFocus()
    view.setCurrentIndex(sidebar.model.index(2))
    qtbot.keyClick(view, Qt.Key.Key_Down, Qt.KeyboardModifier.ShiftModifier)
    assert len(view.chats()) == 2
    qtbot.keyClick(view, Qt.Key.Key_F, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    assert [a.text() for a in menu.actions() if a.text()] == ["Letters", "New folder"]
    qtbot.keyClick(menu, Qt.Key.Key_Down)
    qtbot.keyClick(menu, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: inside(sidebar) == ["three", "two"])
    sidebar.moved.emit(tuple(chats(sidebar)), "")
    name_folder(qtbot, sidebar, "Work")
    qtbot.waitUntil(lambda: len(sidebar.folders) == 2 and len(inside(sidebar)) == 3)
    window.toast.undo()  # the folder that was made for it goes, too
    qtbot.waitUntil(lambda: len(sidebar.folders) == 1 and inside(sidebar) == ["three", "two"])


def test_a_chat_goes_into_a_new_folder_that_is_named_in_the_list(
    qtbot: QtBot, talked: Callable[[], Application]
) -> None:
    underhill = talked()
    window = underhill.window
    sidebar, view = window.sidebar, window.sidebar.list
    view.setFocus()
    view.setCurrentIndex(sidebar.model.index(3))
    before, chosen = list(sidebar.model.rows), view.chats()
    sidebar.moved.emit(chosen, "")
    qtbot.waitUntil(lambda: sidebar.naming and view.renaming)
    assert view.chats() == chosen  # what is moved stays marked
    field = QApplication.focusWidget()
    assert isinstance(field, QLineEdit)
    assert field.selectedText() == "New folder"
    qtbot.keyClick(field, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: not sidebar.naming and not view.renaming)
    settled(qtbot, underhill)
    assert (sidebar.model.rows, view.chats()) == (before, chosen)
    assert view.hasFocus()
    assert not window.toast.isVisible()
    assert [folder.name for folder in sidebar.folders] == ["Letters"]
    sidebar.moved.emit(chosen, "")
    name_folder(qtbot, sidebar, "  ")  # no name
    qtbot.waitUntil(lambda: sidebar.model.rows == before)
    sidebar.moved.emit(chosen, "")
    name_folder(qtbot, sidebar, "")  # as it is proposed
    qtbot.waitUntil(lambda: held(sidebar) == {"Letters": 0, "New folder": 1})
    assert "moved to “New folder”" in window.toast.accessibleName()
    sidebar.moved.emit(chosen, "")
    name_folder(qtbot, sidebar, "Letters")  # which is there: it goes into that one
    qtbot.waitUntil(lambda: held(sidebar) == {"Letters": 1, "New folder": 0})


def test_from_a_search_too(qtbot: QtBot, talked: Callable[[], Application]) -> None:
    window = talked().window
    sidebar = window.sidebar
    sidebar.search.setText("two")
    qtbot.waitUntil(lambda: [chat.title for chat in chats(sidebar)] == ["two"])
    sidebar.moved.emit(tuple(chats(sidebar)), "")
    name_folder(qtbot, sidebar, "Work")
    qtbot.waitUntil(lambda: held(sidebar) == {"Letters": 0, "Work": 1})
    assert not sidebar.search.text()


def test_several_are_deleted_and_come_back_together(qtbot: QtBot, talked: Callable[[], Application]) -> None:
    underhill = talked()
    window = underhill.window
    view = window.sidebar.list
    view.selectAll()
    qtbot.keyClick(view, Qt.Key.Key_Delete)
    qtbot.waitUntil(lambda: not chats(window.sidebar) and underhill.conversation.chat is None)
    window.toast.undo()
    qtbot.waitUntil(lambda: len(chats(window.sidebar)) == 3 and underhill.conversation.chat is not None)


def test_a_click_with_ctrl_chooses_and_does_not_open(qtbot: QtBot, talked: Callable[[], Application]) -> None:
    underhill = talked()
    view = underhill.window.sidebar.list
    now = underhill.conversation.chat
    where = view.visualRect(view.model().index(4)).center()
    qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.ControlModifier, where)
    assert len(view.chats()) == 2
    assert underhill.conversation.chat is now
    qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, where)
    qtbot.waitUntil(lambda: underhill.conversation.chat is not None and underhill.conversation.chat is not now)


def test_what_is_chosen_stays_chosen_when_the_list_is_read_anew(
    qtbot: QtBot, talked: Callable[[], Application]
) -> None:
    underhill = talked()
    window = underhill.window
    sidebar, view = window.sidebar, window.sidebar.list
    view.setCurrentIndex(sidebar.model.index(4))
    assert [chat.title for chat in view.chats()] == ["one"]  # by the arrows: the page still has the third
    ask(qtbot, underhill, "more")
    underhill.window.chats.change(lambda store: store.make_folder("Another"))
    qtbot.waitUntil(lambda: len(sidebar.model.rows) == 6)
    assert [chat.title for chat in view.chats()] == ["one"]
    qtbot.keyClick(view, Qt.Key.Key_Up, Qt.KeyboardModifier.ShiftModifier)
    underhill.window.chats.change(lambda store: store.make_folder("And another"))
    qtbot.waitUntil(lambda: len(sidebar.model.rows) == 7)
    assert [chat.title for chat in view.chats()] == ["two", "one"]


def test_after_a_deletion_the_keys_are_for_the_chat_beside(qtbot: QtBot, talked: Callable[[], Application]) -> None:
    underhill = talked()
    sidebar, view = underhill.window.sidebar, underhill.window.sidebar.list
    view.setCurrentIndex(sidebar.model.index(3))
    for left in (["three", "one"], ["three"]):  # and not for the one on the page
        qtbot.keyClick(view, Qt.Key.Key_Delete)
        qtbot.waitUntil(lambda left=left: [chat.title for chat in chats(sidebar)] == left)
    assert contents(underhill)[0] == "three"


def test_a_folder_that_was_clicked_has_the_keys(qtbot: QtBot, talked: Callable[[], Application]) -> None:
    underhill = talked()
    sidebar, view = underhill.window.sidebar, underhill.window.sidebar.list
    drop(sidebar, chats(sidebar)[1:2], 0)
    qtbot.waitUntil(lambda: inside(sidebar) == ["two"])
    where = view.visualRect(sidebar.model.index(0)).center()
    qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=where)
    qtbot.waitUntil(lambda: len(chats(sidebar)) == 2)  # it is closed now
    qtbot.keyClick(view, Qt.Key.Key_Delete)
    qtbot.waitUntil(lambda: not sidebar.folders)
    qtbot.keyClick(view, Qt.Key.Key_Delete)  # once too often
    assert sorted(chat.title for chat in chats(sidebar)) == ["one", "three", "two"]
    assert contents(underhill)[0] == "three"
    underhill.window.toast.undo()
    qtbot.waitUntil(lambda: len(sidebar.folders) == 1 and len(chats(sidebar)) == 2)  # closed, as it was
    sidebar.activate(sidebar.model.index(0))
    qtbot.waitUntil(lambda: inside(sidebar) == ["two"])


def test_a_title_that_is_being_typed_outlives_the_end_of_an_answer(
    qtbot: QtBot, talked: Callable[[], Application]
) -> None:
    underhill = talked()
    sidebar, view = underhill.window.sidebar, underhill.window.sidebar.list
    view.setFocus()
    view.setCurrentIndex(sidebar.model.index(3))
    qtbot.keyClick(view, Qt.Key.Key_F2)
    editor = view.findChild(QLineEdit)
    assert isinstance(editor, QLineEdit)
    editor.setText("")
    qtbot.keyClicks(editor, "quin")
    underhill.conversation.send("more")  # which marks its chat, and changes the list
    qtbot.waitUntil(lambda: not underhill.conversation.working)
    underhill.window.chats.change(lambda store: store.make_folder("Another"))
    settled(qtbot, underhill)
    assert view.renaming
    assert editor.text() == "quin"
    qtbot.keyClicks(editor, "ces")
    qtbot.keyClick(editor, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: "quinces" in [chat.title for chat in chats(sidebar)] and len(sidebar.folders) == 2)
