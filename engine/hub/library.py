"""The local library: where models live, which there are, and getting one ready to open."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import platformdirs

from engine import resources
from engine.errors import Kind, UnderhillError
from engine.hub.card import ModelCard
from engine.hub.cards import BUILTIN, describe
from engine.hub.headers import unreadable
from engine.hub.importer import Report, import_checkpoint
from engine.hub.sources.opening import gguf_file, is_source, source_files, source_name
from engine.hub.sources.source import bound
from engine.store import manifest as manifests
from engine.store import problems
from engine.store.atomic import OLD
from engine.store.lock import FileLock
from engine.store.manifest import FileHash
from engine.store.output import writing
from engine.store.reader import load_manifest
from engine.store.writer import PARTIAL, remove, sweep

HOME = "UNDERHILL_HOME"  # environment variable: where everything of Underhill lives instead of the usual place
TOP = 8  # tier that is stored where nobody chose one
WAIT = 600.0  # seconds to wait for another process that imports the built-in model
_RESERVED = (PARTIAL, OLD, ".lock")


def home() -> Path:
    """The directory of Underhill's data. It need not exist."""
    return Path(os.environ.get(HOME) or platformdirs.user_data_dir("underhill", appauthor=False))


def location(name: str) -> Path:
    """Where the model of this name is, or would be. Raises UnderhillError(BAD_REQUEST) for impossible names."""
    if (
        not name
        or name != name.strip()
        or name.startswith(".")
        or name.endswith((*_RESERVED, "."))
        or any(c in '<>:"/\\|?*' or ord(c) < 32 for c in name)
    ):
        raise UnderhillError(
            Kind.BAD_REQUEST, f"A model cannot be called {name!r}.", "Use letters, digits, spaces, - and _."
        )
    return home() / "models" / name


def models() -> tuple[Path, ...]:
    """The complete models, by name. What is damaged or unfinished is left out."""
    return tuple(Path(card.path) for card in cards())


def cards() -> tuple[ModelCard, ...]:
    """The complete models as lists show them, by name; the built-in one first."""
    root = home() / "models"
    found = []
    for path in sorted(root.iterdir(), key=lambda p: (p.name != BUILTIN, p.name.lower())) if root.is_dir() else ():
        if path.name.endswith(_RESERVED):
            continue
        try:
            found.append(card(path))
        except UnderhillError:
            continue
    return tuple(found)


def card(path: Path) -> ModelCard:
    """The card of one store.

    Raises UnderhillError when its manifest is damaged, or a data file is missing or cannot be reached.
    """
    manifest = load_manifest(path)
    try:
        for file in (*(x.file for x in manifest.layers), manifest.dense_file):
            if not (path / file).is_file():
                raise UnderhillError(
                    Kind.MISSING_FILE, f"{file} is missing from {path.name}.", "Import the model again."
                )
        return describe(path, manifest)
    except OSError as cause:
        raise problems.unreadable(path, cause) from cause


def tier_report(path: Path) -> list[tuple[int, float, float]]:
    """(tier, bits to read per weight, relative L2 error against the original) of a store, coarse first."""
    return [(q.tier, q.bits_per_weight, q.relative_error) for q in load_manifest(path).quality]


def source_note(path: Path) -> str:
    """What a quantized source means for a store made from it; '' where it was not quantized."""
    source = load_manifest(path).source
    return bound(source.form, source.bits)


def prepare(model: str | Path, progress: Report | None = None) -> Path:
    """The store of a model, imported first where need be.

    model: 'builtin', a name of the library, or the path of a store, a checkpoint or a GGUF file. Raises UnderhillError:
    NOT_A_MODEL when there is no such thing, and what importing raises.
    """
    if model == BUILTIN:
        return _builtin(progress)
    path = Path(model)
    if isinstance(model, str) and not any(c in model for c in "/\\") and not path.is_dir() and not is_source(path):
        found = {p.name: p for p in models()}
        if model in found:
            return found[model]
        if (location(model) / manifests.NAME).is_file():
            return location(model)  # damaged, or of an older version; opening it says which
        raise UnderhillError(
            Kind.NOT_A_MODEL,
            f"There is no model called {model} in the library.",
            f"There are: {', '.join([BUILTIN, *(n for n in found if n != BUILTIN)])}.",
        )
    if (path / manifests.NAME).is_file():
        return path
    if not is_source(path):
        raise UnderhillError(
            Kind.NOT_A_MODEL,
            f"{path} is not a model.",
            "Choose a folder that holds config.json and .safetensors files, a GGUF file, or a model of the library.",
        )
    path = gguf_file(path) or path
    return _imported(path, progress) or add(path, _free_name(path), TOP, progress)


def add(path: Path, name: str = "", top: int = TOP, progress: Report | None = None) -> Path:
    """Import the checkpoint directory or GGUF file `path` into the library. name: '' takes its own.

    An interrupted import of the same name is continued. Raises UnderhillError(BAD_REQUEST) when the name is taken,
    and what import_checkpoint raises.
    """
    path = gguf_file(path) or path
    name = name or source_name(path)
    destination = location(name)
    if name == BUILTIN or destination.exists():
        raise UnderhillError(
            Kind.BAD_REQUEST, f"There is already a model called {name}.", "Choose another name, or delete that one."
        )
    if (path / manifests.NAME).is_file():
        raise UnderhillError(Kind.BAD_REQUEST, f"{path} is imported already.", "Open it directly.")
    sweep(destination.parent)
    return import_checkpoint(path, destination, top, progress=progress)


def delete(name: str) -> None:
    """Remove a model, or what there is of an interrupted import or removal. The built-in one returns at its next use.

    Raises UnderhillError: NOT_A_MODEL, BUSY while it is being imported, DISK_ERROR.
    """
    path = location(name)
    if not any(path.with_name(name + ending).exists() for ending in ("", PARTIAL, OLD)):
        raise UnderhillError(Kind.NOT_A_MODEL, f"There is no model called {name}.")
    remove(path)


def _builtin(progress: Report | None) -> Path:
    """The built-in model's store, imported at its first use and whenever the shipped files have changed."""
    source, destination = resources.path("builtin", "model"), location(BUILTIN)
    shipped = _fingerprint(source)
    sweep(destination.parent)
    if not _made_from(destination, shipped):
        with _builtin_lock(destination):
            if not _made_from(destination, shipped):  # another process may have done it meanwhile
                import_checkpoint(source, destination, TOP, progress=progress)
    return destination


def renew_builtin(progress: Report | None = None) -> Path:
    """Make the built-in model's store anew, whatever it looks like: damage inside its data shows only when it is read.

    Raises UnderhillError as importing does.
    """
    destination = location(BUILTIN)
    with _builtin_lock(destination):
        return import_checkpoint(resources.path("builtin", "model"), destination, TOP, progress=progress)


@contextmanager
def _builtin_lock(destination: Path) -> Iterator[None]:
    """One process at a time imports the built-in model; the others wait for it."""
    with writing(destination):
        destination.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(destination.with_name(f"{BUILTIN}.first-use.lock"), "The import of the built-in model", WAIT):
        yield


def _imported(path: Path, progress: Report | None) -> Path | None:
    """A model of the library that was made from exactly this checkpoint."""
    files = [(f.name, f.stat().st_size) for f in source_files(path)]
    for store in models():
        try:
            source, imported = load_manifest(store).source, (store / manifests.NAME).stat().st_mtime
        except (UnderhillError, OSError):  # removed since it was listed
            continue
        if source.path != str(path.resolve()) or [(f.name, f.nbytes) for f in source.files] != files:
            continue
        untouched = all(f.stat().st_mtime < imported for f in source_files(path))
        if untouched or source.files == _fingerprint(path):  # hashing a large model takes a minute
            return store
    return None


def _free_name(path: Path) -> str:
    """The source's name, numbered where the library has another model of that name."""
    base = source_name(path)
    name, n = base, 2
    while name == BUILTIN or location(name).exists():
        name, n = f"{base}-{n}", n + 1
    return name


def _made_from(store: Path, files: tuple[FileHash, ...]) -> bool:
    """Whether `store` is complete and was imported from these files."""
    try:
        card(store)
        return load_manifest(store).source.files == files
    except UnderhillError:
        return False


def _fingerprint(path: Path) -> tuple[FileHash, ...]:
    """The files of a checkpoint as its store's manifest lists them."""
    result = []
    for file in source_files(path):
        sha = hashlib.sha256()
        try:
            with file.open("rb", buffering=0) as f:
                while chunk := f.read(8 << 20):
                    sha.update(chunk)
        except OSError as cause:
            raise unreadable(file, cause) from cause
        result.append(FileHash(file.name, file.stat().st_size, sha.hexdigest()))
    return tuple(result)
