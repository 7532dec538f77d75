"""Files being written: positional writes, synced in batches, and what a full or failing disk means."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from engine.errors import Kind, UnderhillError
from engine.filesystem import is_open_elsewhere
from engine.translatable import msg, system_reason

FULL = (errno.ENOSPC, errno.EDQUOT) if hasattr(errno, "EDQUOT") else (errno.ENOSPC,)


class OutputFiles:
    """Data files of one directory, opened when first written to. Every method raises OSError."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._open: dict[str, int] = {}

    def write(self, name: str, offset: int, data: memoryview) -> None:
        """Write all of `data` at `offset`."""
        fd = self._descriptor(name)
        os.lseek(fd, offset, os.SEEK_SET)  # os.pwrite does not exist on Windows, and only one thread writes
        while data:
            data = data[os.write(fd, data) :]

    def set_length(self, name: str, nbytes: int) -> None:
        """Cut or extend (with zeros) a file to `nbytes`."""
        os.ftruncate(self._descriptor(name), nbytes)

    def sync(self) -> None:
        """Bring everything written to the disk, and close the files."""
        for fd in self._open.values():
            os.fsync(fd)
        self.close()

    def close(self) -> None:
        """Close the files without waiting for the disk."""
        for fd in self._open.values():
            os.close(fd)
        self._open = {}

    def _descriptor(self, name: str) -> int:
        if name not in self._open:
            flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0)
            self._open[name] = os.open(self._directory / name, flags, 0o644)
        return self._open[name]


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn an OSError of writing below `path` into UnderhillError(DISK_FULL or DISK_ERROR)."""
    try:
        yield
    except OSError as cause:
        if cause.errno in FULL:
            raise disk_full(path) from cause
        if is_open_elsewhere(cause):
            raise UnderhillError(
                Kind.DISK_ERROR,
                msg("{file} is open in another app or protected.", file=cause.filename or path),
                msg("Close that app, then try again."),
            ) from cause
        raise UnderhillError(
            Kind.DISK_ERROR,
            msg("Can't write {path} ({strerror}).", path=path, strerror=system_reason(cause)),
            msg("Check the disk."),
        ) from cause


def disk_full(path: Path, missing: int | None = None) -> UnderhillError:
    """DISK_FULL; missing: bytes that would have to be freed, where that is known."""
    room = msg("Free {value} MB", value=f"{max(1, -(-missing // 10**6)):,}") if missing else msg("Free some space")
    return UnderhillError(
        Kind.DISK_FULL,
        msg("Not enough disk space in {parent}.", parent=path.parent),
        msg("{room}, then try again to resume.", room=room),
    )
