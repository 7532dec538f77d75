"""Closing loses no words unasked: not where the disk is full, and not where the session ends."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QLabel, QPushButton, QSystemTrayIcon
from pytestqt.qtbot import QtBot

from app.application import Application
from app.controllers import storage_controller
from app.dialogs import UnsavedDialog
from app.main_window import MainWindow
from app.settings import preferences
from app.storage import branches
from app.storage.records import Attachment
from app.storage.store import ChatStore
from tests.app.acts import Launch, ask, on_disk
from tests.app.conftest import close, engine_of
from tests.app.fake_engine import SENTENCE
from tests.waiting import LONGEST

NOTES = Attachment("notes.txt", "Flour, water, salt.")
pytestmark = [pytest.mark.usefixtures("raised"), pytest.mark.long]


def full(*_: object) -> None:
    raise OSError(28, "No space left on device")


class Disk:
    """Takes everything until it is filled, and again once there is room."""

    def __init__(self) -> None:
        self._filled = pytest.MonkeyPatch()

    def fill(self) -> None:
        self._filled.setattr(ChatStore, "set_field", full)
        self._filled.setattr(ChatStore, "keep_draft_attachments", full)
        self._filled.setattr(preferences, "save", full)
        self._filled.setattr(ChatStore, "update", full)

    def free(self) -> None:
        self._filled.undo()


@pytest.fixture
def disk(launch: Launch, monkeypatch: pytest.MonkeyPatch) -> Iterator[Disk]:
    """It has room again before the windows are closed that a test leaves."""
    monkeypatch.setattr(UnsavedDialog, "raise_", lambda dialog: None)  # which this platform cannot
    made = Disk()
    yield made
    made.free()


def asked(underhill: Application) -> UnsavedDialog:
    dialog = underhill.window.closing.dialog
    assert dialog is not None
    assert dialog.isVisible()
    return dialog


def press(dialog: UnsavedDialog, words: str) -> None:
    next(b for b in dialog.findChildren(QPushButton) if b.text() == words).click()


def answered(qtbot: QtBot, underhill: Application, text: str) -> None:
    """Ask, and wait until the end of the answer is on the disk."""
    ask(qtbot, underhill, text)
    qtbot.waitUntil(lambda: not underhill.conversation.drafts.unsaved)


def typed(qtbot: QtBot, underhill: Application, disk: Disk | None = None) -> None:
    """A chat with a draft and something attached. disk: it is filled before these."""
    answered(qtbot, underhill, "How do I bake bread?")
    if disk is not None:
        disk.fill()
    underhill.window.composer.edit.setPlainText("With which flour?")
    underhill.window.composer.set_attachments((NOTES,))


def test_closing_shows_the_words_that_the_disk_does_not_take(
    qtbot: QtBot, launch: Launch, tmp_path: Path, disk: Disk
) -> None:
    underhill = launch()
    window = underhill.window
    typed(qtbot, underhill, disk)
    assert not window.close()
    assert window.isVisible()
    dialog = asked(underhill)
    words = dialog.words.toPlainText()
    for part in ("How do I bake bread?", "With which flour?", "notes.txt", "Flour, water, salt."):
        assert part in words
    assert not window.close()  # a second time: it still asks, and once
    assert asked(underhill) is dialog
    press(dialog, "Copy")
    assert QGuiApplication.clipboard().text() == words
    assert dialog.isVisible()
    press(dialog, "Cancel")
    assert window.isVisible()
    assert window.closing.dialog is None
    assert (window.composer.text(), window.composer.attachments) == ("With which flour?", (NOTES,))
    disk.free()
    assert window.close()
    assert window.closing.dialog is None
    close(underhill)
    store = ChatStore(tmp_path / "chats.db")
    (chat,) = store.chats()
    assert (chat.draft, store.draft_attachments(chat.id)) == ("With which flour?", (NOTES,))
    store.close()


def test_the_end_of_an_answer_that_the_disk_does_not_take_is_shown_and_written_later(
    qtbot: QtBot, launch: Launch, tmp_path: Path, disk: Disk
) -> None:
    underhill = launch()
    disk.fill()
    ask(qtbot, underhill, "How do I bake bread?")
    assert not underhill.window.close()
    dialog = asked(underhill)
    assert dialog.words.toPlainText() == f"How do I bake bread?\n\n{SENTENCE * 3}"
    assert any("disk is full" in label.text() for label in dialog.findChildren(QLabel))
    press(dialog, "Cancel")
    disk.free()
    assert underhill.window.close()
    assert on_disk(underhill, tmp_path)[0][1] == ("assistant", SENTENCE * 3, "whole")


def test_an_answer_on_its_way_and_what_waits_for_it_are_shown_too(
    qtbot: QtBot, launch: Launch, tmp_path: Path, disk: Disk
) -> None:
    underhill = launch()
    engine_of(underhill).ends.clear()
    disk.fill()
    underhill.conversation.send("How do I bake bread?")
    underhill.conversation.send("And with which flour?", (NOTES,))
    qtbot.waitUntil(lambda: any(m.role == "assistant" for m in underhill.conversation.answers.unwritten))
    assert not underhill.window.close()
    words = asked(underhill).words.toPlainText()
    for part in ("How do I bake bread?", SENTENCE, "And with which flour?", "notes.txt", "Flour, water, salt."):
        assert part in words
    press(asked(underhill), "Cancel")
    disk.free()
    assert underhill.window.close()
    assert underhill.window.closing.dialog is None
    close(underhill)
    store = ChatStore(tmp_path / "chats.db")
    (chat,) = store.chats()
    assert [(q.text, q.attachments) for q in chat.queue] == [("And with which flour?", (NOTES,))]
    assert SENTENCE in store.path(chat.id)[1].content
    store.close()


def test_a_question_that_the_disk_has_not_taken_yet_is_shown_too(
    qtbot: QtBot, launch: Launch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, disk: Disk
) -> None:
    underhill = launch()
    write, taken = branches.write, threading.Event()

    def slow(*what: Any, **more: Any) -> None:
        taken.wait(LONGEST)
        write(*what, **more)

    monkeypatch.setattr(branches, "write", slow)
    monkeypatch.setattr(storage_controller, "_RETRY_SECONDS", 0.05)
    underhill.conversation.send("How do I bake bread?", (NOTES,))
    assert not underhill.window.close()
    words = asked(underhill).words.toPlainText()
    assert "How do I bake bread?" in words
    assert "Flour, water, salt." in words
    press(asked(underhill), "Cancel")
    taken.set()
    qtbot.waitUntil(lambda: not underhill.conversation.answers.unwritten)
    monkeypatch.undo()
    assert underhill.window.close()
    assert on_disk(underhill, tmp_path)[0][0][1] == "How do I bake bread?"


def test_one_may_quit_all_the_same(qtbot: QtBot, launch: Launch, disk: Disk) -> None:
    underhill = launch()
    typed(qtbot, underhill, disk)
    underhill.window.close()
    press(asked(underhill), "Quit anyway")
    assert not underhill.window.isVisible()
    close(underhill)


def test_what_is_typed_in_a_new_chat_is_shown_too(qtbot: QtBot, launch: Launch, tmp_path: Path, disk: Disk) -> None:
    underhill = launch()
    window = underhill.window
    answered(qtbot, underhill, "one")
    disk.fill()
    window.composer.edit.setPlainText("in the first chat")
    window.navigator.new_chat()
    window.composer.edit.setPlainText("in a new one")
    window.close()
    words = asked(underhill).words.toPlainText()
    assert "one\n\nin the first chat" in words
    assert "New chat\n\nin a new one" in words
    asked(underhill).reject()
    disk.free()
    assert window.close()
    close(underhill)
    assert preferences.load(tmp_path / "window.json")[0].draft == "in a new one"


def test_nothing_is_asked_where_there_is_room_again(qtbot: QtBot, launch: Launch, tmp_path: Path, disk: Disk) -> None:
    underhill = launch()
    typed(qtbot, underhill, disk)
    underhill.window.composer.save_draft()
    underhill.database.run_blocking(lambda store: None, 30.0)
    assert underhill.conversation.drafts.unsaved
    disk.free()
    assert underhill.window.close()
    close(underhill)
    store = ChatStore(tmp_path / "chats.db")
    assert [chat.draft for chat in store.chats()] == ["With which flour?"]
    store.close()


def test_a_draft_taken_back_is_no_loss(qtbot: QtBot, launch: Launch, disk: Disk) -> None:
    underhill = launch()
    typed(qtbot, underhill, disk)
    underhill.window.composer.save_draft()
    underhill.window.composer.edit.setPlainText("")
    underhill.window.composer.set_attachments(())
    assert underhill.window.close()
    close(underhill)


def test_who_stays_is_not_opened_anew_later(qtbot: QtBot, launch: Launch, disk: Disk) -> None:
    underhill = launch()
    typed(qtbot, underhill, disk)
    underhill.window.restart_requested.emit()
    assert underhill.again
    press(asked(underhill), "Cancel")
    assert not underhill.again
    disk.free()


def test_chats_that_live_in_memory_are_named(
    qtbot: QtBot, launch: Launch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "chats.db").mkdir()  # which no database can be opened at
    underhill = launch()
    ask(qtbot, underhill, "kept in memory")
    underhill.window.composer.edit.setPlainText("and a draft")
    assert not underhill.window.close()
    dialog = asked(underhill)
    assert "and a draft" in dialog.words.toPlainText()
    assert any("1 chat is kept only while" in text for text in texts(dialog))
    press(dialog, "Cancel")
    (tmp_path / "chats.db").rmdir()
    assert underhill.window.close()  # it tried once more
    assert [chat[0][1] for chat in on_disk(underhill, tmp_path)] == ["kept in memory"]


def texts(dialog: UnsavedDialog) -> list[str]:
    return [label.text() for label in dialog.findChildren(QLabel)]


def test_the_end_of_the_session_asks_nobody(
    qtbot: QtBot, launch: Launch, disk: Disk, caplog: pytest.LogCaptureFixture
) -> None:
    underhill = launch()
    typed(qtbot, underhill, disk)
    with caplog.at_level(logging.WARNING, "app.controllers.storage_controller"):
        underhill.window.closing.save_all()
    (record,) = (record for record in caplog.records if record.name == "app.controllers.storage_controller")
    assert "words of 1 chats" in record.getMessage()
    assert "No space left" in record.getMessage()
    assert "flour" not in record.getMessage()  # what people write is in no log
    assert underhill.window.close()
    assert underhill.window.closing.dialog is None
    close(underhill)


def test_what_was_typed_a_moment_ago_is_on_the_disk_when_the_session_ends(
    qtbot: QtBot, launch: Launch, tmp_path: Path
) -> None:
    underhill = launch()
    typed(qtbot, underhill)
    underhill.window.closing.save_all()
    store = ChatStore(tmp_path / "chats.db")
    (chat,) = store.chats()
    assert (chat.draft, store.draft_attachments(chat.id)) == ("With which flour?", (NOTES,))
    store.close()


def test_the_window_comes_forward_with_its_question(
    qtbot: QtBot, launch: Launch, disk: Disk, raised: list[MainWindow]
) -> None:
    underhill = launch()
    typed(qtbot, underhill, disk)
    underhill.window.showMinimized()
    underhill.window.close()
    assert raised == [underhill.window]
    assert not underhill.window.isMinimized()
    press(asked(underhill), "Cancel")


def test_quit_in_the_tray_asks_too(qtbot: QtBot, launch: Launch, disk: Disk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(QSystemTrayIcon, "isSystemTrayAvailable", staticmethod(lambda: True))
    monkeypatch.setattr(QSystemTrayIcon, "show", lambda tray: None)
    underhill = launch()
    typed(qtbot, underhill, disk)
    tray = underhill.tray_controller.tray
    assert tray is not None
    next(action for action in tray.contextMenu().actions() if action.text() == "Quit").trigger()
    assert underhill.window.isVisible()
    press(asked(underhill), "Quit anyway")
    assert not underhill.window.isVisible()
