"""Backup of the chat database, and restoring one."""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from pathlib import Path

from app.i18n.translate import problem, tr
from app.storage.schema import STEPS, migrate
from app.storage.store import ChatStore
from engine import filesystem, protocol


def back_up(store: ChatStore, path: Path) -> None:
    """Copy the database as it is now, whole or not at all. Raises OSError or sqlite3.Error."""
    partial = path.with_name(path.name + ".part")
    try:
        filesystem.remove(partial, missing_ok=True)
        with closing(sqlite3.connect(partial)) as copy:
            # SQLite's own copy, page by page in one transaction: it has what is still in the write-ahead log, which a
            # copy of the file would miss.
            store.db.backup(copy)
        filesystem.replace(partial, path)
        # `restore` writes over the chats next: their copy must have its name on the disk by then.
        filesystem.sync_directory(path.parent)
    except (OSError, sqlite3.Error):
        filesystem.remove(partial, missing_ok=True)
        raise


def restore(store: ChatStore, path: Path, keep: Path) -> Path:
    """Replace all chats by a backup. Returns the file in the folder `keep` that what was there is kept as.

    Raises UnderhillError where the file is no backup or damaged (nothing is changed then), OSError, sqlite3.Error.
    """
    check(path)
    staged = keep / "chats-to-restore.part"
    try:
        _stage(path, staged)
        before, number = keep / f"chats-before-restore-{time.strftime('%Y-%m-%d-%H%M%S')}.db", 1
        while before.exists():
            number += 1
            before = before.with_stem(f"{before.stem.split('_')[0]}_{number}")
        back_up(store, before)
        with closing(sqlite3.connect(staged)) as source:
            source.backup(store.db)
        store.count_on()
    finally:
        filesystem.remove(staged, missing_ok=True)
    return before


def _stage(path: Path, staged: Path) -> None:
    """Copy a backup and bring the copy up to date, so that what cannot be is found before anything is replaced."""
    filesystem.remove(staged, missing_ok=True)
    with closing(sqlite3.connect(path)) as source, closing(sqlite3.connect(staged, isolation_level=None)) as copy:
        source.backup(copy)
        try:
            migrate(copy)
            copy.execute("UPDATE messages SET state = 'cut' WHERE state = 'streaming'")
            whole = _is_whole(copy)
        except sqlite3.Error as e:
            raise _no_backup(path) from e
        if not whole:
            raise _no_backup(path)


def _is_whole(db: sqlite3.Connection) -> bool:
    """Check that all tables are there, and that every message leads back to a first one."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as new:
        migrate(new)
        shapes = "SELECT t.name, c.name FROM sqlite_schema t, pragma_table_info(t.name) c"
        # Compared with a database made just now: a file whose user_version says more than its tables hold would fail
        # later, at some question.
        if not {*new.execute(shapes)} <= {*db.execute(shapes)}:
            return False
    reached = """
        WITH RECURSIVE reached(id) AS (
            SELECT id FROM messages WHERE parent_id IS NULL
            UNION ALL SELECT m.id FROM messages m JOIN reached r ON m.parent_id = r.id
        ) SELECT (SELECT count(*) FROM reached) = (SELECT count(*) FROM messages)
    """
    return bool(db.execute(reached).fetchone()[0])


def check(path: Path) -> None:
    """Raise UnderhillError where `path` is not a chat database that this version can read."""
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as db:
            (verdict,) = db.execute("PRAGMA quick_check(1)").fetchone()
            (version,) = db.execute("PRAGMA user_version").fetchone()
            db.execute("SELECT id, title, leaf_id FROM chats LIMIT 1").fetchall()
    except sqlite3.Error as e:
        raise _no_backup(path) from e
    if verdict != "ok":
        raise problem(
            protocol.Kind.BROKEN_FILE,
            tr("{file} is damaged.", file=path.name),
            tr("Choose another file. Your chats are unchanged."),
        )
    if not 0 < version <= len(STEPS):
        raise problem(
            protocol.Kind.BAD_REQUEST, tr("{file} comes from another version of Underhill.", file=path.name),
            tr("Install a newer version, then restore it there. Your chats are unchanged."),
        )  # fmt: skip


def _no_backup(path: Path) -> protocol.UnderhillError:
    return problem(
        protocol.Kind.BROKEN_FILE, tr("{file} isn't a chat backup, or it is damaged.", file=path.name),
        tr("Choose another file. Your chats are unchanged."),
    )  # fmt: skip
