"""Questions that the disk does not take: the words come back, to the chat that they were for."""

from __future__ import annotations

import sqlite3
import threading
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.application import Application
from app.platform.logs import AppPaths
from app.settings import preferences
from app.storage import branches
from app.storage.records import StoredMessage
from app.storage.store import NEW_CHAT, ChatStore
from tests.app.acts import Launch, ask, contents
from tests.app.chat.test_draft_store import NOTES, go_to
from tests.app.conftest import close, engine_of
from tests.app.fake_engine import SENTENCE
from tests.waiting import LONGEST

pytestmark = pytest.mark.long


def type_in(qtbot: QtBot, underhill: Application, text: str) -> None:
    qtbot.keyClicks(underhill.window.composer.edit, text)
    qtbot.keyClick(underhill.window.composer.edit, Qt.Key.Key_Return)


@pytest.mark.parametrize("first", [True, False], ids=["in a new chat", "in a chat"])
def test_a_question_comes_back_though_nobody_waited_for_the_disk_any_longer(
    qtbot: QtBot, launch: Launch, monkeypatch: pytest.MonkeyPatch, first: bool
) -> None:
    underhill = launch()
    if not first:
        ask(qtbot, underhill, "before")
    tried = threading.Event()

    def held(*_: Any, **__: Any) -> None:
        tried.wait(LONGEST)
        raise sqlite3.OperationalError("database is locked")

    monkeypatch.setattr(branches, "write", held)
    type_in(qtbot, underhill, "do not lose me")
    before = contents(underhill)[:-2]
    underhill.conversation.stop()
    underhill.conversation.stop()
    assert not underhill.conversation.working
    tried.set()
    qtbot.waitUntil(lambda: underhill.window.composer.text() == "do not lose me")
    qtbot.waitUntil(lambda: contents(underhill) == before)
    assert (underhill.conversation.chat is None) == first


@pytest.mark.parametrize("gone", [True, False], ids=["somebody has left it", "it is on the page"])
def test_what_waits_in_a_chat_that_does_not_come_to_be_comes_back_too(
    qtbot: QtBot, launch: Launch, monkeypatch: pytest.MonkeyPatch, gone: bool
) -> None:
    underhill = launch()
    tried = threading.Event()

    def held(*_: Any, **__: Any) -> None:
        tried.wait(LONGEST)
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(branches, "write", held)
    for text in ("one", "two", "three"):
        type_in(qtbot, underhill, text)
    if gone:
        underhill.window.navigator.new_chat()
        qtbot.keyClicks(underhill.window.composer.edit, "four")
    tried.set()
    qtbot.waitUntil(lambda: not underhill.conversation.working)
    qtbot.waitUntil(lambda: bool(underhill.window.composer.text()))
    assert underhill.window.composer.text() == "one\n\ntwo\n\nthree" + "\n\nfour" * gone
    assert underhill.conversation.chat is None


def waiting(tmp_path: Path) -> tuple[list[str], list[str]]:
    """What is on the disk at this moment: questions, and what waits."""
    store = ChatStore(tmp_path / "chats.db")
    (chat,) = store.chats()
    asked = [m.content for m in store.path(chat.id) if m.role == "user"]
    store.close()
    return asked, [q.text for q in chat.queue]


def test_a_message_that_waited_is_on_the_disk_all_along(
    qtbot: QtBot, launch: Launch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    underhill = launch()
    engine_of(underhill).ends.clear()
    seen: list[tuple[list[str], list[str]]] = []
    write = branches.write

    def looked_at(store: ChatStore, chat: Any, messages: tuple[StoredMessage, ...], *more: Any, **named: Any) -> None:
        if messages[0].content == "two":
            seen.append(waiting(tmp_path))
        write(store, chat, messages, *more, **named)
        if messages[0].content == "two":
            seen.append(waiting(tmp_path))

    monkeypatch.setattr(branches, "write", looked_at)
    for text in ("one", "two", "three"):
        type_in(qtbot, underhill, text)
    engine_of(underhill).ends.set()
    qtbot.waitUntil(lambda: not underhill.conversation.working)
    assert seen == [(["one"], ["two", "three"]), (["one", "two"], ["three"])]
    close(underhill)
    assert waiting(tmp_path) == (["one", "two", "three"], [])


def test_a_message_that_waited_in_another_chat_goes_on_waiting_there(
    qtbot: QtBot, launch: Launch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It came into the composer of the chat that happened to be open."""
    underhill = launch(script=lambda messages: SENTENCE)
    engine_of(underhill).ends.clear()
    for text in ("one", "two", "three"):
        type_in(qtbot, underhill, text)
    assert underhill.conversation.chat is not None
    chat = underhill.conversation.chat.id
    underhill.window.navigator.new_chat()

    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(branches, "write", full)
    engine_of(underhill).ends.set()
    qtbot.waitUntil(lambda: not underhill.conversation.working)
    qtbot.waitUntil(lambda: bool(underhill.window.banners.banners))
    assert underhill.window.composer.text() == ""
    monkeypatch.undo()
    go_to(qtbot, underhill, chat)
    assert underhill.window.composer.text() == "two\n\nthree"
    close(underhill)
    assert waiting(tmp_path) == (["one"], [])


@pytest.mark.parametrize("new", [True, False], ids=["in a new chat", "in a chat"])
def test_what_is_sent_is_on_the_disk_before_the_draft_is_not(
    qtbot: QtBot, launch: Launch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, new: bool
) -> None:
    """Between the two commits the process may be killed."""
    underhill = launch()
    composer = underhill.window.composer
    if not new:
        ask(qtbot, underhill, "before")
    composer.set_attachments((NOTES,))
    qtbot.keyClicks(composer.edit, "do not lose me")
    composer.save_draft()
    qtbot.waitUntil(lambda: not underhill.conversation.drafts.unsaved and not underhill.window.state.unsaved_draft)
    write, seen = branches.write, []

    def looked_at(store: ChatStore, *what: Any, **more: Any) -> None:
        if not seen:
            chat = underhill.conversation.chat
            assert chat is not None
            found = store.chat(chat.id)
            typed = found.draft if found is not None else preferences.load(AppPaths(tmp_path).preferences)[0].draft
            seen.append((typed, store.draft_attachments(NEW_CHAT if found is None else chat.id)))
        write(store, *what, **more)

    monkeypatch.setattr(branches, "write", looked_at)
    qtbot.keyClick(composer.edit, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: not underhill.conversation.working and bool(seen))
    assert seen == [("do not lose me", (NOTES,))]
    close(underhill)
    store = ChatStore(tmp_path / "chats.db")
    (chat,) = store.chats()
    assert chat.draft == ""
    assert (store.draft_attachments(), store.draft_attachments(chat.id)) == ((), ())
    assert preferences.load(AppPaths(tmp_path).preferences)[0].draft == ""
    store.close()
