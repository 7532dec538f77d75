"""The thread of the chats outlives whatever it is asked, and what stood in memory meanwhile comes to the disk."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.platform.main_thread import MainThreadQueue
from app.storage import database_thread
from app.storage.database_thread import DatabaseThread, Problem
from app.storage.records import Attachment, Chat, new_id
from app.storage.store import NEW_CHAT, ChatStore
from tests.app.storage.conftest import talk

ONE, TWO = Attachment("one.txt", "1"), Attachment("two.txt", "2")


@pytest.fixture
def problems() -> list[Problem]:
    return []


@pytest.fixture
def database(tmp_path: Path, main_queue: MainThreadQueue, problems: list[Problem]) -> Iterator[DatabaseThread]:
    made = DatabaseThread(tmp_path / "chats.db", main_queue, problems.append)
    yield made
    made.close()


def test_a_defect_in_one_job_is_told_and_the_next_is_done(
    qtbot: QtBot, database: DatabaseThread, problems: list[Problem], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It ended the thread: nothing was saved any more, and nobody was told."""
    shown: list[threading.ExceptHookArgs] = []
    monkeypatch.setattr(threading, "excepthook", shown.append)
    chat, titles = Chat(id=new_id(), title="after it"), []

    def defect(store: ChatStore) -> None:
        with store.transaction() as db:
            db.execute("DELETE FROM chats")
            raise KeyError("x")

    database.submit(lambda store: store.create(chat))
    database.submit(defect)
    database.submit(lambda store: [c.title for c in store.chats()], titles.extend)
    qtbot.waitUntil(lambda: bool(titles))
    assert titles == ["after it"]
    assert [(p.kind, p.cause.startswith("KeyError")) for p in problems] == [("defect", True)]
    assert problems[0].action
    assert [args.exc_type for args in shown] == [KeyError]


def test_a_folder_of_the_same_name_does_not_keep_chats_from_the_disk(tmp_path: Path) -> None:
    disk, memory = ChatStore(tmp_path / "chats.db"), ChatStore(":memory:")
    before = disk.make_folder("Work")
    memory.make_folder("Home")
    chat, _ = talk(memory, "for now", "Q")
    memory.set_field(chat, "folder_id", memory.make_folder("Work").id)
    loose, _ = talk(memory, "loose", "Q")
    database_thread.copy_rows(memory, disk)
    assert {c.id: c.folder_id for c in disk.chats()} == {chat: before.id, loose: None}
    assert [f.name for f in disk.folders()] == ["Home", "Work"]
    disk.close()
    memory.close()


def test_what_is_attached_here_and_there_to_a_new_chat_comes_together(tmp_path: Path) -> None:
    disk, memory = ChatStore(tmp_path / "chats.db"), ChatStore(":memory:")
    disk.keep_draft_attachments(NEW_CHAT, (ONE,))
    memory.keep_draft_attachments(NEW_CHAT, (TWO,))
    database_thread.copy_rows(memory, disk)
    assert disk.draft_attachments() == (ONE, TWO)
    disk.close()
    memory.close()


def test_where_moving_fails_nothing_is_moved(tmp_path: Path) -> None:
    disk, memory = ChatStore(tmp_path / "chats.db"), ChatStore(":memory:")
    talk(memory, "for now", "Q")
    memory.keep_draft_attachments(NEW_CHAT, (TWO,))
    disk.db.execute("CREATE TRIGGER no BEFORE INSERT ON messages BEGIN SELECT RAISE(ABORT, 'no'); END")
    with pytest.raises(sqlite3.Error, match="no"):
        database_thread.copy_rows(memory, disk)
    assert (disk.chats(), disk.draft_attachments()) == ([], ())
    disk.close()
    memory.close()
