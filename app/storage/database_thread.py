"""Thread that owns the chat database, so that no disk ever blocks the window."""

from __future__ import annotations

import logging
import queue
import sqlite3
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from app.platform.main_thread_queue import MainThreadQueue
from app.storage.opening import Problem, copy_rows, explain, open_store, unreadable
from app.storage.store import ChatStore

_log = logging.getLogger(__name__)
T = TypeVar("T")
_Step = Callable[[ChatStore], ChatStore]  # takes the store there is, and returns the one to continue with


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
            self._main_queue.post(failed, explain(error, self._path))
        else:
            if done is not None:
                self._main_queue.post(done, result)
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
