"""Free disk space for a download: checked before it begins, and again while it runs."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from engine.errors import Kind, UnderhillError
from engine.hub.errors import HubError, disk_full
from engine.store.output import FULL
from engine.translatable import msg, system_reason

RESERVE = 256 << 20  # bytes left for everybody else
STEP = 64 << 20  # bytes written between two looks


class DiskSpaceGuard:
    """Check before and during a download that the disk of one folder has room, less a reserve for others."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._since = 0

    def check(self, needed: int) -> None:
        """Raise UnderhillError(DISK_FULL) unless `needed` more bytes fit, with the reserve."""
        with writing(self._folder):
            free = shutil.disk_usage(self._folder).free
        if free < needed + RESERVE:
            raise disk_full(str(self._folder), needed + RESERVE - free)

    def written(self, nbytes: int) -> None:
        """Count bytes; look now and then whether others have filled the disk. Raises UnderhillError(DISK_FULL)."""
        with self._lock:
            self._since += nbytes
            if self._since < STEP:
                return
            self._since = 0
        self.check(0)


@contextmanager
def writing(folder: Path) -> Iterator[None]:
    """Turn an OSError of writing into UnderhillError(DISK_FULL or DISK_ERROR)."""
    try:
        yield
    except UnderhillError:
        raise
    except OSError as cause:
        if cause.errno in FULL:
            raise disk_full(str(folder)) from cause
        raise HubError(
            Kind.DISK_ERROR,
            msg(
                "{filename} cannot be written ({strerror}).",
                filename=cause.filename or folder,
                strerror=system_reason(cause) or os.strerror(cause.errno or 0),
            ),
            msg("Check the disk and its permissions."),
        ) from cause
