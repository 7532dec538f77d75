"""What coming experts are predicted with, as it is kept beside a store: learnt tables and taught gates.

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
from safetensors.numpy import load_file, save_file

from engine import filesystem
from engine.experts.eam import EamCollection
from engine.experts.predictors import (
    Coactivation,
    Eam,
    Gate,
    Paths,
    Predictor,
    PredictorTable,
    RoutingShape,
    TokenTable,
)
from engine.experts.predictors.gates import LinearMap
from engine.experts.predictors.predictor import Floats
from engine.filesystem import replacing
from engine.regular_file import is_regular
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
        with FileLock(self._store / "learnt.lock", msg("Saving predictors"), WAIT):
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
            filesystem.remove(self._path(kind), missing_ok=True)

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
            # Twice what a table may take: safetensors' header, and ids beside the counts. A larger file is none of
            # ours, and would be read whole.
            if not is_regular(path) or path.stat().st_size > 2 * MOST[kind]:
                return None
            with safe_open(path, framework="np") as file:
                about = dict(file.metadata() or {})
            whose = about["version"], about["fingerprint"]
            return about if whose == (VERSION, self._mark) and about["stamp"] and int(about["texts"]) >= 0 else None
        except (OSError, SafetensorError, KeyError, ValueError):
            return None

    def _write(self, kind: str, held: _Held) -> None:
        # By the stamp another session's file is told from the one that was read here. Its time would not do: two writes
        # may fall into one tick of the file system.
        stamp = secrets.token_hex(8)
        about = {"version": VERSION, "fingerprint": self._mark, "texts": str(held.texts), "stamp": stamp}
        # Noted before the state is taken: what is learnt while the file is written is not in it, and is to be written
        # the next time.
        changes = held.table.changes
        state = {name: np.ascontiguousarray(array) for name, array in held.table.state().items()}
        try:
            with replacing(self._path(kind)) as temporary:
                save_file(state, temporary, metadata=about)
        except SafetensorError as e:
            raise OSError(str(e)) from e
        held.stamp, held.written = stamp, changes


FILE = "foresight.safetensors"
UNTAUGHT = np.tile(np.array([0.8, 0.1], np.float32), (DEPTH + 1, 1))  # of plain gates and the table of tokens
TABLES = ("tokens", "pairs", "paths", "eam")
ALL = ("gates", *TABLES)  # in the order of `Learnt.all_weights`

Maps = list[list[LinearMap]]


@dataclass(frozen=True, eq=False)
class Learnt:
    """Of one model. maps: its gates, taught, by row. weights: [DEPTH + 1, 2], of these and the table of tokens.

    all_weights: [DEPTH + 1, 5], of ALL; None in files of a version that did not find them.
    """

    maps: Maps
    weights: Floats
    all_weights: Floats | None = None


def table(kind: str, shape: RoutingShape, past: EamCollection | None = None) -> Predictor:
    """One of TABLES, empty. past: what 'eam' goes by, which others add to; None: what it sees itself."""
    if kind in KINDS:
        return empty(kind, shape)
    own = EamCollection(shape.rows, shape.experts)
    return Eam(shape, own if past is None else past, adds=past is None)


def fitting(shape: RoutingShape) -> tuple[str, ...]:
    """Of ALL, in that order, those whose tables are not too large."""
    return tuple(kind for kind in ALL if kind not in KINDS or kind in possible(shape))


def write(path: Path, learnt: Learnt) -> None:
    """Keep it, whole or not at all. Raises OSError."""
    tensors: dict[str, np.ndarray] = {"weights": learnt.weights}
    if learnt.all_weights is not None:
        tensors["all_weights"] = learnt.all_weights
    for row, own in enumerate(learnt.maps):
        for ahead, linear in enumerate(own, 1):
            tensors[f"{row}.{ahead}.weight"] = linear.weight.astype(np.float16)
            tensors[f"{row}.{ahead}.bias"] = linear.bias
    try:
        with replacing(path) as temporary:
            save_file(tensors, temporary)
    except SafetensorError as e:
        raise OSError(str(e)) from e


def read(path: Path, gates: list[Gate]) -> Learnt | None:
    """What `write` kept; None if there is nothing, or nothing that fits these gates (then it is learnt again)."""
    try:
        found = load_file(path)
        maps = [
            [
                LinearMap(found[f"{row}.{ahead}.weight"], found[f"{row}.{ahead}.bias"])
                for ahead in range(1, min(DEPTH, len(gates) - 1 - row) + 1)
            ]
            for row in range(len(gates))
        ]
        weights, all_weights = found["weights"], found.get("all_weights")
    except (OSError, SafetensorError, KeyError):
        return None
    fits = _are_weights(weights, 2) and (all_weights is None or _are_weights(all_weights, len(ALL)))
    for row, own in enumerate(maps):
        for target, linear in zip(gates[row + 1 :], own):
            fits = fits and _is_map(linear, *target.weight.shape)
    return Learnt(maps, weights, all_weights) if fits else None


def _is_map(found: LinearMap, experts: int, hidden: int) -> bool:
    """Files of a version that did not look at the token before have maps of one input."""
    shape = found.weight.shape
    right = shape in ((experts, hidden), (experts, 2 * hidden)) and found.bias.shape == (experts,)
    return right and bool(np.isfinite(found.weight).all() and np.isfinite(found.bias).all())


def _are_weights(found: np.ndarray, parts: int) -> bool:
    right = found.shape == (DEPTH + 1, parts) and found.dtype == np.float32
    return right and bool(np.isfinite(found).all())
