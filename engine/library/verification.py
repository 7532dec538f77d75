"""What "Verify files" found last, kept beside the model's store and told while the files are as they were then.

`KeptByMark` keeps facts for as long as the process lives. This one survives it, so of a file's mark only what a restart
leaves is kept: a disk's number may be another after it, and so may the inodes of a file system that has none.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from engine.filesystem import replace_file
from engine.library import damage
from engine.library.entries import Verification
from engine.regular_file import mark_of, read_json
from engine.store import manifest as manifests
from engine.store.fields import DAMAGED
from engine.store.reader import load_manifest
from engine.store.verify import verify
from engine.translatable import NO_TEXT, Translatable, as_json, from_json, msg

FILE = "verified.json"
_LATEST = 1e10  # seconds since 1970 that can be true: in the year 2286
_Mark = list[int]  # bytes, and when the file was modified and changed, in ns
Report = Callable[[Translatable, int, int], None]  # words, bytes done, bytes in all


def verify_files(store: Path, report: Report) -> tuple[tuple[Translatable, ...], Translatable]:
    """Read every byte of a store again, and keep what was found. Returns a sentence for everything that is damaged, and
    what to do about it. Raises what `verify` raises; then what was known before stays.
    """
    marks = _marks(store)  # before it is read: what is written meanwhile was not verified
    damaged = verify(store, lambda done, total: report(msg("Verifying"), done, total))
    action = damage.remedy(store, named=True) if damaged else NO_TEXT
    if marks is not None:
        _keep(store, marks, Verification(time.time(), len(damaged), damaged[0] if damaged else NO_TEXT, action))
    return damaged, action


def read(store: Path) -> Verification | None:
    """What was found last; None where nothing was, its files have changed since, or the file is damaged."""
    try:
        found = read_json(store / FILE)
        marks = dict(found["files"])
        # Names alone: a store from elsewhere may have been written by anybody.
        if manifests.NAME not in marks or any(Path(name).name != name for name in marks):
            return None
        if any(_mark(store / name) != mark for name, mark in marks.items()):
            return None
        problem, action = (from_json(found[name]).bounded() for name in ("problem", "action"))
        made = Verification(float(found["at"]), int(found["damaged"]), problem, action)
    except DAMAGED:
        return None
    return made if 0 <= made.at < _LATEST and made.damaged >= 0 else None


def _keep(store: Path, marks: dict[str, _Mark], found: Verification) -> None:
    """A store that cannot be written to keeps nothing: its files were verified all the same."""
    kept = {
        "at": found.at, "damaged": found.damaged, "problem": as_json(found.problem), "action": as_json(found.action),
        "files": marks,
    }  # fmt: skip
    with suppress(OSError):
        replace_file(store / FILE, json.dumps(kept).encode())


def _marks(store: Path) -> dict[str, _Mark] | None:
    """Of every file that is verified; None where one was written just now, or is not there."""
    manifest = load_manifest(store)
    names = [manifests.NAME, *(layer.file for layer in manifest.all_layers), manifest.dense_file]
    marks = {}
    for name in (*names, *(file.name for file in manifest.files)):
        try:
            mark = _mark(store / name)
        except OSError:  # which verifying says
            return None
        if mark is None:
            return None
        marks[name] = mark
    return marks


def _mark(file: Path) -> _Mark | None:
    """None where it was written just now. Raises OSError."""
    found = mark_of(file)
    return None if found is None else [found.nbytes, found.modified, found.changed]
