"""Keeps what Underhill writes from the other users of this computer: chats, settings, logs, backups, exports."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

OTHERS = 0o077  # permission bits of the group and of everybody else
MAX_TIGHTENED = 10_000  # entries of the data folder that are looked at; a folder of our own has a few dozen
_usual = 0o022  # the mask before `write_privately`


def write_privately() -> None:
    """From now on, files of this process are made 0600 and its folders 0700, whatever the system's umask.

    Call once, before anything is written and before threads start. A mask and not a mode at each place that writes:
    SQLite, safetensors, NumPy and Qt make files of their own. On Windows a user's profile does the same by its ACL.
    """
    global _usual
    before = os.umask(OTHERS)
    if before != OTHERS:
        _usual = before


@contextmanager
def usual_permissions() -> Iterator[None]:
    """While another program is started, which inherits the mask: what it writes is not ours to close."""
    # The mask belongs to the process, not to the thread: what another thread makes meanwhile is as open as usual. So
    # this is for the moment of a start, and never around anything long.
    before = os.umask(_usual)
    try:
        yield
    finally:
        os.umask(before)


def tighten(folder: Path) -> None:
    """Take the data folder, and the files directly in it, from other users where an earlier version let them read.

    Does nothing on Windows, and to what is not this user's own. Never raises: what cannot be changed is left, and
    `readable_by_others` says so.
    """
    if sys.platform == "win32" or not _is_ours(folder) or _is_shared_by_purpose(folder):
        return
    with suppress(OSError):
        _take_from_others(folder)
        for number, entry in enumerate(os.scandir(folder)):
            if number == MAX_TIGHTENED:
                break
            if not entry.is_symlink():  # what a link leads to may be meant for others
                with suppress(OSError):
                    _take_from_others(Path(entry.path))


def private_folder(path: Path) -> bool:
    """Whether this is a folder of this user's that nobody else may enter; made if it is not there."""
    with suppress(OSError):
        path.mkdir(mode=0o700, exist_ok=True)
    with suppress(OSError):
        # lstat: a link that stands there was made by somebody, perhaps to a folder of theirs.
        found = path.lstat()
        if sys.platform == "win32":
            return stat.S_ISDIR(found.st_mode)
        return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not stat.S_IMODE(found.st_mode) & OTHERS
    return False


def _take_from_others(path: Path) -> None:
    found = path.lstat()
    if found.st_mode & OTHERS and _is_ours(path):
        path.chmod(stat.S_IMODE(found.st_mode) & ~OTHERS)


def _is_ours(path: Path) -> bool:
    with suppress(OSError):
        return sys.platform != "win32" and path.lstat().st_uid == os.getuid()
    return False


def _is_shared_by_purpose(folder: Path) -> bool:
    """Somebody's whole home folder or one like /tmp was named by UNDERHILL_HOME: not ours to close."""
    with suppress(OSError, RuntimeError):
        resolved = folder.resolve()
        return resolved in (Path.home().resolve(), Path("/")) or bool(resolved.stat().st_mode & stat.S_ISVTX)
    return True
