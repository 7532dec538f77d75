"""Images are kept once, and for as long as a message, a draft or the queue of a chat refers to them."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from app.storage import backup, branches
from app.storage.database_thread import copy_rows
from app.storage.records import Attachment, Chat, QueuedMessage, StoredMessage, new_id, new_question
from app.storage.schema import STEPS, migrate
from app.storage.search import find
from app.storage.store import NEW_CHAT, ChatStore

HILL, LAMP = Attachment("hill.png", "", b"\x89PNG hill"), Attachment("lamp.jpg", "", b"\xff\xd8 lamp")
NOTES = Attachment("notes.txt", "words")


def kept(store: ChatStore) -> set[bytes]:
    return {data for (data,) in store.db.execute("SELECT data FROM pictures")}


def ask(store: ChatStore, *files: Attachment) -> tuple[Chat, StoredMessage]:
    chat = Chat(id=new_id(), title="Hills")
    question = new_question(chat.id, None, "What is this?", files)
    store.create(chat, question)
    return chat, question


def test_a_message_comes_back_with_its_images_in_their_order(store: ChatStore) -> None:
    chat, _ = ask(store, LAMP, NOTES, HILL)
    assert store.path(chat.id)[0].attachments == (LAMP, NOTES, HILL)
    assert store.tree(chat.id)[0].attachments == (LAMP, NOTES, HILL)
    assert [hit.chat.id for hit in find(store, "What is")] == [chat.id]


def test_an_image_is_kept_once_and_goes_with_the_last_message_that_has_it(store: ChatStore) -> None:
    chat, question = ask(store, HILL)
    copy = branches.copy_branch(store, chat.id, question.id)
    assert copy is not None
    assert kept(store) == {HILL.image}
    store.move_to_trash(chat.id)
    store.empty_trash()
    assert store.path(copy.id)[0].attachments == (HILL,)
    store.move_to_trash(copy.id)
    assert kept(store) == {HILL.image}  # it can be restored
    store.empty_trash()
    assert kept(store) == set()
    assert store.db.execute("SELECT count(*) FROM picture_uses").fetchone() == (0,)


def test_a_deleted_message_is_restored_with_its_image(store: ChatStore) -> None:
    chat, question = ask(store, HILL)
    erased = branches.delete_message(store, chat.id, question.id)
    assert erased is not None
    assert kept(store) == set()
    branches.restore_messages(store, erased)
    assert store.path(chat.id)[0].attachments == (HILL,)


def test_versions_below_one_that_is_deleted_take_their_images_along(store: ChatStore) -> None:
    chat, first = ask(store, HILL)
    store.add(new_question(chat.id, None, "Another?", ()), new_question(chat.id, first.id, "And this?", (LAMP,)))
    branches.delete_message(store, chat.id, first.id)
    assert kept(store) == set()


def test_drafts_and_queued_messages_keep_images_and_let_them_go(store: ChatStore) -> None:
    chat, _ = ask(store)
    store.keep_draft_attachments(NEW_CHAT, (HILL,))
    store.keep_draft_attachments(chat.id, (HILL, NOTES))
    store.set_field(chat.id, "queue", (QueuedMessage("Next", (LAMP,)),))
    assert store.draft_attachments(chat.id) == (HILL, NOTES)
    found = store.chat(chat.id)
    assert found is not None
    assert found.queue == (QueuedMessage("Next", (LAMP,)),)
    store.keep_draft_attachments(NEW_CHAT, ())
    assert kept(store) == {HILL.image, LAMP.image}
    store.keep_draft_attachments(chat.id, (NOTES,))
    assert kept(store) == {LAMP.image}
    branches.write(store, None, (new_question(chat.id, None, "Next", (LAMP,)),), ())
    assert kept(store) == {LAMP.image}  # sent now
    store.move_to_trash(chat.id)
    store.empty_trash()
    assert kept(store) == set()


def test_a_write_that_fails_leaves_neither_message_nor_image(store: ChatStore) -> None:
    chat, question = ask(store)
    good, twice = new_question(chat.id, question.id, "1", (HILL,)), new_question(chat.id, question.id, "2", (LAMP,))
    with pytest.raises(sqlite3.IntegrityError):
        store.add(good, twice, twice)
    assert kept(store) == set()
    assert len(store.path(chat.id)) == 1


def test_a_backup_has_the_images_and_a_restore_brings_them_back(store: ChatStore, tmp_path: Path) -> None:
    chat, _ = ask(store, HILL)
    backup.back_up(store, tmp_path / "b.db")
    store.move_to_trash(chat.id)
    store.empty_trash()
    backup.restore(store, tmp_path / "b.db", tmp_path)
    assert store.path(chat.id)[0].attachments == (HILL,)


def test_chats_written_in_memory_take_their_images_to_the_disk(store: ChatStore) -> None:
    with closing(ChatStore(":memory:")) as memory:
        chat, _ = ask(memory, HILL)
        memory.keep_draft_attachments(NEW_CHAT, (LAMP,))
        copy_rows(memory, store)
    assert store.path(chat.id)[0].attachments == (HILL,)
    assert store.draft_attachments() == (LAMP,)
    store.keep_draft_attachments(NEW_CHAT, ())
    assert kept(store) == {HILL.image}


def test_a_file_of_the_eighth_version_keeps_its_attachments_and_takes_images(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "c.db", isolation_level=None)) as db:
        migrate(db, STEPS[:8])
        db.execute("INSERT INTO chats (id, title, created_at, updated_at, leaf_id) VALUES (1, 'old', 0, 0, 2)")
        db.execute(
            "INSERT INTO messages (id, chat_id, role, content, created_at, attachments) "
            "VALUES (2, 1, 'user', 'Q', 0, ?)",
            ('[{"name": "notes.txt", "text": "words"}]',),
        )
    with closing(ChatStore(tmp_path / "c.db")) as store:
        assert store.path(1)[0].attachments == (NOTES,)
        store.add(new_question(1, 2, "And this?", (HILL,)))
        assert store.path(1)[1].attachments == (HILL,)


def test_an_image_that_is_not_there_is_left_out(store: ChatStore) -> None:
    chat, _ = ask(store, HILL, NOTES)
    store.db.execute("DELETE FROM pictures")
    assert store.path(chat.id)[0].attachments == (NOTES,)
