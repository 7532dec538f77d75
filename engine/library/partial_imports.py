"""Partial imports: what each was made from and why it stopped, kept in its directory, so that it can be resumed."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from engine import filesystem
from engine.convert.importer import Report
from engine.errors import UnderhillError
from engine.filesystem import replace_file
from engine.regular_file import read_json
from engine.store.fields import DAMAGED
from engine.store.journal import PARTIAL
from engine.translatable import NO_TEXT, Translatable, as_json, from_json

NOTE = "import.json"


@dataclass(frozen=True)
class PartialImport:
    """A partial import. source: the checkpoint; top: the tier to be stored, 0: what suits it.

    problem: the sentence it ended with, '' if it was cut off.
    arriving: the source is the name of a model on a hub, from where it was imported as it came.
    """

    source: str
    top: int
    problem: Translatable = NO_TEXT
    arriving: bool = False


def read(destination: Path) -> PartialImport | None:
    """What is known of the unfinished import of the store `destination`."""
    try:
        found = read_json(_partial(destination) / NOTE)
        known = str(found["source"]), int(found["top"]), from_json(found["problem"])
        return PartialImport(*known, bool(found.get("arriving")))
    except DAMAGED:
        return None


@contextmanager
def noted(
    destination: Path, source: str, top: int, progress: Report | None, arriving: bool = False
) -> Iterator[Report]:
    """While an import of `source` goes on: gives the progress report to use, by which the note gets there."""
    partial = _partial(destination)
    # a path is not resolved: links in caches end in names without an ending
    what = PartialImport(source if arriving else os.path.abspath(source), top, arriving=arriving)
    written = False

    def report(phrase: Translatable, done: int, total: int) -> None:
        nonlocal written
        # Before there is a total the importer only reads headers, and the directory may be an earlier import's of other
        # weights.
        if not written and total:  # from here on the directory is this import's
            written = _write(partial, what)
        if progress is not None:
            progress(phrase, done, total)

    try:
        yield report
    except UnderhillError as error:
        if partial.is_dir():
            _write(partial, replace(what, problem=error.sentence))
        raise
    with suppress(OSError):  # a note that stays harms nothing
        filesystem.remove(destination / NOTE, missing_ok=True)


def remove_leftovers(directory: Path) -> None:
    """Remove the notes of imports in `directory` that were cut off when their store had just been put in place."""
    for note in directory.glob(f"?*/{NOTE}"):
        if not note.parent.name.endswith(PARTIAL):
            with suppress(OSError):
                filesystem.remove(note, missing_ok=True)


def _write(partial: Path, what: PartialImport) -> bool:
    with suppress(OSError):  # the import itself says it where the disk takes no more
        replace_file(partial / NOTE, json.dumps({**asdict(what), "problem": as_json(what.problem)}).encode())
    return True


def _partial(destination: Path) -> Path:
    return destination.with_name(destination.name + PARTIAL)
