"""A file to measure a disk with, where there is none yet: bounded in size, and gone afterwards."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from engine.errors import Kind, UnderhillError
from engine.store.output import FULL
from engine.translatable import msg, system_reason

SIZE = 512 << 20  # bytes
LEAST = 64 << 20  # below which nothing could be told from it
PART = 4  # at most this part of what is free
PIECE = 8 << 20


@contextmanager
def scratch_file(folder: Path, cancelled: Callable[[], bool] = lambda: False) -> Iterator[Path]:
    """A file of random bytes in `folder`, on the disk and not in the cache alone; removed whatever happens.

    Raises UnderhillError: DISK_FULL, DISK_ERROR where the folder cannot be written to, CANCELLED.
    """
    path: Path | None = None
    try:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            size = min(SIZE, shutil.disk_usage(folder).free // PART // PIECE * PIECE)
            if size < LEAST:
                raise _full(folder)
            fd, name = tempfile.mkstemp(".tmp", "underhill-probe-", folder)
            path = Path(name)
            with os.fdopen(fd, "wb", buffering=0) as file:
                for _ in range(size // PIECE):
                    if cancelled():
                        raise UnderhillError(Kind.CANCELLED, msg("Stopped."))
                    file.write(os.urandom(PIECE))
                os.fsync(file.fileno())
        except OSError as cause:
            raise _refused(folder, cause) from cause
        yield path
    finally:
        if path is not None:
            with suppress(OSError):
                path.unlink()


def _full(folder: Path) -> UnderhillError:
    return UnderhillError(
        Kind.DISK_FULL,
        msg("The disk of {folder} is too full to be measured.", folder=folder),
        msg("Free {part} MB there and measure again.", part=PART * LEAST // 10**6),
    )


def _refused(folder: Path, cause: OSError) -> UnderhillError:
    if cause.errno in FULL:
        return _full(folder)
    return UnderhillError(
        Kind.DISK_ERROR,
        msg(
            "The disk of {folder} cannot be measured, as nothing can be written there ({strerror}).",
            folder=folder,
            strerror=system_reason(cause),
        ),
        msg("Choose a folder that can be written to, or measure with a model that lies there."),
    )
