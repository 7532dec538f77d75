"""Thread that owns the chat database, so that no disk blocks the window; opens it whatever state it is in."""

from __future__ import annotations

import errno
import logging
import queue
import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from app.i18n.translate import sentences, tr
from app.platform.main_thread import MainThreadQueue
from app.storage.schema import NewerDatabase
from app.storage.store import NEW_CHAT, ChatStore
from engine import filesystem

_CORRUPT = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
_BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
_DENIED = {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH}
# what they refer to first
_TABLES = ("folders", "chats", "messages", "presets", "drafts", "documents", "pictures", "picture_uses")
_log = logging.getLogger(__name__)
T = TypeVar("T")
_Step = Callable[[ChatStore], ChatStore]  # takes the store there is, and returns the one to continue with


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
    # The low byte is the primary code; what kind of it the upper ones say (https://sqlite.org/rescode.html).
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    number = getattr(error, "errno", None)
    cause = f"{type(error).__name__}: {error} ({path})"
    if isinstance(error, NewerDatabase):
        return Problem("newer", tr("Your chats were saved by a newer version."),
                       tr("Install that version to see them. Nothing was changed."), cause)  # fmt: skip
    if code in _CORRUPT:
        return Problem("corrupt", tr("The chat file is damaged."), "", cause)
    if code in _BUSY:
        return Problem("busy", tr("Another app has locked the chat file."),
                       tr("Close other windows of the app and backup apps, then try again."), cause)  # fmt: skip
    if code == sqlite3.SQLITE_FULL or number == errno.ENOSPC:
        return Problem("full", tr("The disk is full: chats can't be saved."),
                       tr("Free some space, then try again."), cause)  # fmt: skip
    if code in _DENIED or number in (errno.EACCES, errno.EPERM, errno.EROFS):
        return Problem("denied", tr("No permission to write to {folder}.", folder=path.parent),
                       tr("Check the folder's permissions, then restart the app."), cause)  # fmt: skip
    if not isinstance(error, OSError | sqlite3.Error):
        return Problem("defect", tr("Something went wrong. A change to your chats wasn't saved."),
                       tr("Try again. If it happens again, report the details."), cause)  # fmt: skip
    return Problem("other", tr("Can't save your chats."), tr("Check the folder {folder}.", folder=path.parent), cause)


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
                "corrupt", tr("The chat file is damaged. A new one was created."),
                tr("The damaged file is kept as {file}. You can restore a backup.", file=aside),
                problem.cause,
            )  # fmt: skip
        except (sqlite3.Error, OSError) as error:
            problem = explain(error, path)
    return ChatStore(":memory:"), Problem(
        problem.kind, problem.sentence, sentences(problem.action, tr("Until then, chats aren't saved.")), problem.cause
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
    # The database first. Killed in between, a new one would find the old log beside it: SQLite removes a log beside an
    # empty file and does not replay it (pagerOpenWalIfPresent).
    for tail in ("", "-wal", "-shm"):
        part = path.with_name(path.name + tail)
        if part.exists():
            filesystem.replace(part, aside.with_name(aside.name + tail))
    return aside


def copy_rows(source: ChatStore, target: ChatStore) -> None:
    """Copy all rows of `source`, or none; what `target` has under the same id or name stays. Raises sqlite3.Error.

    Folders of one name become one, and what is attached to the chat without a message comes together.
    """
    attached = (*target.draft_attachments(), *source.draft_attachments())
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
                same |= {folder.id: target.make_folder(folder.name).id for folder in source.folders()}
        target.keep_draft_attachments(NEW_CHAT, attached)


class DatabaseThread:
    """Runs jobs on the store one after the other; results and problems come back through the main-thread queue."""

    def __init__(self, path: Path, main_queue: MainThreadQueue, on_problem: Callable[[Problem], object]) -> None:
        """on_problem: called on the window's thread if the database could not be opened as it should."""
        self._path = path
        self._main_queue = main_queue
        self._on_problem = on_problem
        self.in_memory = False  # the file could not be opened: what is written lasts for this run only
        self._unreadable = False  # the disk failed, and the file has not been opened again since
        self._steps: queue.SimpleQueue[_Step | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="chats", daemon=True)  # a crash must end the process
        self._thread.start()

    def submit(
        self,
        job: Callable[[ChatStore], T],
        done: Callable[[T], object] | None = None,
        failed: Callable[[Problem], object] | None = None,
    ) -> None:
        """Run job(store) on the database thread, then done(result), or failed(problem), on the window's thread.

        A defect (anything but a database or file error) is shown by Python's thread hook, and is a problem, too.
        """
        self._steps.put(partial(self._run_job, job, done, failed or self._on_problem))

    def run_blocking(self, job: Callable[[ChatStore], T], seconds: float) -> T | None:
        """Run a job and wait for its result, after all jobs before it and their results.

        None where it fails, or takes longer than so many seconds. For the end of a run: nothing else goes on meanwhile.
        """
        found: list[T] = []
        # Set whether it works or fails, so that the window never waits longer than the job takes.
        passed = threading.Event()

        def run(store: ChatStore) -> None:
            try:
                found.append(job(store))
            finally:
                passed.set()

        self.submit(run, failed=lambda problem: None)
        passed.wait(seconds)
        self._main_queue.drain()
        return found[0] if found else None

    def retry(self, done: Callable[[], object]) -> None:
        """Open the database again, where it could not be opened, with what was written meanwhile.

        done: that worked, or it was open. Otherwise there is another problem.
        """
        self._steps.put(partial(self._retry, done))

    def close(self) -> None:
        """Finish what is queued, close the file and wait for the thread."""
        self._steps.put(None)
        self._thread.join()

    def _run(self) -> None:
        store, problem = open_store(self._path)
        self.in_memory = store.in_memory
        try:
            if problem is not None:
                _log.error("The chats could not be opened as they should: %s", problem.kind)
                self._main_queue.post(self._on_problem, problem)
            while (step := self._steps.get()) is not None:
                store = step(store)
        finally:
            store.close()

    def _run_job(
        self, job: Callable[[ChatStore], Any], done: Callable[[Any], object] | None,
        failed: Callable[[Problem], object], store: ChatStore,
    ) -> ChatStore:  # fmt: skip
        """Run a job; returns the store to continue with."""
        try:
            if self._unreadable:
                store = self._opened_anew(store)
            try:
                result = job(store)
            except sqlite3.Error as error:
                if getattr(error, "sqlite_errorcode", 0) & 0xFF != sqlite3.SQLITE_IOERR:
                    raise
                self._unreadable = True
                store = self._opened_anew(store)
                result = job(store)
        except Exception as error:  # the jobs behind it are not to blame
            _log.error("A job on the chats failed", exc_info=error)
            if not isinstance(error, OSError | sqlite3.Error):
                shown = type(error), error, error.__traceback__, threading.current_thread()
                threading.excepthook(threading.ExceptHookArgs(shown))
            self._main_queue.post(failed, explain(error, self._path))
        else:
            if done is not None:
                self._main_queue.post(done, result)
        return store

    def _opened_anew(self, store: ChatStore) -> ChatStore:
        """Open the same file again after an I/O error; the old store where that fails, too.

        A disk that was pulled out and plugged in again is there, and yet no file that was open before can be used. A
        file that is missing is not created again: the folder may be the one in which the disk was mounted.
        """
        if not self._path.exists():
            return store
        # First: SQLite removes the log of the file that it closes by its name, which by now is another file's.
        with suppress(sqlite3.Error):
            store.close()
        opened, problem = open_store(self._path)
        if opened.in_memory:
            opened.close()
            return store
        self._unreadable = False
        if problem is not None:
            self._main_queue.post(self._on_problem, problem)
        return opened

    def _retry(self, done: Callable[[], object], store: ChatStore) -> ChatStore:
        """Open the file instead of a store in memory; done: called once the store is on the disk."""
        if store.in_memory:
            store = self._moved_to_disk(store)
        self.in_memory = store.in_memory
        if not store.in_memory:
            self._main_queue.post(done)
        return store

    def _moved_to_disk(self, store: ChatStore) -> ChatStore:
        """Open the file and copy all rows of `store` into it; returns `store` where that fails."""
        opened, problem = open_store(self._path)
        if problem is not None:
            self._main_queue.post(self._on_problem, problem)
        if opened.in_memory:
            opened.close()
            return store
        try:
            copy_rows(store, opened)
        except sqlite3.Error as error:
            opened.close()
            self._main_queue.post(self._on_problem, explain(error, self._path))
            return store
        store.close()
        return opened
