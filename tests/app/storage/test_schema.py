"""Steps from one version of the database to the next: each whole or not at all."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from app.storage import search
from app.storage.schema import STEPS, NewerDatabase, migrate
from app.storage.search import find
from app.storage.store import ChatStore

NEXT = ("ALTER TABLE chats ADD COLUMN colour INTEGER NOT NULL DEFAULT 0",)


def connect(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(path, isolation_level=None)


def test_a_new_file_takes_every_step_once(tmp_path: Path) -> None:
    db = connect(tmp_path / "c.db")
    assert migrate(db) == len(STEPS)
    assert migrate(db) == 0
    db.close()


def test_an_older_file_keeps_its_rows(tmp_path: Path) -> None:
    db = connect(tmp_path / "c.db")
    migrate(db)
    db.execute("INSERT INTO chats (id, title, created_at, updated_at) VALUES (1, 'old', 0, 0)")
    assert migrate(db, [*STEPS, NEXT]) == 1
    assert db.execute("SELECT title, colour FROM chats").fetchall() == [("old", 0)]
    db.close()


def test_a_step_that_fails_leaves_the_version_before_it(tmp_path: Path) -> None:
    db = connect(tmp_path / "c.db")
    migrate(db)
    with pytest.raises(sqlite3.OperationalError):
        migrate(db, [*STEPS, (*NEXT, "THIS IS NO SQL")])
    assert db.execute("PRAGMA user_version").fetchone() == (len(STEPS),)
    assert "colour" not in [row[1] for row in db.execute("PRAGMA table_info(chats)")]
    db.close()


def test_a_file_from_the_future_is_refused_untouched(tmp_path: Path) -> None:
    db = connect(tmp_path / "c.db")
    migrate(db, [*STEPS, NEXT])
    with pytest.raises(NewerDatabase):
        migrate(db)
    assert db.execute("PRAGMA user_version").fetchone() == (len(STEPS) + 1,)
    db.close()


def test_a_file_of_the_first_version_keeps_everything_and_is_searched(tmp_path: Path) -> None:
    db = connect(tmp_path / "c.db")
    migrate(db, STEPS[:1])
    db.execute("INSERT INTO chats (id, title, created_at, updated_at, leaf_id) VALUES (1, 'old', 0, 0, 3)")
    db.execute("INSERT INTO messages (id, chat_id, role, content, created_at) VALUES (2, 1, 'user', 'an old oak', 0)")
    db.execute(
        "INSERT INTO messages (id, chat_id, parent_id, role, content, state, created_at) "
        "VALUES (3, 1, 2, 'assistant', 'half an oak', 'streaming', 0)"
    )
    db.close()
    store = ChatStore(tmp_path / "c.db")
    assert [(m.content, m.state, m.attachments) for m in store.path(1)] == [
        ("an old oak", "whole", ()), ("half an oak", "cut", ()),
    ]  # fmt: skip
    assert [hit.message_id for hit in find(store, "oak")] == [3, 2]
    store.db.execute("INSERT INTO found(found) VALUES ('integrity-check')")
    store.close()


def test_a_file_of_the_fourth_version_is_searched_for_what_it_had_at_its_ends(tmp_path: Path) -> None:
    db = connect(tmp_path / "c.db")
    migrate(db, STEPS[:4])
    db.execute("INSERT INTO chats (id, title, created_at, updated_at, leaf_id) VALUES (1, 'old', 0, 0, 3)")
    for number, content in enumerate(("很好", "an oaK", "é", ""), start=2):
        db.execute(
            "INSERT INTO messages (id, chat_id, role, content, created_at) VALUES (?, 1, 'user', ?, 0)",
            (number, content),
        )
    db.close()
    store = ChatStore(tmp_path / "c.db")
    for term, ids in (("很好", {2}), ("好", {2}), ("ak", {3}), ("k", {3}), ("É", {4}), ("oa", {3}), ("zz", set())):
        assert search.messages_with(store.db, term) == ids
    store.db.execute("DELETE FROM messages WHERE id = 2")
    assert search.messages_with(store.db, "好") == set()
    store.close()


def test_released_steps_are_not_edited() -> None:
    """The steps as released: databases of users have taken them as they were."""
    import hashlib

    digests = [
        hashlib.sha256("\n".join(" ".join(statement.split()) for statement in step).encode()).hexdigest()[:16]
        for step in STEPS
    ]
    assert digests == [
        "7a45a6d4ea182431", "e37a9ad2557182c5", "8d9d926638063237", "a24c838175455e2d", "d6e6cfa0ef93b929",
        "2415b2f4e4079e2b", "792318b3111a5075", "6c9a49d86711d7b5", "8be9a084ff07e93f",
    ]  # fmt: skip
