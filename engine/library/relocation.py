"""Relocation: models moved from one folder of the library to another, and folders of stores taken into it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from engine.convert.importer import Report
from engine.errors import Kind, UnderhillError
from engine.formats.errors import unreadable
from engine.formats.opening import is_source
from engine.library import folders, library, partial_imports, store_copy
from engine.library.entries import AdoptedModel
from engine.library.home import BUILTIN, RESERVED, checked_name
from engine.library.listing import listing
from engine.store import manifest as manifests
from engine.translatable import Translatable, msg


def move(name: str, folder: Path | str, report: Report, wanted: Callable[[], None] = lambda: None) -> Path:
    """Move a model to another folder of the library, or along the way of an earlier, interrupted move of it.

    Copied, checked and put in place before the old one goes; until then the old one is as good as before. Moving a
    model to the folder it is in removes what interrupted moves have left elsewhere. wanted: called before anything is
    changed for good; may raise. Raises UnderhillError: NOT_A_MODEL, BAD_REQUEST, BUSY, DISK_FULL, DISK_ERROR,
    BROKEN_FILE; the model is then where it was, or, where only the removal of the old one failed, in its new place.
    """
    goal = folders.known(folder)
    source = library.location(name)
    if name == BUILTIN:
        raise UnderhillError(Kind.BAD_REQUEST, msg("The built-in model can't be moved."), msg("It is small."))
    if not source.is_dir():
        raise UnderhillError(Kind.NOT_A_MODEL, msg("No model named {name}.", name=name))
    for other in folders.present():
        if other != goal or source.parent == goal:
            store_copy.discard(other / name)
    if source.parent == goal:
        return source
    destination = folders.for_new(goal) / name
    if destination.exists() and store_copy.read(destination) is None:
        raise UnderhillError(
            Kind.BAD_REQUEST,
            msg(
                "{destination} already exists.",
                destination=destination,
            ),
            msg("Rename or move it, or choose another folder."),
        )

    def asked(phrase: Translatable, done: int, total: int) -> None:
        report(phrase, done, total)
        if done == total:
            wanted()

    wanted()
    try:
        if destination.exists():  # put in place before, by a move that was cut off
            store_copy.finish(destination)
        else:
            store_copy.copy(source, destination, asked, move=True)
    except UnderhillError as error:
        if not destination.exists():
            raise library.with_trash(error, goal) from error
        raise UnderhillError(
            error.kind,
            msg("{name} moved to {goal}, but the old copy couldn't be removed.", name=name, goal=goal),
            msg("{sentence} Trying again later.", sentence=error.sentence),
        ) from error
    listing()  # which remembers it there, for when that folder is out of reach
    return destination


def is_unfinished(name: str) -> bool:
    """Whether an import of this name can be gone on with."""
    try:
        return partial_imports.read(folders.location(name)) is not None
    except UnderhillError:  # no name at all
        return False


def holds_stores(folder: Path) -> bool:
    """Whether `folder` is one with models of Underhill in it, rather than a model."""
    if not folder.is_dir() or (folder / manifests.NAME).is_file() or is_source(folder):
        return False
    return bool(_stores(folder))


def adopt(folder: Path, progress: Report) -> tuple[AdoptedModel, ...]:
    """Copy every store in `folder` into the library, each checked; what cannot come along says why.

    Raises UnderhillError(NOT_A_MODEL) when there is none in it, CANCELLED or whatever else progress raises.
    """
    stores = _stores(folder)
    if not stores:
        raise UnderhillError(
            Kind.NOT_A_MODEL,
            msg("No model in {folder}.", folder=folder),
            msg("Choose a folder with config.json and .safetensors files, or a model folder of this app."),
        )
    return tuple(_adopted(path, progress) for path in stores)


def _stores(folder: Path) -> list[Path]:
    try:
        there = sorted(folder.iterdir())
    except OSError as cause:
        raise unreadable(folder, cause) from cause
    return [p for p in there if (p / manifests.NAME).is_file() and not p.name.endswith(RESERVED)]


def _adopted(path: Path, progress: Report) -> AdoptedModel:
    try:
        checked_name(path.name)
        return AdoptedModel(path.name, str(library.add(path, path.name, progress=progress)))
    except UnderhillError as error:
        if error.kind is Kind.CANCELLED:
            raise
        return AdoptedModel(path.name, problem=error.sentence, action=error.action)
