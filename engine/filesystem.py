"""Replaces and removes files and directories: durably, in one step, and past whoever has them open for a moment."""

from __future__ import annotations

import os
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

OLD = ".old"  # what is being replaced or deleted
UNFINISHED = ".tmp"  # ending of a file that is to take another's place
FORGOTTEN = 3600.0  # seconds after which such a file counts as left behind
# Windows refuses to replace or remove what a virus scanner, an indexer or a backup has open, which none of them has for
# long: ERROR_ACCESS_DENIED, ERROR_SHARING_VIOLATION, ERROR_LOCK_VIOLATION, and, for a folder whose last file goes only
# once it is closed, ERROR_DIR_NOT_EMPTY. Other systems refuse nothing of the kind, and set no such number.
OPEN_ELSEWHERE = (5, 32, 33, 145)
PATIENCE = 2.0  # seconds of trying; longer, a click in the window that has nothing to do with it would seem to hang
SHORTEST, LONGEST = 0.01, 0.5  # seconds between two tries, doubled from the one to the other
_ANY_LENGTH, _ANY_LENGTH_SHARE = "\\\\?\\", "\\\\?\\UNC\\"


def replace(source: Path, target: Path, patience: float = PATIENCE) -> None:
    """Rename a file, replacing another, or a directory; waits while another program has it open. Raises OSError.

    patience: seconds of waiting, of which a folder of programs just written takes more, as each of them is scanned.
    """
    _try_again(os.replace, source, target, patience=patience)


def remove(path: Path, missing_ok: bool = False) -> None:
    """Remove a file; waits while another program has it open. Raises OSError."""
    _try_again(path.unlink, missing_ok)


def remove_tree(path: Path) -> None:
    """Remove a directory and all in it; waits while another program has any of it open. Raises OSError."""
    try:
        # All of it again: what was removed the first time is not there any more, and does not disturb.
        _try_again(shutil.rmtree, of_any_length(path))
    except OSError as cause:
        if cause.filename is not None:  # people are told of it
            cause.filename = as_people_write_it(str(cause.filename))
        raise


def of_any_length(path: Path) -> Path:
    """The path in the form in which Windows has no limit of 260 characters; elsewhere as it is.

    torch's licences alone have paths of 167 within the folder of packages, and uv writes such files all the same.
    """
    if sys.platform != "win32" or str(path).startswith(_ANY_LENGTH):
        return path
    whole = os.path.abspath(path)  # this form knows no `..`, and no `/`
    return Path(_ANY_LENGTH_SHARE + whole[2:] if whole.startswith("\\\\") else _ANY_LENGTH + whole)


def as_people_write_it(path: str) -> str:
    r"""The path without `\\?\`, by which Windows knows one of any length (`of_any_length`); any other as it is."""
    if path.startswith(_ANY_LENGTH_SHARE):
        return "\\\\" + path.removeprefix(_ANY_LENGTH_SHARE)
    return path.removeprefix(_ANY_LENGTH)


def is_open_elsewhere(cause: OSError) -> bool:
    """Whether Windows refused because another program has the file open, or because it is protected."""
    return getattr(cause, "winerror", None) in OPEN_ELSEWHERE


def _try_again(act: Callable[..., object], *arguments: object, patience: float = PATIENCE) -> None:
    end, pause = time.monotonic() + patience, SHORTEST
    while True:
        try:
            act(*arguments)
            return
        except OSError as cause:
            if not is_open_elsewhere(cause) or time.monotonic() >= end:
                raise
        time.sleep(pause)
        pause = min(2 * pause, LONGEST)


def sync_file(path: Path) -> None:
    """Bring a file's bytes to the disk. Raises OSError."""
    # For writing, though nothing is written: Windows flushes no handle that may only read.
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
    # Beside the file: only within one file system is a rename one step. Process and thread in the name, since two may
    # write it at once.
    temporary = path.with_name(f"{path.name}.{os.getpid()}-{threading.get_ident()}{UNFINISHED}")
    _remove_forgotten(path)
    try:
        yield temporary
        # Before the rename. File systems may bring the new name to the disk before the bytes (ext4 delays allocation),
        # and a power cut in between would leave an empty file where the old one was.
        sync_file(temporary)
        replace(temporary, path)
        sync_directory(path.parent)  # else a power cut may bring the old file back
    except BaseException:
        with suppress(OSError):  # what went wrong before it is what the caller must hear
            remove(temporary, missing_ok=True)
        raise


def _remove_forgotten(path: Path) -> None:
    """Temporary files of this file, left by processes that were killed while they wrote it."""
    with suppress(OSError):
        for other in path.parent.iterdir():
            # Only old ones: another process may be writing its own at this moment.
            if other.name.startswith(f"{path.name}.") and other.name.endswith(UNFINISHED):
                with suppress(OSError):  # another process was faster, or it is still open
                    if time.time() - other.stat().st_mtime > FORGOTTEN:
                        other.unlink()


def sync_directory(path: Path) -> None:
    """Bring a directory's entries to the disk; Windows does so by itself. Raises OSError."""
    if sys.platform == "win32":
        return
    # Linux brings a rename to the disk with the directory that holds the name, not with the file.
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
        remove_tree(old)
    moved = destination.exists()
    if moved:
        replace(destination, old)
    try:
        replace(finished, destination)
    except OSError:
        # The old one goes back: as `.old` it would count as a leftover, and be deleted when the library is tidied.
        if moved:
            with suppress(OSError):  # what the caller must hear is why the new one could not come
                replace(old, destination)
        raise
    sync_directory(destination.parent)
    if old.exists():
        remove_tree(old)
