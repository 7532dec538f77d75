"""Devices, pipes, sockets, folders and endless files, given where a person or a folder names a file."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from app.export import import_chats
from engine import regular_file
from engine.calibration.evaluate import sequences
from engine.documents import reading
from engine.formats.checkpoint import Checkpoint, origin, small_files
from engine.formats.opening import open_source
from engine.formats.source import read_file
from engine.library import external_models, import_compatibility, preflight
from engine.library.entries import FoundModel
from engine.library.external_models import FILES, HUGGING_FACE, OLLAMA, Place
from engine.store.disk import open_file
from engine.store.reader import load_manifest
from tests.attack.case import Case
from tests.attack.given import STANDING, put

LONG = "x" * 300


def _config(path: Path) -> None:
    if path.is_dir():
        put(path / "config.json", b'{"model_type": "qwen3_moe"}')


def _found(path: Path, form: str) -> FoundModel:
    return FoundModel(app="app", title="m", name="m", path=str(path), format=form, nbytes=0)


def _bytes(path: Path) -> None:
    read_file(path, 0, memoryview(bytearray(8)))


# reader -> (name of the file, what reads it); those that go on without it take anything
READERS: dict[str, tuple[str, Callable[[Path], object]]] = {
    "attachment": ("notes.txt", lambda path: reading.read(path)),
    "attached PDF": ("notes.pdf", lambda path: reading.read(path)),
    "chats": ("conversations.json", lambda path: import_chats.read(path)),
    "config": ("m/config.json", lambda path: Checkpoint.open(path.parent)),
    "weights": ("m/model.safetensors", lambda path: (_config(path.parent), Checkpoint.open(path.parent))),
    "index": ("m/model.safetensors.index.json", lambda path: (_config(path.parent), Checkpoint.open(path.parent))),
    "GGUF": ("m.gguf", lambda path: open_source(path)),
    "GGUF by digest": ("sha256-" + "0" * 64, lambda path: open_source(path)),
    "manifest": ("m/manifest.json", lambda path: load_manifest(path.parent)),
    "data of a store": ("layer", lambda path: open_file(path, False).close()),
    "data, directly": ("layer", lambda path: open_file(path, True).close()),
    "bytes of weights": ("shard", _bytes),
    "text to measure on": ("text.jsonl", lambda path: sequences(None, path, 10, None)),  # type: ignore[arg-type]
    "anything": ("file", lambda path: regular_file.read_regular(path, 1 << 20)),
}
LOOKERS: dict[str, tuple[str, Callable[[Path], object]]] = {
    "where it came from": ("m/download.json", lambda path: origin(path.parent)),
    "where a cache had it from": ("m/.cache/huggingface/download/config.json.metadata",
                                  lambda path: origin(path.parents[3])),
    "files beside weights": ("m/tokenizer.json", lambda path: small_files(path.parent)),
    "before an import": ("m/config.json", lambda path: preflight.check_files(path.parent, False)),
    "models of an app": ("models/m.gguf",
                         lambda path: external_models.find(_quiet, [Place("app", FILES, path.parent)])),
    "checkpoints of an app": ("models/m/config.json",
                              lambda path: external_models.find(_quiet, [Place("app", FILES, path.parents[1])])),
    "models of the hub's cache": ("hub/models--a--b/snapshots/c/config.json",
                                  lambda path: external_models.find(
                                      _quiet, [Place("app", HUGGING_FACE, path.parents[3])])),
    "models of Ollama": ("o/manifests/r/library/n/t",
                         lambda path: external_models.find(_quiet, [Place("app", OLLAMA, path.parents[4])])),
    "a found GGUF": ("m.gguf", lambda path: import_compatibility.gguf(_found(path, "gguf"))),
    "a found checkpoint": ("m/config.json",
                           lambda path: import_compatibility.checkpoint(_found(path.parent, "safetensors"))),
}  # fmt: skip


def _quiet(phrase: str, done: int, total: int) -> None:
    """Nobody listens."""


def cases() -> list[Case]:
    found = []
    for what, (name, reader) in READERS.items():
        found += [
            Case(f"{what}: {kind}", partial(_standing, name, kind, reader), _may(what, kind)) for kind in STANDING
        ]
        found.append(Case(f"{what}: a path too long", partial(_long, reader)))
        found.append(Case(f"{what}: a path with a NUL", partial(_nul, reader)))
    for what, (name, reader) in LOOKERS.items():
        found += [Case(f"{what}: {kind}", partial(_standing, name, kind, reader), True) for kind in STANDING]
    return found


def _may(what: str, kind: str) -> bool:
    """What is empty is just that; a sparse file is a file, where only some of it is asked for."""
    return kind == "a sparse file of 4 TB" and what in ("data of a store", "data, directly", "bytes of weights")


def _standing(name: str, kind: str, reader: Callable[[Path], object], folder: Path) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    STANDING[kind](path)
    reader(path)


def _long(reader: Callable[[Path], object], folder: Path) -> None:
    reader(folder / LONG / LONG)


def _nul(reader: Callable[[Path], object], folder: Path) -> None:
    reader(folder / "a\0b" / "c")
