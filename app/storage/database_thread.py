"""Thread that owns the chat database, so that no disk ever blocks the window."""

from __future__ import annotations

import logging
import queue
import sqlite3
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from app.platform.main_thread_queue import MainThreadQueue
from app.storage import opening
from app.storage.opening import Problem, explain, open_store, unreadable
from app.storage.store import ChatStore

_log = logging.getLogger(__name__)
T = TypeVar("T")
_Job = tuple[Callable[[ChatStore], Any], Callable[[Any], object] | None, Callable[[Problem], object]]


@dataclass(frozen=True)
class _Retry:
    """Request to open the database again. done: called on the window's thread once it has worked."""

    done: Callable[[], object]


class DatabaseThread:
    """Runs jobs on the store one after the other; results and problems come back through the inbox."""

    def __init__(self, path: Path, inbox: MainThreadQueue, on_problem: Callable[[Problem], object]) -> None:
        """on_problem: called on the window's thread if the database could not be opened as it should."""
        self._path = path
        self._inbox = inbox
        self._on_problem = on_problem
        self.in_memory = False  # the file could not be opened: what is written lasts for this run only
        self._unreadable = False  # the disk failed, and the file has not been opened again since
        self._jobs: queue.SimpleQueue[_Job | _Retry | None] = queue.SimpleQueue()
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
        self._jobs.put((job, done, failed or self._on_problem))

    def run_blocking(self, job: Callable[[ChatStore], T], seconds: float) -> T | None:
        """Run a job and wait for its result, after all jobs before it and their results.

        None where it fails, or takes longer than so many seconds. For the end of a run: nothing else goes on meanwhile.
        """
        found: list[T] = []
        passed = threading.Event()

        def run(store: ChatStore) -> None:
            try:
                found.append(job(store))
            finally:
                passed.set()

        self.submit(run, failed=lambda problem: None)
        passed.wait(seconds)
        self._inbox.drain()
        return found[0] if found else None

    def retry(self, done: Callable[[], object]) -> None:
        """Open the database again, where it could not be opened, with what was written meanwhile.

        done: that worked, or it was open. Otherwise there is another problem.
        """
        self._jobs.put(_Retry(done))

    def close(self) -> None:
        """Finish what is queued, close the file and wait for the thread."""
        self._jobs.put(None)
        self._thread.join()

    def _run(self) -> None:
        store, problem = open_store(self._path)
        self.in_memory = store.in_memory
        try:
            if problem is not None:
                _log.error("The chats could not be opened as they should: %s", problem.kind)
                self._inbox.post(self._on_problem, problem)
            while (entry := self._jobs.get()) is not None:
                if isinstance(entry, _Retry):
                    store, fine = self._tried_again(store)
                    self.in_memory = store.in_memory
                    if fine:
                        self._inbox.post(entry.done)
                else:
                    store = self._done(store, entry)
        finally:
            store.close()

    def _done(self, store: ChatStore, entry: _Job) -> ChatStore:
        """Run a job; returns the store to continue with."""
        job, done, failed = entry
        try:
            if self._unreadable:
                store = self._opened_anew(store)
            try:
                result = job(store)
            except sqlite3.Error as error:
                if not unreadable(error):
                    raise
                self._unreadable = True
                store = self._opened_anew(store)
                result = job(store)
        except Exception as error:  # the jobs behind it are not to blame
            _log.error("A job on the chats failed", exc_info=error)
            if not isinstance(error, OSError | sqlite3.Error):
                shown = type(error), error, error.__traceback__, threading.current_thread()
                threading.excepthook(threading.ExceptHookArgs(shown))
            self._inbox.post(failed, explain(error, self._path))
        else:
            if done is not None:
                self._inbox.post(done, result)
        return store

    def _opened_anew(self, store: ChatStore) -> ChatStore:
        """Open the same file again after an I/O error; the old store where that fails, too.

        A disk that was pulled out and plugged in again is there, and yet no file that was open before can be used. A
        file that is missing is not begun anew: the folder may be the one in which the disk was mounted.
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
            self._inbox.post(self._on_problem, problem)
        return opened

    def _tried_again(self, store: ChatStore) -> tuple[ChatStore, bool]:
        """Returns the store to continue with, and whether it is on the disk."""
        if not store.in_memory:
            return store, True
        opened, problem = open_store(self._path)
        if problem is not None:
            self._inbox.post(self._on_problem, problem)
        if opened.in_memory:
            opened.close()
            return store, False
        try:
            opening.copy_rows(store, opened)
        except sqlite3.Error as error:
            opened.close()
            self._inbox.post(self._on_problem, explain(error, self._path))
            return store, False
        store.close()
        return opened, True
