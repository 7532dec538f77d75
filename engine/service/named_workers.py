"""Worker threads by name: commands of one name come one after the other, and wait for those of no other."""

from __future__ import annotations

import threading
from collections.abc import Callable

from engine.service.command_worker import CommandWorker


class NamedWorkers:
    """Each is made with the first command of its name. May be used from any thread."""

    def __init__(self, make: Callable[[str], CommandWorker]) -> None:
        """make: the worker of a name."""
        self._make = make
        self._lock = threading.Lock()  # guards what follows
        self._workers: dict[str, CommandWorker] = {}
        self._closed = False

    def of(self, name: str) -> CommandWorker:
        """The worker of a name; one that takes nothing, once they are closed."""
        with self._lock:
            worker = self._workers.get(name)
            if worker is None:
                worker = self._workers[name] = self._make(name)
                if self._closed:
                    worker.close()
            return worker

    def cancel(self, target: str) -> bool:
        """As of CommandWorker."""
        return any(worker.cancel(target) for worker in self._all())

    def close(self) -> None:
        """Cancel everything and take nothing more; `join` waits for the end."""
        with self._lock:
            self._closed = True
        for worker in self._all():
            worker.close()

    def join(self) -> None:
        """Wait for the threads to end after `close`."""
        for worker in self._all():
            worker.join()

    def _all(self) -> list[CommandWorker]:
        with self._lock:
            return list(self._workers.values())
