"""Deleted models stay for a week in `.trash`, in the folder that they were in: deleting and undoing are one rename."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from engine import filesystem
from engine.errors import Kind, UnderhillError
from engine.filesystem import OLD, sync_directory
from engine.library import display_name, folders
from engine.library.entries import DeletedModel
from engine.library.home import checked_name, home
from engine.lived_time import LivedTime, look
from engine.store.output import writing
from engine.store.writer import store_lock
from engine.translatable import msg

TRASH = ".trash"
DAYS = 7  # until what was removed is gone: a week's second thoughts
_ENTRY = re.compile(r"(.+)@(\d{10,})")  # name @ microseconds since 1970: the note of when is the name itself


def put(path: Path) -> None:
    """Move the directory `path` into the trash beside it. The caller holds its lock. Raises OSError."""
    trash = path.parent / TRASH
    trash.mkdir(exist_ok=True)
    filesystem.replace(path, trash / f"{path.name}@{int(time.time() * 1e6)}")
    # The new name before the old one's end: a power cut in between may show the model twice, and never not at all.
    sync_directory(trash)
    sync_directory(path.parent)


def deleted() -> tuple[DeletedModel, ...]:
    """What is in the trash of all folders that are there, the latest first."""
    found = [
        DeletedModel(name, str(folder), size(path), at, at + DAYS * 86400, display_name.read(path) or name)
        for folder in folders.present()
        for path, name, at in _entries(folder)
    ]
    return tuple(sorted(found, key=lambda d: -d.deleted_at))


def restore(name: str, new_name: str = "") -> Path:
    """Bring back the model of this name that was deleted last, under its own name or another.

    Raises UnderhillError: NOT_A_MODEL when there is none, BAD_REQUEST when the name is taken meanwhile, BUSY,
    DISK_ERROR.
    """
    checked_name(name)
    wanted = checked_name(new_name or name)
    found = [(at, path, folder) for folder in folders.present() for path, n, at in _entries(folder) if n == name]
    if not found:
        others = sorted({d.name for d in deleted()})
        raise UnderhillError(
            Kind.NOT_A_MODEL,
            msg("No deleted model named {name}.", name=name),
            msg("Available: {others}.", others=", ".join(others)) if others else msg("The trash is empty."),
        )
    _, path, folder = max(found)
    destination = folder / wanted
    with store_lock(destination), writing(destination):
        if folders.location(wanted).exists():
            raise UnderhillError(
                Kind.BAD_REQUEST,
                msg("Another model named {wanted} exists.", wanted=wanted),
                msg("Restore it under another name."),
            )
        filesystem.replace(path, destination)
        if wanted != name:
            display_name.keep(destination, "")
        sync_directory(folder)
    return destination


def empty(lived: LivedTime | None = None) -> int:
    """Remove for good all that was deleted, and what an earlier call left of it. lived: only what is older than DAYS.

    Returns the bytes freed. Raises UnderhillError(DISK_ERROR).
    """
    freed = 0
    for folder in folders.present():
        trash = folder / TRASH
        for path, _, at in list(_entries(folder)):
            if lived is not None and lived.since(at) < DAYS * 86400:
                continue
            with writing(path), suppress(FileNotFoundError):  # restored or removed by another process meanwhile
                freed += size(path)
                # first, for half of a model must never be restored
                filesystem.replace(path, path.with_name(path.name + OLD))
        for old in trash.glob("?*" + OLD):
            with writing(old), suppress(FileNotFoundError):
                filesystem.remove_tree(old)
        with suppress(OSError):  # not empty, or not there
            trash.rmdir()
    return freed


def empty_expired() -> int:
    """Remove for good what was deleted more than a week ago; what cannot be removed stays."""
    with suppress(UnderhillError):
        return empty(look(home()))
    return 0


def nbytes(folder: Path) -> int:
    """Bytes in the trash of one folder."""
    return sum(size(path) for path, _, _ in _entries(folder))


def size(path: Path) -> int:
    """Bytes of the files below a directory, as far as they can be seen."""
    total = 0
    for folder, _, files in os.walk(path):  # leaves out what it cannot look into
        for name in files:
            with suppress(OSError):
                total += os.stat(os.path.join(folder, name)).st_size
    return total


def _entries(folder: Path) -> Iterator[tuple[Path, str, float]]:
    """(directory, name, deleted at) of everything in the trash of a folder."""
    try:
        there = sorted((folder / TRASH).iterdir())
    except OSError:
        return
    for path in there:
        match = _ENTRY.fullmatch(path.name)
        if match is not None and path.is_dir():
            yield path, match.group(1), int(match.group(2)) / 1e6
