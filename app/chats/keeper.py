"""The thread that owns the chat database, so that no disk ever blocks the window."""

from __future__ import annotations

import queue
import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from app.chats.opening import Problem, explain, open_store
from app.chats.store import ChatStore
from app.inbox import Inbox

T = TypeVar("T")
_Job = tuple[Callable[[ChatStore], Any], Callable[[Any], object] | None, Callable[[Problem], object]]


class Keeper:
    """Runs jobs on the store one after the other; results and problems come back through the inbox."""

    def __init__(self, path: Path, inbox: Inbox, on_problem: Callable[[Problem], object]) -> None:
        """on_problem: called on the window's thread if the database could not be opened as it should."""
        self._path = path
        self._inbox = inbox
        self._on_problem = on_problem
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="chats", daemon=True)  # a crash must end the process
        self._thread.start()

    def do(
        self,
        job: Callable[[ChatStore], T],
        done: Callable[[T], object] | None = None,
        failed: Callable[[Problem], object] | None = None,
    ) -> None:
        """Run job(store) on the keeper's thread, then done(result), or failed(problem), on the window's thread.

        A defect (anything but a database or file error) ends the keeper and is shown by Python's thread hook.
        """
        self._jobs.put((job, done, failed or self._on_problem))

    def close(self) -> None:
        """Finish what is queued, close the file and wait for the thread."""
        self._jobs.put(None)
        self._thread.join()

    def _run(self) -> None:
        store, problem = open_store(self._path)
        try:
            if problem is not None:
                self._inbox.post(self._on_problem, problem)
            while (entry := self._jobs.get()) is not None:
                job, done, failed = entry
                try:
                    result = job(store)
                except (OSError, sqlite3.Error) as error:
                    self._inbox.post(failed, explain(error, self._path))
                else:
                    if done is not None:
                        self._inbox.post(done, result)
        finally:
            store.close()
