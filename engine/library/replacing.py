"""A smaller copy of a model takes its place; the original waits in the trash, from which it can take its place back."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from engine.convert.lowering import Expert, write_lowered
from engine.errors import Kind, UnderhillError
from engine.library import trash
from engine.store.atomic import sync_directory
from engine.store.manifest import Lowering
from engine.store.output import writing
from engine.store.reader import Store, load_manifest
from engine.store.writer import is_busy, remove, store_lock
from engine.translatable import Translatable, msg

BESIDE = ".lowered"  # ends the hidden name of a copy that is not in place yet
Report = Callable[[Translatable, int, int], None]


def beside(path: Path) -> Path:
    """Where the copy of the model at `path` is written: no list shows it."""
    return path.with_name(f".{path.name}{BESIDE}")


def write_beside(store: Store, bits: Mapping[Expert, int], lowering: Lowering, progress: Report) -> None:
    """Write the copy; what there is of it goes when that is stopped. Raises what write_lowered raises, DISK_FULL first:
    the original stays until the copy is in its place, so there must be room for both.
    """
    copy = beside(store.path)
    remove(copy)
    try:
        write_lowered(store, copy, bits, lowering, progress)
    except BaseException:
        with suppress(UnderhillError):
            remove(copy)
        raise


def put_in_place(path: Path) -> None:
    """The copy of the model at `path` is that model from now on, and the original is in the trash.

    Nobody has it open. Raises UnderhillError: BUSY, DISK_ERROR.
    """
    with store_lock(path), writing(path):
        trash.put(path)
        beside(path).rename(path)
        sync_directory(path.parent)


def original(name: str) -> bool:
    """Whether the original of a lowered model is still in the trash."""
    return any(found.name == name for found in trash.deleted())


def restore(path: Path) -> None:
    """Put the original of the lowered model at `path` back, and remove the copy. Nobody has it open.

    Raises UnderhillError: NOT_A_MODEL where the original is gone, BUSY, DISK_ERROR.
    """
    if load_manifest(path).lowering is None or not original(path.name):
        raise UnderhillError(
            Kind.NOT_A_MODEL,
            msg("The original of {name} is no longer there.", name=path.name),
            msg("Download or import the model again."),
        )
    copy = beside(path)
    remove(copy)
    with store_lock(path), writing(path):
        path.rename(copy)
    try:
        trash.restore(path.name)
    except UnderhillError:
        with writing(path):
            copy.rename(path)
        raise
    remove(copy)


def sweep(folder: Path) -> None:
    """Remove copies of which nothing became. One that was cut off between two renames takes its place."""
    for left in folder.glob(f".?*{BESIDE}*"):
        path = folder / left.name[1:].split(BESIDE)[0]
        with suppress(UnderhillError, OSError):
            if is_busy(beside(path)) or is_busy(path) or not os.access(folder, os.W_OK):
                continue
            if beside(path).is_dir() and not path.exists():
                beside(path).rename(path)
            else:
                remove(beside(path))
