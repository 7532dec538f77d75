"""Making files and directories durable, and putting a finished directory in place in one step."""

from __future__ import annotations

import os
import shutil
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

OLD = ".old"  # what is being replaced or deleted
UNFINISHED = ".tmp"  # ending of a file that is to take another's place
FORGOTTEN = 3600.0  # seconds after which such a file counts as left behind


def sync_file(path: Path) -> None:
    """Bring a file's bytes to the disk. Raises OSError."""
    fd = os.open(path, os.O_RDWR)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def replace_file(path: Path, data: bytes) -> None:
    """Write a file anew, whole or not at all. Raises OSError."""
    with replacing(path) as temporary:
        temporary.write_bytes(data)


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Where to write what takes this file's place in the end; what stood there stays until then, or if that fails.

    Threads or processes that write it at once have a temporary file each: the last one's is what stays.
    """
    temporary = path.with_name(f"{path.name}.{os.getpid()}-{threading.get_ident()}{UNFINISHED}")
    _remove_forgotten(path)
    try:
        yield temporary
        sync_file(temporary)
        temporary.replace(path)
        sync_directory(path.parent)  # else a power cut may bring the old file back
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _remove_forgotten(path: Path) -> None:
    """Temporary files of this file, left by processes that were killed while they wrote it."""
    with suppress(OSError):
        for other in path.parent.iterdir():
            if other.name.startswith(f"{path.name}.") and other.name.endswith(UNFINISHED):
                with suppress(OSError):  # another process was faster, or it is still open
                    if time.time() - other.stat().st_mtime > FORGOTTEN:
                        other.unlink()


def sync_directory(path: Path) -> None:
    """Bring a directory's entries to the disk; Windows does so by itself. Raises OSError."""
    if sys.platform == "win32":
        return
    fd = os.open(path, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def put_in_place(finished: Path, destination: Path) -> None:
    """Rename the directory `finished` to `destination`, replacing what is there. Raises OSError.

    Whoever looks sees the old directory, for a moment none, or the new one; never a mixture.
    """
    old = destination.with_name(destination.name + OLD)
    if old.exists():
        shutil.rmtree(old)
    if destination.exists():
        destination.rename(old)
    finished.rename(destination)
    sync_directory(destination.parent)
    if old.exists():
        shutil.rmtree(old)
