"""Opens the chat database whatever state it is in: nothing is deleted, and what went wrong is reported."""

from __future__ import annotations

import errno
import sqlite3
import time
from dataclasses import dataclass
from pathlib import Path

from app.i18n.translate import sentences, tr
from app.storage import drafts, folders
from app.storage.schema import NewerDatabase
from app.storage.store import ChatStore

_CORRUPT = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
_BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
_DENIED = {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH}


@dataclass(frozen=True)
class Problem:
    """What is wrong, what to do, and the technical cause.

    kind: 'corrupt', 'busy', 'denied', 'full', 'newer', 'defect' or 'other'.
    """

    kind: str
    sentence: str
    action: str
    cause: str


def explain(error: BaseException, path: Path) -> Problem:
    """Describe a database or file error by a sentence and an action."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    number = getattr(error, "errno", None)
    cause = f"{type(error).__name__}: {error} ({path})"
    if isinstance(error, NewerDatabase):
        return Problem("newer", tr("Your chats were saved by a newer version of Underhill."),
                       tr("Install that version again to see them. They are untouched."), cause)  # fmt: skip
    if code in _CORRUPT:
        return Problem("corrupt", tr("The file that holds your chats is damaged."), "", cause)
    if code in _BUSY:
        return Problem("busy", tr("Another program is holding the file that keeps your chats."),
                       tr("Close other Underhill windows or backup programs, then try again."), cause)  # fmt: skip
    if code == sqlite3.SQLITE_FULL or number == errno.ENOSPC:
        return Problem("full", tr("The disk is full, so your chats cannot be saved."),
                       tr("Free some space, then try again."), cause)  # fmt: skip
    if code in _DENIED or number in (errno.EACCES, errno.EPERM, errno.EROFS):
        return Problem("denied", tr("Underhill may not write to {folder}.", folder=path.parent),
                       tr("Check the permissions of that folder, then start Underhill again."), cause)  # fmt: skip
    if not isinstance(error, OSError | sqlite3.Error):
        return Problem("defect", tr("Something went wrong inside Underhill, and a change to your chats was not made."),
                       tr("Try again; if it happens again, please report the details."), cause)  # fmt: skip
    return Problem(
        "other", tr("Your chats cannot be saved."), tr("Check the folder {folder}.", folder=path.parent), cause
    )


def unreadable(error: sqlite3.Error) -> bool:
    """Whether it is an I/O error."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_IOERR


def open_store(path: Path) -> tuple[ChatStore, Problem | None]:
    """Open the store at `path`, or the next best thing, together with what to tell the user.

    A damaged file is kept under a dated name, and a new one begun. Where nothing can be written (or the file is
    from a newer version), chats live in memory for this run only.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return _checked(path), None
    except (sqlite3.Error, OSError, NewerDatabase) as error:
        problem = explain(error, path)
    if problem.kind == "corrupt":
        try:
            aside = _set_aside(path)
            return _checked(path), Problem(
                "corrupt", tr("The file that holds your chats is damaged. Underhill has started a new one."),
                tr("The damaged file is kept as {file}; a backup of yours can be put in its place.", file=aside),
                problem.cause,
            )  # fmt: skip
        except (sqlite3.Error, OSError) as error:
            problem = explain(error, path)
    return ChatStore(":memory:"), Problem(
        problem.kind, problem.sentence, sentences(problem.action, tr("Until then, chats are not saved.")), problem.cause
    )


def _checked(path: Path) -> ChatStore:
    store = ChatStore(path)
    verdict = store.check()
    if verdict != "ok":
        store.close()
        error = sqlite3.DatabaseError(verdict)
        error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
        raise error
    return store


def _set_aside(path: Path) -> Path:
    """Rename the database and its write-ahead log together; returns the new name."""
    stamp = time.strftime("%Y-%m-%d-%H%M%S")
    aside = path.with_name(f"{path.stem}-damaged-{stamp}{path.suffix}")
    number = 1
    while aside.exists():
        number += 1
        aside = path.with_name(f"{path.stem}-damaged-{stamp}-{number}{path.suffix}")
    for tail in ("", "-wal", "-shm"):
        part = path.with_name(path.name + tail)
        if part.exists():
            part.rename(aside.with_name(aside.name + tail))
    return aside


_TABLES = ("folders", "chats", "messages", "presets", "drafts")  # what they refer to first


def copy_rows(source: ChatStore, target: ChatStore) -> None:
    """Copy all rows of `source`, or none; what `target` has under the same id or name stays. Raises sqlite3.Error.

    Folders of one name become one, and what is attached to the chat without a message comes together.
    """
    attached = (*drafts.attached(target), *drafts.attached(source))
    same: dict[int | None, int | None] = {None: None}  # id of a folder there: its id here
    with target.transaction() as db:
        db.execute("PRAGMA defer_foreign_keys = ON")  # a version may refer to one made later
        for table in _TABLES:
            names = [row[1] for row in source.db.execute(f"PRAGMA table_info({table})")]
            marks = ", ".join("?" * len(names))
            rows = source.db.execute(f"SELECT {', '.join(names)} FROM {table}").fetchall()
            if table == "chats":
                at = names.index("folder_id")
                rows = [(*row[:at], same[row[at]], *row[at + 1 :]) for row in rows]
            db.executemany(f"INSERT OR IGNORE INTO {table} ({', '.join(names)}) VALUES ({marks})", rows)
            if table == "folders":
                same |= {folder.id: folders.make(target, folder.name).id for folder in folders.listed(source)}
        drafts.keep(target, drafts.NEW, attached)
