"""Steps from one version of the database to the next: each whole or not at all."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from app.chats.schema import STEPS, NewerDatabase, migrate

NEXT = ("ALTER TABLE chats ADD COLUMN pinned INTEGER NOT NULL DEFAULT 0",)


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
    assert db.execute("SELECT title, pinned FROM chats").fetchall() == [("old", 0)]
    db.close()


def test_a_step_that_fails_leaves_the_version_before_it(tmp_path: Path) -> None:
    db = connect(tmp_path / "c.db")
    migrate(db)
    with pytest.raises(sqlite3.OperationalError):
        migrate(db, [*STEPS, (*NEXT, "THIS IS NO SQL")])
    assert db.execute("PRAGMA user_version").fetchone() == (len(STEPS),)
    assert "pinned" not in [row[1] for row in db.execute("PRAGMA table_info(chats)")]
    db.close()


def test_a_file_from_the_future_is_refused_untouched(tmp_path: Path) -> None:
    db = connect(tmp_path / "c.db")
    migrate(db, [*STEPS, NEXT])
    with pytest.raises(NewerDatabase):
        migrate(db)
    assert db.execute("PRAGMA user_version").fetchone() == (len(STEPS) + 1,)
    db.close()


def test_released_steps_are_not_edited() -> None:
    """The first step as released: databases of users have taken it as it was."""
    import hashlib

    text = "\n".join(" ".join(statement.split()) for statement in STEPS[0])
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == "7a45a6d4ea182431"
