"""The tables that coming experts are predicted with, as one model keeps them between sessions.

Which tokens were seen with which experts is among it: the setting `remember_routing` switches it off and removes it.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from engine.experts.predictors import Coactivation, Paths, PredictorTable, RoutingShape, TokenTable
from engine.regular_file import is_regular
from engine.store.atomic import replacing
from engine.store.lock import FileLock
from engine.store.manifest import fingerprint
from engine.translatable import msg

KINDS = ("tokens", "pairs", "paths")
DEPTH = 3  # layers ahead that pairs are counted for, and gates taught for: the p of hobbit, section 3.3
MOST = {"tokens": 16_000_000, "pairs": 64_000_000, "paths": 16_000_000}  # bytes that a table may take, here and on disk
BESIDE = 250  # bytes of Python's own for a path
VERSION = "1"
WAIT = 5.0  # seconds for another process to end its own keeping

State = dict[str, NDArray[Any]]


def pairs_bytes(shape: RoutingShape) -> int:
    """What counting pairs takes."""
    return 4 * DEPTH * shape.rows * shape.experts**2


def empty(kind: str, shape: RoutingShape) -> PredictorTable:
    """One of KINDS that has learnt nothing, and will never take more than its bytes of MOST; see `possible`."""
    if kind == "tokens":
        return TokenTable.within(shape, MOST[kind])
    if kind == "pairs":
        return Coactivation(shape, DEPTH)
    return Paths(shape, MOST[kind] // (shape.experts + BESIDE))


def possible(shape: RoutingShape) -> tuple[str, ...]:
    """Of KINDS, those that are not too large for this model."""
    return tuple(kind for kind in KINDS if kind != "pairs" or pairs_bytes(shape) <= MOST["pairs"])


@dataclass
class _Held:
    """texts: of the calibration text it was taught, from the first on. stamp: of the file it agrees with, '' for none.

    written: changes of the table that are in that file.
    """

    table: PredictorTable
    texts: int = 0
    stamp: str = ""
    written: int = 0


class LearntTables:
    """Of one store. Each is read when it is first wanted; a file that is damaged, or another model's, counts as none.

    remember: whether anything is read from the disk. generation: counts up when all is forgotten.
    """

    def __init__(self, store: Path, shape: RoutingShape, *, remember: bool) -> None:
        self.shape = shape
        self.remember = remember
        self.generation = 0
        self._store = store
        self._mark = fingerprint(store)
        self._held: dict[str, _Held] = {}

    def of(self, kind: str) -> PredictorTable:
        """The table of one of `possible`."""
        return self._hold(kind).table

    def taught(self, kind: str) -> int:
        """Of the calibration text, how many texts it has learnt; as its file says, where it is not held."""
        if kind in self._held or not self.remember:
            return self._hold(kind).texts
        about = self._about(kind)
        return 0 if about is None else int(about["texts"])

    def learnt(self, kind: str, texts: int) -> None:
        """It has been taught so many texts by now."""
        self._hold(kind).texts = texts

    def adopt(self, kind: str, table: PredictorTable, texts: int) -> None:
        """Take what a table has learnt from the first so many texts, where its own was taught none."""
        held = self._hold(kind)
        if not held.texts:
            held.table.merge(table.state())
            held.texts = texts

    def keep(self) -> None:
        """Write what changed, merged with what another session wrote meanwhile. Raises OSError, UnderhillError."""
        changed = {kind: held for kind, held in self._held.items() if held.table.changes != held.written}
        if not changed:
            return
        with FileLock(self._store / "learnt.lock", msg("Keeping what was learnt of this model"), WAIT):
            for kind, held in changed.items():
                theirs = self._read(kind)
                if theirs is not None and theirs[1]["stamp"] != held.stamp:
                    held.table.merge(theirs[0])
                    held.texts = max(held.texts, int(theirs[1]["texts"]))
                self._write(kind, held)

    def release(self, kinds: tuple[str, ...]) -> None:
        """Let go of the others, where they are kept."""
        for kind in [kind for kind in self._held if kind not in kinds]:
            held = self._held[kind]
            if held.stamp and held.table.changes == held.written:
                del self._held[kind]

    def forget(self) -> None:
        """Remove all of it, here and on the disk. Raises OSError."""
        self._held.clear()
        self.generation += 1
        for kind in KINDS:
            self._path(kind).unlink(missing_ok=True)

    def _hold(self, kind: str) -> _Held:
        if kind not in self._held:
            held = _Held(empty(kind, self.shape))
            found = self._read(kind) if self.remember else None
            if found is not None:
                held.table.restore(found[0])
                held.texts, held.stamp = int(found[1]["texts"]), found[1]["stamp"]
            held.written = held.table.changes
            self._held[kind] = held
        return self._held[kind]

    def _path(self, kind: str) -> Path:
        return self._store / f"learnt-{kind}.safetensors"

    def _read(self, kind: str) -> tuple[State, dict[str, str]] | None:
        """What lies on the disk, and what is noted with it; None where it is nothing that this table could take."""
        about = self._about(kind)
        if about is None:
            return None
        try:
            with safe_open(self._path(kind), framework="np") as file:
                state = {name: np.array(file.get_tensor(name)) for name in file.keys()}  # noqa: SIM118
            empty(kind, self.shape).restore(state)  # whether it can be taken
        except (OSError, SafetensorError, KeyError, ValueError):
            return None
        return state, about

    def _about(self, kind: str) -> dict[str, str] | None:
        """What is noted with a file of this model and version; None for any other."""
        path = self._path(kind)
        try:
            if not is_regular(path) or path.stat().st_size > 2 * MOST[kind]:
                return None
            with safe_open(path, framework="np") as file:
                about = dict(file.metadata() or {})
            whose = about["version"], about["fingerprint"]
            return about if whose == (VERSION, self._mark) and about["stamp"] and int(about["texts"]) >= 0 else None
        except (OSError, SafetensorError, KeyError, ValueError):
            return None

    def _write(self, kind: str, held: _Held) -> None:
        stamp = secrets.token_hex(8)
        about = {"version": VERSION, "fingerprint": self._mark, "texts": str(held.texts), "stamp": stamp}
        changes = held.table.changes
        state = {name: np.ascontiguousarray(array) for name, array in held.table.state().items()}
        try:
            with replacing(self._path(kind)) as temporary:
                save_file(state, temporary, metadata=about)
        except SafetensorError as e:
            raise OSError(str(e)) from e
        held.stamp, held.written = stamp, changes
