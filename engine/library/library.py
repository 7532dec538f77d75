"""The local library: where models live, which there are, and getting one ready to open."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from engine import resources
from engine.convert.importer import Report, file_sha256, import_checkpoint
from engine.convert.journal import StreamSource
from engine.errors import Kind, UnderhillError
from engine.filesystem import OLD
from engine.formats.opening import gguf_file, is_source, source_files, source_name
from engine.formats.source import again, bound
from engine.hardware.computer import running_low
from engine.library import damage, display_name, folders, lowering, partial_imports, settings_file, store_copy, trash
from engine.library.entries import MISSING, ModelCard
from engine.library.folders import location
from engine.library.home import BUILTIN, COPY, HOME, checked_name, home
from engine.library.listing import card, listing
from engine.library.unique_title import keep_unique
from engine.store import manifest as manifests
from engine.store.journal import PARTIAL
from engine.store.lock import FileLock
from engine.store.manifest import FileHash
from engine.store.output import writing
from engine.store.reader import load_manifest
from engine.store.writer import remove, remove_leftovers, store_lock
from engine.translatable import Translatable, joined, msg

__all__ = [
    "AUTOMATIC", "HOME", "TOP", "add", "add_arriving", "at_hand", "card", "cards", "delete", "go_on", "home", "listing",
    "location", "models", "prepare", "rename", "renew_builtin", "restore", "source_note", "taken", "tidy",
    "tier_report", "with_trash",
]  # fmt: skip

_log = logging.getLogger(__name__)

TOP = 8  # tier that the built-in model is stored with
AUTOMATIC = 0  # what suits a source: its own codes where it has about 4 bits, else 8
WAIT = 600.0  # seconds to wait for another process that imports the built-in model


def models() -> tuple[Path, ...]:
    """The complete models, by name. What is damaged or unfinished is left out."""
    return tuple(Path(card.path) for card in cards())


def cards() -> tuple[ModelCard, ...]:
    """The models that can be opened, by name; the built-in one first."""
    return tuple(card for card in listing() if card.usable)


def tier_report(path: Path) -> list[tuple[int, float, float]]:
    """(tier, bits to read per weight, relative L2 error against the original) of a store, coarse first."""
    return [(q.tier, q.bits_per_weight, q.relative_error) for q in load_manifest(path).quality]


def source_note(path: Path) -> Translatable:
    """What a quantized source means for a store made from it; '' where it was not quantized."""
    manifest = load_manifest(path)
    source, top = manifest.source, max(spec.top for spec in manifest.specs)
    notes = (
        bound(source.form, source.bits),
        again(source.form, source.bits, top, any(s.codings for s in manifest.specs)),
    )
    return joined(" ", notes)


def prepare(model: str | Path, progress: Report | None = None) -> Path:
    """The store of a model, imported first where need be.

    model: 'builtin', a name of the library, or the path of a store, a checkpoint or a GGUF file. Raises UnderhillError:
    NOT_A_MODEL when there is no such thing, and what importing raises.
    """
    if model == BUILTIN:
        return _builtin(progress)
    path = Path(model)
    if isinstance(model, str) and not any(c in model for c in "/\\") and not path.is_dir() and not is_source(path):
        if (known := _only(model)) is not None:
            return known  # damaged, or of an older version: opening it says which
        found = {p.name: p for p in models()}
        if model in found:
            return found[model]
        if (location(model) / manifests.NAME).is_file():
            return location(model)
        unusable = next((c for c in listing() if c.name == model), None)
        if unusable is not None:
            kind = Kind.DISK_ERROR if unusable.state == MISSING else Kind.NOT_A_MODEL
            raise UnderhillError(
                kind, msg("Can't load {model}: {problem}", model=model, problem=unusable.problem), unusable.action
            )
        raise UnderhillError(
            Kind.NOT_A_MODEL,
            msg("No model named {model}.", model=model),
            msg("Available: {builtin}.", builtin=", ".join([BUILTIN, *(n for n in found if n != BUILTIN)])),
        )
    if (path / manifests.NAME).is_file():
        return path
    if not is_source(path):
        raise UnderhillError(
            Kind.NOT_A_MODEL,
            msg("{path} isn't a model.", path=path),
            msg("Choose a folder with config.json and .safetensors files, a GGUF file, or an installed model."),
        )
    path = gguf_file(path) or path
    return _imported(path, progress) or add(path, _free_name(path), AUTOMATIC, progress)


def at_hand(model: str | Path) -> Path | None:
    """As `prepare`, but nothing is made of the built-in model: None where no store of it can be opened."""
    if model != BUILTIN:
        return prepare(model)
    try:
        return location(BUILTIN) if card(location(BUILTIN)).usable else None
    except UnderhillError:
        return None


def _only(name: str) -> Path | None:
    """The store of this name, where there is one only, without a look at any other; None where that takes one."""
    with suppress(UnderhillError):
        here = [
            folder / name for folder in folders.present() if (folder / checked_name(name) / manifests.NAME).is_file()
        ]
        return here[0] if len(here) == 1 else None
    return None


def add(
    path: Path, name: str = "", top: int = AUTOMATIC, progress: Report | None = None, battery: int | None = None
) -> Path:
    """Import the checkpoint directory or GGUF file `path` into the library. name: '' takes its own.

    top: bits of the finest tier; 0 takes what suits the source: where it was quantized to about 4 already, just these
    4, not quantized again; else 8.
    battery: percentage below which it rests until the computer is plugged in; None takes what the settings say.
    An interrupted import of the same name is continued. A store, as it was copied from another computer, is copied and
    checked instead. Raises UnderhillError(BAD_REQUEST) when the name is taken, and what import_checkpoint raises.
    """
    path = gguf_file(path) or path
    destination = _place(name or source_name(path))
    try:
        if (path / manifests.NAME).is_file():
            _adopted(path, destination, progress)
        else:
            with _logged(destination, top), partial_imports.noted(destination, str(path), top, progress) as report:
                import_checkpoint(path, destination, top, progress=report, wait=_low_battery(battery))
    except UnderhillError as error:
        raise with_trash(error, destination.parent) from error
    keep_unique(destination)
    return destination


def add_arriving(
    incoming: StreamSource,
    repo: str,
    name: str,
    top: int = AUTOMATIC,
    progress: Report | None = None,
    battery: int | None = None,
) -> Path:
    """Import a model into the library while it arrives from a hub, where it is called `repo`. As `add` otherwise."""
    destination = _place(name)
    try:
        noted = partial_imports.noted(destination, repo, top, progress, arriving=True)
        with _logged(destination, top), noted as report:
            import_checkpoint(incoming, destination, top, progress=report, wait=_low_battery(battery))
    except UnderhillError as error:
        raise with_trash(error, destination.parent) from error
    keep_unique(destination)
    return destination


@contextmanager
def _logged(destination: Path, top: int) -> Iterator[None]:
    """What fails is logged with its stack by whoever asked for it."""
    begun = time.monotonic()
    _log.info("Import of %s begins, finest tier %s", destination.name, top or "as the source has it")
    try:
        yield
    except BaseException as error:
        _log.info(
            "Import of %s ended after %.1f s: %s", destination.name, time.monotonic() - begun, type(error).__name__
        )
        raise
    _log.info("Import of %s is done after %.1f s", destination.name, time.monotonic() - begun)


def _place(name: str) -> Path:
    """Where a new model of this name goes, or where it was begun. Raises UnderhillError(BAD_REQUEST)."""
    destination = location(name)
    if name == BUILTIN or destination.exists():
        raise taken(name)
    if not any(destination.with_name(name + ending).exists() for ending in (PARTIAL, COPY)):
        destination = folders.for_new(folders.paths()[0]) / name
    remove_leftovers(destination.parent)
    return destination


def _low_battery(battery: int | None) -> Callable[[], Translatable]:
    mark = int(str(settings_file.read()["import_battery"] or 0)) if battery is None else battery
    return lambda: running_low(mark)


def _adopted(path: Path, destination: Path, progress: Report | None) -> None:
    """Copy a store from elsewhere, or one of the library under another name."""
    load_manifest(path)  # before a byte is copied
    store_copy.copy(path.resolve(), destination, progress or (lambda phrase, done, total: None))
    if destination.name != path.resolve().name:  # two models would be shown as one
        with writing(destination):
            display_name.keep(destination, "")


def go_on(name: str, progress: Report | None = None, battery: int | None = None) -> Path:
    """Continue the unfinished import of this name. Raises UnderhillError: NOT_A_MODEL where there is none."""
    begun = partial_imports.read(location(name))
    if begun is None:
        raise UnderhillError(
            Kind.NOT_A_MODEL,
            msg("No unfinished import named {name}.", name=name),
            msg("Import its source."),
        )
    if begun.arriving:
        raise UnderhillError(
            Kind.BAD_REQUEST,
            msg("{name} was being imported while downloading.", name=name),
            msg("Download {source} again to resume.", source=begun.source),
        )
    return add(Path(begun.source), name, begun.top, progress, battery)


def taken(name: str) -> UnderhillError:
    """BAD_REQUEST for a name that another model has."""
    return UnderhillError(
        Kind.BAD_REQUEST,
        msg("A model named {name} already exists.", name=name),
        msg("Choose another name or delete that one."),
    )


def with_trash(error: UnderhillError, folder: Path) -> UnderhillError:
    """Where a disk is full and deleted models lie on it: say what emptying the trash would bring."""
    waiting = trash.nbytes(folder) if error.kind is Kind.DISK_FULL else 0
    if not waiting:
        return error
    more = msg("Emptying the trash frees {waiting} MB.", waiting=f"{waiting / 1e6:,.0f}")
    return UnderhillError(error.kind, error.sentence, joined(" ", (error.action, more)))


def rename(name: str, title: str) -> Path:
    """Show the model of this name under another; `title` being its name, under that again. Returns its store.

    Commands, chats and programs go on asking for it by its name. Raises UnderhillError: BAD_REQUEST for the built-in
    model and for a title that is empty, too long or another model's, NOT_A_MODEL, BUSY while it is being imported or
    moved, DISK_ERROR, and where the model is damaged what `card` raises.
    """
    if name == BUILTIN:
        raise UnderhillError(
            Kind.BAD_REQUEST, msg("The built-in model can't be renamed."), msg("Rename a model that you added.")
        )
    shown, path = display_name.checked(title), location(name)
    if not path.is_dir():
        raise _not_there(name)
    card(path)
    others = (other for other in listing() if other.path != str(path))
    if any(shown.casefold() in (other.name.casefold(), other.title.casefold()) for other in others):
        raise taken(shown)
    with store_lock(path), writing(path):
        display_name.keep(path, "" if shown == name else shown)
    return path


def delete(name: str, *, now: bool = False) -> bool:
    """Move a model to the trash; True where it can be brought back.

    now: remove it for good. So is in any case what there is of an interrupted import, copy or removal, and the built-in
    model, which is made anew at its next use. Raises UnderhillError: NOT_A_MODEL, BUSY while it is being imported or
    moved, DISK_ERROR.
    """
    path = location(name)
    if not any(path.with_name(name + ending).exists() for ending in ("", PARTIAL, COPY, OLD)):
        raise _not_there(name)
    if not os.access(path.parent, os.W_OK):
        raise UnderhillError(
            Kind.DISK_ERROR,
            msg("Can't delete {name}: {parent} isn't writable.", parent=path.parent, name=name),
            msg("Make its disk writable, or remove the folder from the list."),
        )
    # Before the lock is taken: it takes the same one.
    store_copy.discard(path)
    if now or name == BUILTIN or not path.exists():
        remove(path)
        return False
    # Against an import, move or removal of the same name by another process; the model that is open here was asked for
    # before.
    with store_lock(path), writing(path):
        trash.put(path)
    remove(path)  # what else there is under this name
    return True


def restore(name: str, new_name: str = "") -> Path:
    """Bring a model back from the trash, as trash.restore does, shown by a name that no other model has meanwhile."""
    path = trash.restore(name, new_name)
    keep_unique(path)
    return path


def _not_there(name: str) -> UnderhillError:
    away = next((card for card in listing() if card.name == name and card.state == MISSING), None)
    if away is not None:
        return UnderhillError(Kind.DISK_ERROR, away.problem, away.action)
    there = ", ".join(card.name for card in listing())
    return UnderhillError(
        Kind.NOT_A_MODEL,
        msg("No model named {name}.", name=name),
        msg("Available: {there}.", there=there) if there else msg("Import one first."),
    )


def tidy() -> None:
    """What can be done unasked: end what was cut off in its last step, imports, removals and moves, and empty what was
    deleted a week ago."""
    for folder in folders.present():
        remove_leftovers(folder)
        partial_imports.remove_leftovers(folder)
        lowering.remove_leftovers(folder)
        for path in folder.glob("*/" + store_copy.NOTE):
            if not path.parent.name.endswith(COPY):
                with suppress(UnderhillError):  # in use: the next time
                    store_copy.finish(path.parent)
    trash.empty_expired()


def _builtin(progress: Report | None) -> Path:
    """The built-in model's store, imported at its first use and whenever the shipped files have changed."""
    source, destination = resources.path("builtin", "model"), location(BUILTIN)
    shipped = _fingerprint(source)
    remove_leftovers(destination.parent)
    if not _made_from(destination, shipped):
        with _builtin_lock(destination):
            if not _made_from(destination, shipped):  # another process may have done it meanwhile
                with _logged(destination, TOP):
                    import_checkpoint(source, destination, TOP, progress=progress)
    return destination


def renew_builtin(progress: Report | None = None) -> Path:
    """Import the built-in model again, whatever its store looks like: damage inside it shows only when it is read.

    Raises UnderhillError as importing does.
    """
    destination = location(BUILTIN)
    with _builtin_lock(destination), _logged(destination, TOP):
        return import_checkpoint(resources.path("builtin", "model"), destination, TOP, progress=progress)


@contextmanager
def _builtin_lock(destination: Path) -> Iterator[None]:
    """One process at a time imports the built-in model; the others wait for it."""
    with writing(destination):
        destination.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(destination.with_name(f"{BUILTIN}.first-use.lock"), msg("The import of the built-in model"), WAIT):
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
    """Whether `store` is complete, was imported from these files, and has not turned out to be damaged."""
    if damage.is_known(store):
        return False
    try:
        card(store)
        return load_manifest(store).source.files == files
    except UnderhillError:
        return False


def _fingerprint(path: Path) -> tuple[FileHash, ...]:
    """The files of a checkpoint as its store's manifest lists them."""
    return tuple(FileHash(file.name, file.stat().st_size, file_sha256(file)) for file in source_files(path))
