"""The list of chats: search, folders, pins, the trash."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QApplication, QLineEdit, QMenu
from pytestqt.qtbot import QtBot

from app.dialogs import TrashDialog
from app.sidebar.chat_model import ROW_ROLE, SectionRow, snippet_lines
from app.storage.records import Chat
from app.storage.search import SearchHit
from tests.app.acts import Launch, ask, button, contents, name_folder, on_disk
from tests.app.conftest import close
from tests.app.fake_engine import SENTENCE

pytestmark = pytest.mark.long


def test_delete_and_undo(qtbot: QtBot, launch: Launch, tmp_path: Path) -> None:
    underhill = launch()
    ask(qtbot, underhill, "keep me")
    window = underhill.window
    qtbot.waitUntil(lambda: window.sidebar.model.rowCount() == 2)
    window.sidebar.list.setCurrentIndex(window.sidebar.model.index(1))
    qtbot.keyClick(window.sidebar.list, Qt.Key.Key_Delete)
    qtbot.waitUntil(lambda: window.sidebar.model.rowCount() == 0)
    assert contents(underhill) == []
    assert window.toast.isVisible()
    window.toast.undo()
    qtbot.waitUntil(lambda: window.sidebar.model.rowCount() == 2 and len(contents(underhill)) == 2)
    assert len(on_disk(underhill, tmp_path)) == 1


def test_a_click_below_the_chats_chooses_the_one_that_the_keys_are_for(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch()
    ask(qtbot, underhill, "keep me")
    sidebar = underhill.window.sidebar
    qtbot.waitUntil(lambda: sidebar.model.rowCount() == 2)
    sidebar.list.setCurrentIndex(sidebar.model.index(1))
    below = QPoint(40, sidebar.list.viewport().height() - 5)
    assert not sidebar.list.indexAt(below).isValid()
    qtbot.mouseClick(sidebar.list.viewport(), Qt.MouseButton.LeftButton, pos=below)
    assert [chat.title for chat in sidebar.list.chats()] == ["keep me"]
    qtbot.keyClick(sidebar.list, Qt.Key.Key_Delete)
    qtbot.waitUntil(lambda: sidebar.model.rowCount() == 0)


def test_a_deleted_chat_waits_in_the_trash(qtbot: QtBot, launch: Launch, tmp_path: Path) -> None:
    underhill = launch()
    ask(qtbot, underhill, "forget me")
    qtbot.waitUntil(lambda: underhill.window.sidebar.model.rowCount() == 2)
    underhill.window.sidebar.deleted.emit((underhill.window.sidebar.model.rows[1],))
    assert on_disk(underhill, tmp_path) == []
    again = launch()
    again.window.chats.open_trash()
    qtbot.waitUntil(lambda: bool(again.window.findChildren(TrashDialog)))
    dialog = again.window.findChild(TrashDialog)
    assert isinstance(dialog, TrashDialog)
    assert dialog.list.count() == 1
    dialog.back.click()
    qtbot.waitUntil(lambda: contents(again) == ["forget me", SENTENCE * 3])
    dialog.accept()


def test_removed_from_the_trash_is_for_good(qtbot: QtBot, launch: Launch, tmp_path: Path) -> None:
    underhill = launch()
    ask(qtbot, underhill, "forget me")
    chat = underhill.conversation.chat
    assert chat is not None
    underhill.window.sidebar.deleted.emit((chat,))
    underhill.window.chats.open_trash()
    qtbot.waitUntil(lambda: bool(underhill.window.findChildren(TrashDialog)))
    dialog = underhill.window.findChild(TrashDialog)
    assert isinstance(dialog, TrashDialog)
    dialog.remove.click()
    assert not dialog.back.isEnabled()
    dialog.accept()
    close(underhill)
    import sqlite3

    db = sqlite3.connect(tmp_path / "chats.db")
    assert db.execute("SELECT count(*) FROM messages").fetchone() == (0,)
    db.close()


def test_search_goes_to_the_message_on_its_branch(qtbot: QtBot, launch: Launch) -> None:
    answers = iter(["about badgers. " * 400, "about foxes", "nothing"])
    underhill = launch(script=lambda messages: next(answers))
    ask(qtbot, underhill, "q")
    first = underhill.conversation.messages[1].id
    button(underhill.window.transcript, "Regenerate").click()
    qtbot.waitUntil(lambda: contents(underhill) == ["q", "about foxes"] and not underhill.conversation.working)
    underhill.window.navigator.new_chat()
    ask(qtbot, underhill, "other")
    window = underhill.window
    qtbot.keyClicks(window.sidebar.search, "BADG")
    qtbot.waitUntil(lambda: any(isinstance(row, SearchHit) for row in window.sidebar.model.rows))
    qtbot.keyClick(window.sidebar.search, Qt.Key.Key_Return)
    index = window.sidebar.list.currentIndex()
    hit = index.data(ROW_ROLE)
    assert isinstance(hit, SearchHit)
    assert next(hit.snippet[a:b] for a, b in hit.marks) == "badg"
    window.sidebar.list.activated.emit(index)
    qtbot.waitUntil(lambda: len(contents(underhill)) == 2 and contents(underhill)[1].startswith("about badgers"))
    place = window.transcript.place()
    assert place is not None
    assert place.message_id == first
    window.sidebar.search.clear()
    qtbot.waitUntil(lambda: len(window.sidebar.model.rows) == 3)


@pytest.mark.parametrize(
    ("snippet", "marked", "leftwards"),
    [("🦡🦡 all about the badger " * 9, "badger", False), ("🦡 הגירית יוצאת בלילה " * 9, "יוצאת", True)],
)
def test_a_hit_is_bold_and_each_script_goes_its_own_way(
    qapp: QApplication, snippet: str, marked: str, leftwards: bool
) -> None:
    chat = Chat(id=1)
    start = snippet.index(marked)
    layout = snippet_lines(SearchHit(chat, 1, "user", snippet, ((start, start + len(marked)),), 0.0), 200)
    (bold,) = layout.formats()
    signs = snippet.encode("utf-16-le")
    assert signs[2 * bold.start : 2 * (bold.start + bold.length)].decode("utf-16-le") == marked
    assert layout.lineCount() == 2
    line = layout.lineAt(0)
    assert line.naturalTextWidth() <= 200
    first, last = (line.cursorToX(at)[0] for at in (bold.start, bold.start + bold.length))
    assert (last < first) == leftwards


def test_pins_and_folders(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch()
    sidebar = underhill.window.sidebar
    ask(qtbot, underhill, "one")
    chat = underhill.conversation.chat
    assert chat is not None
    sidebar.pinned.emit(chat, True)
    qtbot.waitUntil(lambda: sidebar.model.rows[:1] == [SectionRow("Pinned")])
    sidebar.pinned.emit(chat, False)
    sidebar.moved.emit((chat,), "")
    name_folder(qtbot, sidebar, " my  work ")
    qtbot.waitUntil(lambda: sidebar.model.rowCount() == 2 and sidebar.model.rows[0].title == "my work")  # type: ignore[union-attr]
    sidebar.activate(sidebar.model.index(0))
    qtbot.waitUntil(lambda: sidebar.model.rowCount() == 1)
    close(underhill)
    again = launch()
    qtbot.waitUntil(lambda: again.window.sidebar.model.rowCount() == 1)  # still closed
    again.window.sidebar.folder_removed.emit(again.window.sidebar.model.rows[0].folder)  # type: ignore[union-attr]
    qtbot.waitUntil(lambda: again.window.sidebar.model.rowCount() == 2)


def test_a_new_folder_is_named_in_the_list(qtbot: QtBot, launch: Launch) -> None:
    window = launch().window
    sidebar = window.sidebar

    def make() -> QLineEdit:
        menu = QMenu(window)
        sidebar.fill_menu(menu)
        next(action for action in menu.actions() if action.text() == "New folder").trigger()
        menu.deleteLater()
        qtbot.waitUntil(lambda: sidebar.list.renaming)
        field = QApplication.focusWidget()
        assert isinstance(field, QLineEdit)
        return field

    def names() -> list[str]:
        return [folder.name for folder in sidebar.folders]

    field = make()
    field.selectAll()
    qtbot.keyClicks(field, "Letters")
    qtbot.keyClick(field, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: names() == ["Letters"])
    for expected in (["Letters", "New folder"], ["Letters", "New folder", "New folder 2"]):
        qtbot.keyClick(make(), Qt.Key.Key_Return)
        qtbot.waitUntil(lambda expected=expected: names() == expected)
    qtbot.keyClick(make(), Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: not sidebar.naming and not sidebar.list.renaming)
    assert names() == ["Letters", "New folder", "New folder 2"]


def test_where_one_had_read_to_is_kept(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch(script=lambda messages: SENTENCE * 400)
    ask(qtbot, underhill, "long")
    chat = underhill.conversation.chat
    assert chat is not None
    transcript = underhill.window.transcript
    transcript.verticalScrollBar().setValue(700)
    place = transcript.place()
    assert place is not None
    underhill.window.navigator.new_chat()
    close(underhill)
    again = launch()
    qtbot.waitUntil(lambda: again.window.sidebar.model.rowCount() == 2)
    again.window.sidebar.opened.emit(again.window.sidebar.model.rows[1])
    qtbot.waitUntil(lambda: len(contents(again)) == 2)
    assert again.window.transcript.place() == place


def test_rename_and_search(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch()
    for text in ("apples", "pears"):
        underhill.window.navigator.new_chat()
        ask(qtbot, underhill, text)
    model = underhill.window.sidebar.model
    qtbot.waitUntil(lambda: model.rowCount() == 3)
    model.setData(model.index(1), "quinces")
    qtbot.waitUntil(lambda: model.rows[1].title == "quinces")  # type: ignore[union-attr]
    qtbot.keyClicks(underhill.window.sidebar.search, "QUIN")
    qtbot.waitUntil(lambda: model.rowCount() == 2)


def test_ctrl_tab_goes_down_the_list_and_round(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch()
    window = underhill.window
    for words in ("one", "two", "three"):
        window.navigator.new_chat()
        ask(qtbot, underhill, words)
    qtbot.waitUntil(lambda: window.sidebar.model.rowCount() == 4)
    qtbot.waitUntil(window.isActiveWindow)
    seen = []
    for expected in ("two", "one", "three"):  # the latest is at the top
        qtbot.keyClick(window.composer.edit, Qt.Key.Key_Tab, Qt.KeyboardModifier.ControlModifier)
        qtbot.waitUntil(lambda expected=expected: contents(underhill)[0] == expected)
        seen.append(window.sidebar.list.currentIndex().row())
    assert seen == [2, 3, 1]
    both = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
    for _ in range(2):  # faster than chats are read
        qtbot.keyClick(window.composer.edit, Qt.Key.Key_Backtab, both)
    qtbot.waitUntil(lambda: contents(underhill)[0] == "two")
    window.navigator.new_chat()
    window.library.show()
    qtbot.keyClick(window, Qt.Key.Key_Tab, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: window.pages.currentWidget() is window.transcript and contents(underhill)[0] == "three")
