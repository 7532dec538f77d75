"""A lock between processes, held by the system for as long as the process lives: a dead owner holds nothing."""

from __future__ import annotations

import errno
import os
import sys
import time
from contextlib import suppress
from pathlib import Path

from engine.errors import Kind, UnderhillError
from engine.store.problems import unreadable
from engine.translatable import msg

POLL = 0.1  # seconds between attempts while waiting


class FileLock:
    """``with FileLock(path, ...)``: the file at `path` is created, locked, and removed when the lock is given back."""

    def __init__(self, path: Path, what: str, wait: float = 0.0) -> None:
        """what: what is going on under the lock ('An import of X'), for the error. wait: seconds to try for."""
        self._path = path
        self._what = what
        self._wait = wait
        self._fd = -1

    def __enter__(self) -> FileLock:
        """Raises UnderhillError(BUSY) when someone else holds it, DISK_ERROR when the file cannot be made."""
        deadline = time.monotonic() + self._wait
        while not self._try():
            if time.monotonic() >= deadline:
                raise UnderhillError(
                    Kind.BUSY, msg("{what} is already in progress.", what=self._what), msg("Wait for it to finish.")
                )
            time.sleep(POLL)
        return self

    def __exit__(self, *_: object) -> None:
        if sys.platform == "win32":  # an open file cannot be removed there
            os.close(self._fd)
            with suppress(PermissionError):  # the process that waits for it has it open, and removes it then
                self._path.unlink(missing_ok=True)
        else:
            self._path.unlink(missing_ok=True)
            os.close(self._fd)
        self._fd = -1

    def _try(self) -> bool:
        try:
            fd = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as cause:
            if isinstance(cause, PermissionError) and sys.platform == "win32":
                return False  # being removed by its owner right now
            raise unreadable(self._path, cause) from cause
        try:
            _lock(fd)
            # The owner removes the file before it lets go: a lock on a removed file locks nobody out.
            if os.path.samestat(os.fstat(fd), self._path.stat()):
                self._fd = fd
                return True
        except OSError as cause:
            if cause.errno not in (errno.EACCES, errno.EAGAIN, errno.EDEADLK, errno.ENOENT):
                os.close(fd)
                raise unreadable(self._path, cause) from cause
        os.close(fd)
        return False


def _lock(fd: int) -> None:
    """Lock the file without waiting; OSError when someone holds it."""
    if sys.platform == "win32":
        import msvcrt

        msvcrt.locking(fd, msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
