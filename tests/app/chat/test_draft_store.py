"""What is typed while the disk is full is not lost: not by going to another chat, and not once there is room."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.application import Application
from app.settings import preferences
from app.storage.records import Attachment
from app.storage.store import ChatStore
from tests.app.acts import Launch, ask, contents
from tests.app.conftest import close
from tests.app.fake_engine import SENTENCE

pytestmark = pytest.mark.long

NOTES = Attachment("notes.txt", "Some notes.")


def full(*_: object) -> None:
    raise OSError(28, "No space left on device")


def said(underhill: Application, words: str) -> int:
    return sum(words in banner.sentence for banner in underhill.window.banners.banners)


def two_chats(qtbot: QtBot, underhill: Application) -> list[int]:
    """Their ids, the open one last."""
    ids = []
    for words in ("one", "two"):
        underhill.window.navigator.new_chat()
        ask(qtbot, underhill, words)
        assert underhill.conversation.chat is not None
        ids.append(underhill.conversation.chat.id)
    return ids


def go_to(qtbot: QtBot, underhill: Application, chat_id: int) -> None:
    window = underhill.window
    qtbot.waitUntil(lambda: any(getattr(row, "id", 0) == chat_id for row in window.sidebar.model.rows))
    window.navigator.open_chat(next(row for row in window.sidebar.model.rows if getattr(row, "id", 0) == chat_id))
    qtbot.waitUntil(lambda: underhill.conversation.chat is not None and underhill.conversation.chat.id == chat_id)


def test_a_draft_comes_back_with_its_chat_while_the_disk_is_full(
    qtbot: QtBot, launch: Launch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    underhill = launch()
    composer = underhill.window.composer
    first, second = two_chats(qtbot, underhill)
    monkeypatch.setattr(ChatStore, "set_field", full)
    monkeypatch.setattr(ChatStore, "keep_draft_attachments", full)
    composer.edit.setPlainText("typed on a full disk")
    composer.set_attachments((NOTES,))
    go_to(qtbot, underhill, first)
    assert composer.text() == ""
    assert composer.attachments == ()
    qtbot.waitUntil(lambda: said(underhill, "disk is full") == 1)
    assert "kept while the app is open" in underhill.window.banners.banners[0].accessibleName()
    underhill.window.banners.banners[0].dismiss()
    composer.edit.setPlainText("and here")  # it was said once, which is enough
    go_to(qtbot, underhill, second)
    assert (composer.text(), composer.attachments) == ("typed on a full disk", (NOTES,))
    go_to(qtbot, underhill, first)
    assert composer.text() == "and here"
    assert not said(underhill, "disk is full")
    monkeypatch.undo()
    composer.edit.setPlainText("and here, with room")
    composer.save_draft()
    qtbot.waitUntil(lambda: not underhill.conversation.drafts.unsaved)
    close(underhill)
    store = ChatStore(tmp_path / "chats.db")
    assert {c.id: c.draft for c in store.chats()} == {first: "and here, with room", second: "typed on a full disk"}
    assert store.draft_attachments(second) == (NOTES,)
    store.close()


def test_an_answer_is_whole_when_one_comes_back_to_its_chat_while_the_disk_is_full(
    qtbot: QtBot, launch: Launch, monkeypatch: pytest.MonkeyPatch
) -> None:
    underhill = launch()
    first, second = two_chats(qtbot, underhill)
    monkeypatch.setattr(ChatStore, "update", full)
    ask(qtbot, underhill, "three")
    assert contents(underhill)[-1] == SENTENCE * 3
    qtbot.waitUntil(lambda: said(underhill, "disk is full") == 1)
    go_to(qtbot, underhill, first)
    go_to(qtbot, underhill, second)
    assert contents(underhill)[2:] == ["three", SENTENCE * 3]
    assert underhill.conversation.messages[-1].state == "whole"
    monkeypatch.undo()
    underhill.conversation.drafts.try_again()
    qtbot.waitUntil(lambda: not underhill.conversation.drafts.unsaved)


def test_an_answer_in_words_of_ones_own_comes_back_from_a_full_disk(
    qtbot: QtBot, launch: Launch, monkeypatch: pytest.MonkeyPatch
) -> None:
    underhill = launch()
    window = underhill.window
    ask(qtbot, underhill, "one")
    window.editing.edit(underhill.conversation.messages[-1].id)
    window.composer.set_text("A better answer")
    monkeypatch.setattr(ChatStore, "add", full)
    qtbot.keyClick(window.composer.edit, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: said(underhill, "disk is full") == 1)
    assert window.composer.text() == "A better answer"
    assert contents(underhill)[-1] == SENTENCE * 3


def test_trying_again_says_whether_it_worked(qtbot: QtBot, launch: Launch, monkeypatch: pytest.MonkeyPatch) -> None:
    underhill = launch()
    window = underhill.window
    two_chats(qtbot, underhill)
    monkeypatch.setattr(ChatStore, "set_field", full)
    window.composer.edit.setPlainText("typed on a full disk")
    window.composer.save_draft()
    qtbot.waitUntil(lambda: said(underhill, "disk is full") == 1)
    before = window.banners.banners[0]
    before.act()
    qtbot.waitUntil(lambda: said(underhill, "disk is full") == 1 and window.banners.banners[0] is not before)
    assert window.toast.isHidden()
    monkeypatch.undo()
    window.banners.banners[0].act()
    qtbot.waitUntil(lambda: window.toast.accessibleName() == "Chats are being saved again")
    assert not underhill.conversation.drafts.unsaved


def test_that_settings_cannot_be_saved_is_said_once(
    qtbot: QtBot, launch: Launch, monkeypatch: pytest.MonkeyPatch
) -> None:
    underhill = launch()
    window = underhill.window
    tried: list[object] = []

    def refuse(*what: object) -> None:
        tried.append(what)
        full()

    monkeypatch.setattr(preferences, "save", refuse)
    for words in ("in a new chat", "in a new chat, on"):
        count = len(tried)
        window.composer.edit.setPlainText(words)
        window.composer.save_draft()
        qtbot.waitUntil(lambda count=count: len(tried) > count)
        if not count:
            qtbot.waitUntil(lambda: said(underhill, "save your settings") == 1)
            window.banners.banners[0].dismiss()
    passed: list[object] = []
    underhill.database.submit(lambda store: None, passed.append)
    qtbot.waitUntil(lambda: bool(passed))
    assert not said(underhill, "save your settings")
    monkeypatch.undo()
