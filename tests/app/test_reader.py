"""What is attached can be read without editing the message that it went with."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QMenu
from pytestqt.qtbot import QtBot

from app.application import Application
from app.attachments import dialog as reading
from app.attachments.dialog import AttachmentDialog
from app.chat.prompt_messages import with_attachments
from app.storage.records import Attachment
from app.transcript.mouse import hit_test
from app.transcript.paint import files_rect
from tests.app.acts import Launch, ask, button

pytestmark = pytest.mark.long

FILES = (
    Attachment("notes.txt", "The treasure is under the oak.\nAn oak 😀 is a tree.\nAnd the OAK is old."),
    Attachment("plan.py", "print('dig')"),
)


@pytest.fixture
def underhill(qtbot: QtBot, launch: Launch) -> Application:
    made: Application = launch()
    made.window.composer.set_attachments(FILES)
    ask(qtbot, made, "Where is it?")
    return made


def readers(underhill: Application) -> list[AttachmentDialog]:
    return underhill.window.findChildren(AttachmentDialog)


def opened(qtbot: QtBot, underhill: Application) -> AttachmentDialog:
    qtbot.waitUntil(lambda: len(readers(underhill)) == 1)
    return readers(underhill)[0]


@pytest.mark.parametrize("content", ["Where is it?", ""])
def test_a_click_on_what_is_attached_opens_it(qtbot: QtBot, underhill: Application, content: str) -> None:
    window, view = underhill.window, underhill.window.transcript
    if not content:  # a message may be its attachments alone
        window.composer.set_attachments(FILES)
        ask(qtbot, underhill, "")
        view.choose(2)
    index = 0 if content else 2
    chip = files_rect(view.items[index], view.layout_.column)
    assert chip is not None
    at = (view.origin(index) + chip.center()).toPoint()
    qtbot.mouseMove(view.viewport(), at)
    assert hit_test(view, QPointF(at)) is not None
    qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=at)
    reader = opened(qtbot, underhill)
    assert reader.windowTitle() == "notes.txt"
    assert reader.text.toPlainText() == FILES[0].text
    assert reader.text.accessibleName() == "Text of notes.txt"
    assert not window.editing.editing
    count = len(with_attachments("", FILES[:1])) // 4  # as it is sent, and as the engine of these tests counts
    qtbot.waitUntil(lambda: reader.facts.text() == f"{len(FILES[0].text.encode())} B  ·  {count} tokens")
    reader.names.setCurrentIndex(1)
    assert reader.text.toPlainText() == "print('dig')"
    reader.copy.click()
    assert QGuiApplication.clipboard().text() == "print('dig')"
    reader.reject()
    qtbot.waitUntil(lambda: not readers(underhill))


def test_it_can_be_reached_with_the_keyboard_and_from_the_menu(qtbot: QtBot, underhill: Application) -> None:
    view = underhill.window.transcript
    view.choose(1)
    read = button(view, "View attachment")
    assert read.isHidden()  # nothing is attached to the answer
    view.choose(0)
    assert read.focusPolicy() & Qt.FocusPolicy.TabFocus
    qtbot.keyClick(read, Qt.Key.Key_Space)
    opened(qtbot, underhill).reject()
    qtbot.waitUntil(lambda: not readers(underhill))
    menu: QMenu = view.menu_of(view.items[0], "")
    next(action for action in menu.actions() if action.text() == "View attachment").trigger()
    opened(qtbot, underhill).reject()
    menu.deleteLater()


def test_finding_in_it(qtbot: QtBot, underhill: Application) -> None:
    reader = underhill.reading.open(FILES, 0)
    reader.activateWindow()
    qtbot.waitUntil(reader.isActiveWindow)
    qtbot.keyClick(reader.text, Qt.Key.Key_F, Qt.KeyboardModifier.ControlModifier)
    assert reader.bar.isVisible()
    qtbot.waitUntil(lambda: reader.bar.edit.mapTo(reader, QPoint()).x() == reader.text.mapTo(reader, QPoint()).x())
    qtbot.keyClicks(reader.bar.edit, "oak")
    qtbot.waitUntil(lambda: reader.bar.count.text() == "3 matches")
    found = []
    for _ in range(4):
        found.append(reader.text.textCursor().selectionStart())
        qtbot.keyClick(reader.bar.edit, Qt.Key.Key_Return)
    assert reader.text.textCursor().selectedText().lower() == "oak"
    assert len(set(found)) == 3
    assert found[0] == found[3]  # round again
    qtbot.keyClick(reader.bar.edit, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    assert reader.text.textCursor().selectionStart() == found[0]
    reader.bar.edit.setText("elm")
    qtbot.waitUntil(lambda: reader.bar.count.text() == "No matches")
    qtbot.keyClick(reader.bar.edit, Qt.Key.Key_Escape)
    assert reader.bar.isHidden()
    assert reader.isVisible()
    qtbot.keyClick(reader.text, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: not readers(underhill))


def test_of_a_very_long_text_the_beginning_is_shown_and_all_is_copied(
    underhill: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "_MOST", 100)
    reader = underhill.reading.open((Attachment("long.txt", "word " * 100),), 0)
    assert len(reader.text.toPlainText()) == 100
    assert "first 100 characters shown" in reader.facts.text()
    reader.copy.click()
    assert QGuiApplication.clipboard().text() == "word " * 100
    reader.reject()


def test_what_is_attached_to_a_draft_is_read_the_same_way(qtbot: QtBot, underhill: Application) -> None:
    composer = underhill.window.composer
    composer.set_attachments(FILES)
    composer.attached.pressed.emit(1)
    reader = opened(qtbot, underhill)
    assert reader.windowTitle() == "plan.py"
    reader.reject()
