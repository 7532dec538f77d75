"""Paths of the window's files, and logs: one rotating file, and files of the faults that end a process."""

from __future__ import annotations

import faulthandler
import logging
import os
import queue
import sys
import threading
import time
from dataclasses import dataclass
from io import TextIOWrapper
from logging.handlers import QueueHandler, QueueListener, RotatingFileHandler
from pathlib import Path
from types import TracebackType
from typing import TextIO

import platformdirs

from engine import filesystem, log
from engine.private_files import tighten
from engine.regular_file import is_regular, open_regular

NAME = "underhill.log"
MAX_BYTES = 1_000_000  # bytes of a file: some weeks of use, and what a mail still takes
BACKUPS = 4  # files that are kept beside it, as underhill.log.1 and so on

_log = logging.getLogger(__name__)
MAX_SHOWN = 1 << 20  # bytes of a log that are shown; the file itself is kept whole
_FOLDER = "underhill"  # name of the folders


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

    def _uncaught(self, kind: type[BaseException], error: BaseException, stack: TracebackType | None) -> None:
        """Log an exception; those in Qt's slots come here, too."""
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
        """Format the record here, while the exception's stack is as it was; the thread only writes."""
        record.body = log.body(record)
        # What is kept of a record in the queue must not hold on to frames, and through them to what a chat said.
        record.exc_info = record.args = None
        return record


class _Private(RotatingFileHandler):
    def _open(self) -> TextIOWrapper:
        """For this user alone, whatever the system's mask says."""
        return open(self.baseFilename, "a", encoding="utf-8", opener=lambda name, flags: os.open(name, flags, 0o600))

    def handleError(self, record: logging.LogRecord) -> None:
        """A full disk does not fill the terminal as well; the next line is tried again."""


def begin_crash_log(path: Path) -> tuple[TextIO | None, str, Path | None]:
    """Send faults to `path`. Returns the open log, what the last run left in it, and where that is kept now.

    Where nothing can be written there is no log: (None, '', None).
    """
    left, kept = take_crash_log(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists() and not is_regular(path):  # opening a pipe without a reader would wait for ever
            return None, left, kept
        file = path.open("w", encoding="utf-8")
    except OSError:
        return None, left, kept
    # It writes to the descriptor from a signal handler: `file` must stay open, so the caller keeps it.
    faulthandler.enable(file)
    return file, left, kept


def take_crash_log(path: Path) -> tuple[str, Path | None]:
    """What the last run left at `path`, and under which name it is kept from now on; ('', None) for nothing."""
    left = ""
    try:
        if not path.exists() or not path.stat().st_size:
            return "", None
        with open_regular(path) as file:
            left = file.read(MAX_SHOWN).decode("utf-8", "replace")
        kept = path.with_name(f"{path.stem}-{time.strftime('%Y-%m-%d-%H%M%S')}.log")
        filesystem.replace(path, kept)
    except OSError:
        return left, None
    return left, kept


def note_crash(path: Path, text: str) -> None:
    """Add to a log what is known of a fault. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8", newline="\n") as file:
        file.write(f"{time.strftime('%Y-%m-%d %H:%M:%S')}\n{text.strip()}\n\n")


def end_crash_log(file: TextIO | None) -> None:
    """Close the log of faults at the end of the run."""
    faulthandler.disable()
    if file is not None:
        file.close()


@dataclass(frozen=True)
class AppPaths:
    """folder: the user's data folder of Underhill, models included; UNDERHILL_HOME names another."""

    folder: Path

    @property
    def chats(self) -> Path:
        """The chat database."""
        return self.folder / "chats.db"

    @property
    def preferences(self) -> Path:
        """Preferences of the window."""
        return self.folder / "window.json"

    @property
    def logs(self) -> Path:
        """The folder of all logs: the system's for this user, or beside the data where these are elsewhere."""
        usual = self.folder == Path(platformdirs.user_data_dir(_FOLDER, appauthor=False))
        return Path(platformdirs.user_log_dir(_FOLDER, appauthor=False)) if usual else self.folder / "logs"

    @property
    def crash_log(self) -> Path:
        """File that Python writes to if a fault ends the process."""
        return self.logs / "crash.log"

    @property
    def engine_log(self) -> Path:
        """Log of faults that ended the engine's process."""
        return self.logs / "crash-engine.log"


def default_paths() -> AppPaths:
    """The folder of this user on this computer."""
    chosen = os.environ.get("UNDERHILL_HOME")
    return AppPaths(Path(chosen) if chosen else Path(platformdirs.user_data_dir(_FOLDER, appauthor=False)))
