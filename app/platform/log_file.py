"""The window's log: one rotating file, written by a thread of its own, so that no disk ever blocks the window."""

from __future__ import annotations

import logging
import os
import queue
import sys
import threading
from io import TextIOWrapper
from logging.handlers import QueueHandler, QueueListener, RotatingFileHandler
from pathlib import Path
from types import TracebackType

from engine import log
from engine.private_files import tighten
from engine.regular_file import is_regular

NAME = "underhill.log"
MAX_BYTES = 1_000_000  # bytes of a file: some weeks of use, and what a mail still takes
BACKUPS = 4  # files that are kept beside it, as underhill.log.1 and so on

_log = logging.getLogger(__name__)


class LogFile:
    """Takes what `app` and `engine` log until `close`. Where nothing can be written there is no log, and no error."""

    def __init__(self, folder: Path) -> None:
        self._taking: QueueHandler | None = None
        self._hooks = sys.excepthook, threading.excepthook
        try:
            folder.mkdir(parents=True, exist_ok=True)
            tighten(folder)
            if (folder / NAME).exists() and not is_regular(folder / NAME):  # opening a pipe would wait for ever
                return
            writing = _Private(folder / NAME, maxBytes=MAX_BYTES, backupCount=BACKUPS, encoding="utf-8")
        except OSError:
            return
        writing.setFormatter(log.Lines())
        lines: queue.SimpleQueue[logging.LogRecord] = queue.SimpleQueue()
        self._taking, self._writing = _Taking(lines), writing
        self._listener = QueueListener(lines, writing)
        self._listener.start()
        log.begin(self._taking)
        sys.excepthook, threading.excepthook = self._uncaught, self._uncaught_of_thread

    def close(self) -> None:
        """Write what is left, and end."""
        if self._taking is None:
            return
        sys.excepthook, threading.excepthook = self._hooks
        log.end(self._taking)
        self._listener.stop()
        self._writing.close()
        self._taking = None

    def _uncaught(
        self, kind: type[BaseException], error: BaseException, stack: TracebackType | None
    ) -> None:  # exceptions in Qt's slots come here, too
        if isinstance(error, Exception):
            _log.error("An exception that nobody caught", exc_info=error)
        self._hooks[0](kind, error, stack)

    def _uncaught_of_thread(self, found: threading.ExceptHookArgs) -> None:
        if isinstance(found.exc_value, Exception):
            name = found.thread.name if found.thread is not None else "?"
            _log.error("An exception that nobody caught, on thread %s", name, exc_info=found.exc_value)
        self._hooks[1](found)


class _Taking(QueueHandler):
    def prepare(self, record: logging.LogRecord) -> logging.LogRecord:
        """What is kept is made here, while the exception's stack is as it was; the thread only writes."""
        record.body = log.body(record)
        record.exc_info = record.args = None
        return record


class _Private(RotatingFileHandler):
    def _open(self) -> TextIOWrapper:
        """For this user alone, whatever the system's mask says."""
        return open(self.baseFilename, "a", encoding="utf-8", opener=lambda name, flags: os.open(name, flags, 0o600))

    def handleError(self, record: logging.LogRecord) -> None:
        """A full disk does not fill the terminal as well; the next line is tried anew."""
