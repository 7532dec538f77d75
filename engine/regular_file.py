"""Opens files that others name: only regular ones, only so many bytes, and never waiting for what is no file.

And tells whether one is still what was read of it (`mark_of`).
"""

from __future__ import annotations

import errno
import io
import json
import os
import stat
import time
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from engine.limits import NOTE_BYTES

READ_AT_ONCE = 1 << 20  # bytes
SETTLED = 2.0  # seconds: no file system gives two times further apart the same value (FAT keeps even seconds)
# Not to wait for a pipe's other end, not to be given a terminal, and no newline changes on Windows.
_CAREFULLY = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_BINARY", 0)


class NotAFile(OSError):
    """A device, pipe, socket or folder stands where a file should: reading it may never end, or do something."""


class FileTooLarge(OSError):
    """More bytes than are taken: by what the system says of the file, or found while reading it."""


@dataclass(frozen=True)
class FileMark:
    """What tells a file from what it was, or from another in its place. Times in ns; changed: on Windows, when made."""

    device: int
    inode: int
    nbytes: int
    modified: int
    changed: int


def mark_of(path: str | os.PathLike[str]) -> FileMark | None:
    """To be taken before the file is read, and held against a later one to learn whether it is as it was.

    None where nothing may be kept of it: it was written just now, and could be again with no mark of that. Raises
    OSError.
    """
    found = os.stat(path)
    if abs(time.time() - found.st_mtime) < SETTLED:
        return None
    return FileMark(found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


def open_regular(path: str | os.PathLike[str], max_bytes: int | None = None) -> io.BufferedReader:
    """Open a regular file for reading, links followed to one. Raises OSError: NotAFile, FileTooLarge, or as `open`.

    Looks before it opens, since opening a device can already do something, and once more at what it has opened, which
    may be another by then. Non-blocking, since to open a pipe without a writer waits for ever.
    """
    return io.BufferedReader(open_unbuffered(path, max_bytes))


def open_unbuffered(path: str | os.PathLike[str], max_bytes: int | None = None) -> io.FileIO:
    """The same without memory between: for large reads into memory of one's own. Raises as `open_regular`."""
    return io.FileIO(open_descriptor(path, 0, max_bytes), "rb")


def open_descriptor(path: str | os.PathLike[str], flags: int = 0, max_bytes: int | None = None) -> int:
    """The same as a descriptor, opened with further flags; the caller closes it. Raises as `open_regular`."""
    try:
        found = os.stat(path)
    except ValueError as cause:  # a NUL in the path
        raise OSError(errno.EINVAL, "not the name of a file", os.fspath(path)) from cause
    _check(found, path, max_bytes)
    fd = os.open(path, os.O_RDONLY | _CAREFULLY | flags)
    try:
        _check(os.fstat(fd), path, max_bytes)
        return fd
    except BaseException:
        os.close(fd)
        raise


def open_to_append(path: str | os.PathLike[str]) -> io.FileIO:
    """Write at the end of a regular file, which is made where there is none. Raises OSError: NotAFile, or as `open`.

    Nothing that a link leads to is written: here only this program makes files.
    """
    if os.path.lexists(path):
        _check(os.lstat(path), path, None)
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | _CAREFULLY | getattr(os, "O_NOFOLLOW", 0)
    fd = os.open(path, flags, 0o666)
    try:
        _check(os.fstat(fd), path, None)
    except BaseException:
        os.close(fd)
        raise
    return io.FileIO(fd, "ab")


def read_regular(path: str | os.PathLike[str], max_bytes: int) -> bytes:
    """All of a regular file. Raises as `open_regular`, also where it grows beyond max_bytes while it is read."""
    with open_regular(path, max_bytes) as file:
        return read_at_most(file, max_bytes, path)


def read_json(path: str | os.PathLike[str], max_bytes: int = NOTE_BYTES) -> Any:
    """What a regular file of JSON says. Raises OSError as `read_regular`; ValueError for what is none."""
    return parse_json(read_regular(path, max_bytes))


def parse_json(text: str | bytes) -> Any:
    """JSON of whoever. Raises ValueError for what is none, also where it is nested deeper than can be followed."""
    try:
        return json.loads(text)
    # Python's JSON reader follows nesting by recursion; a file of 100 kB of "[" is enough to end it.
    except RecursionError:
        raise ValueError("nested too deeply") from None


def read_at_most(file: IO[bytes], max_bytes: int, name: str | os.PathLike[str] = "") -> bytes:
    """All that is left of an open file or archive member. Raises FileTooLarge once it is more than max_bytes."""
    pieces: list[bytes] = []
    left = max_bytes
    # One byte more than is allowed is asked for: a file that grows while it is read is found out by that byte.
    while piece := file.read(min(READ_AT_ONCE, left + 1)):
        left -= len(piece)
        if left < 0:
            raise _too_large(name)
        pieces.append(piece)
    return b"".join(pieces)


def read_text(path: str | os.PathLike[str], max_bytes: int = NOTE_BYTES) -> str:
    """All of a regular file as UTF-8. Raises OSError as `read_regular`, UnicodeDecodeError."""
    return read_regular(path, max_bytes).decode("utf-8")


def is_regular(path: str | os.PathLike[str]) -> bool:
    """Whether there is a regular file, or a link to one. Raises nothing."""
    try:
        return stat.S_ISREG(os.stat(path).st_mode)
    except (OSError, ValueError):
        return False


def _check(found: os.stat_result, path: str | os.PathLike[str], max_bytes: int | None) -> None:
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
    if not stat.S_ISREG(found.st_mode):
        raise NotAFile(errno.EINVAL, "not a regular file", os.fspath(Path(path)))
    if max_bytes is not None and found.st_size > max_bytes:
        raise _too_large(path)


def _too_large(path: str | os.PathLike[str]) -> FileTooLarge:
    return FileTooLarge(errno.EFBIG, os.strerror(errno.EFBIG), os.fspath(path))
