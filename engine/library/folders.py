"""The folders that models live in, on as many disks as there are; one whose disk is unplugged is not forgotten."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from engine import filesystem
from engine.errors import Kind, UnderhillError
from engine.filesystem import OLD
from engine.library import offline_index, settings_file
from engine.library.home import BUILTIN, COPY, checked_name, home
from engine.store import manifest as manifests
from engine.store.journal import PARTIAL
from engine.store.output import writing
from engine.translatable import msg, quoted

OWN = "default"  # how the setting writes the folder in Underhill's own data
MARK = ".underhill-models"  # a file in every added folder: without it, an empty mount point is not that folder


@dataclass(frozen=True)
class DiskSpace:
    """Bytes of a disk, and whether files can be made in the folder."""

    free: int
    total: int
    writable: bool


def own() -> Path:
    """The folder that is always there: in Underhill's data."""
    return home() / "models"


def paths() -> tuple[Path, ...]:
    """All folders, whether they are there now or not; new models go into the first."""
    lines = str(settings_file.read()["model_folders"]).split("\n")
    named = [own() if line == OWN else Path(line) for line in map(str.strip, lines) if line]
    relative = next((p for p in named if not p.is_absolute()), None)
    if relative is not None:
        raise UnderhillError(
            Kind.BAD_REQUEST,
            msg("The model folder {relative} isn't a full path.", relative=quoted(str(relative))),
            msg("Correct it in {file}.", file=settings_file.file()),
        )
    return tuple(dict.fromkeys((*named, own())))


def present() -> tuple[Path, ...]:
    """The folders that are there now."""
    return tuple(p for p in paths() if is_there(p))


def is_there(folder: Path) -> bool:
    """Whether a folder, and not just the place where its disk would be, is there."""
    if folder == own():
        return True
    # An unplugged disk leaves its mount point, an empty folder on the system's disk: models would be imported into it,
    # and those on the disk listed as gone.
    return folder.is_dir() and (not offline_index.marked(folder) or (folder / MARK).is_file())


def location(name: str) -> Path:
    """Where the model of this name is, or what there is of it; where it would be, if nowhere. What only is called so, a
    folder or file of somebody's, is no model where there is one.

    Raises UnderhillError(BAD_REQUEST) for impossible names.
    """
    checked_name(name)
    if name == BUILTIN:
        return own() / name
    for folder in present():
        if (folder / name / manifests.NAME).is_file():
            return folder / name
    for ending in ("", PARTIAL, COPY, OLD):
        for folder in present():
            if (folder / (name + ending)).exists():
                return folder / name
    return paths()[0] / name


def for_new(folder: Path) -> Path:
    """`folder`, where it can take a model now. Raises UnderhillError(DISK_ERROR)."""
    if not is_there(folder):
        raise not_there(folder)
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    if not os.access(folder, os.W_OK):
        raise UnderhillError(
            Kind.DISK_ERROR,
            msg("Can't write to {folder}.", folder=folder),
            msg("Choose another folder, or change its permissions."),
        )
    return folder


def known(folder: Path | str) -> Path:
    """The folder of the library that is meant. Raises UnderhillError(BAD_REQUEST) where it is none."""
    wanted = Path(os.path.abspath(Path(folder).expanduser()))
    found = next((p for p in paths() if p == wanted or _same(p, wanted)), None)
    if found is None:
        raise UnderhillError(
            Kind.BAD_REQUEST,
            msg("{wanted} isn't a model folder.", wanted=wanted),
            msg(
                "Available: {paths}. Add others in Settings.",
                paths=", ".join(map(str, paths())),
            ),
        )
    return found


def add(folder: Path | str, *, first: bool = False) -> None:
    """Let models live in a folder; stores that are in it already are in the library from now on.

    first: new models go there. A folder that is known already changes its place only. Raises UnderhillError:
    BAD_REQUEST, DISK_ERROR.
    """
    path = Path(os.path.abspath(Path(folder).expanduser()))
    if "\n" in str(path) or "\r" in str(path):
        raise UnderhillError(Kind.BAD_REQUEST, msg("A folder name can't have line breaks."))
    if (path / manifests.NAME).is_file():
        raise UnderhillError(
            Kind.BAD_REQUEST,
            msg("{path} is itself a model.", path=path),
            msg("Choose its parent folder, or import the model."),
        )
    path = next((p for p in paths() if p == path or _same(p, path)), path)
    if path != own():
        if not path.parent.is_dir():
            raise UnderhillError(
                Kind.BAD_REQUEST,
                msg("Can't create {path}: {parent} doesn't exist.", path=path, parent=path.parent),
                msg("Create that folder first, or connect its disk."),
            )  # fmt: skip
        with writing(path):
            path.mkdir(exist_ok=True)
        marked = _mark(path)
        with writing(path):
            holds = marked or any((p / manifests.NAME).is_file() for p in path.iterdir())
        if not holds:
            raise UnderhillError(
                Kind.BAD_REQUEST, msg("{path} isn't writable and contains no models.", path=path),
                msg("Choose another folder, or change its permissions."),
            )  # fmt: skip
        offline_index.note_mark(path, marked)
    others = [p for p in paths() if p != path]
    set_order([path, *others] if first else [*others, path] if path not in paths() else paths())


def forget(folder: Path | str) -> None:
    """Take a folder out of the library; what is in it stays on the disk. Raises UnderhillError(BAD_REQUEST)."""
    path = known(folder)
    if path == own():
        raise UnderhillError(Kind.BAD_REQUEST, msg("The app's own folder can't be removed."))
    set_order([p for p in paths() if p != path])
    if is_there(path):
        with suppress(OSError):  # a mark that stays harms nothing
            filesystem.remove(path / MARK, missing_ok=True)
    offline_index.forget(path)


def choose(text: str) -> None:
    """Make the folders those of the setting `model_folders`, in its order: new ones are added, the others forgotten.

    Raises UnderhillError: BAD_REQUEST, with everything as it was, where one is no whole path; what `add` raises.
    """
    lines = [line for line in map(str.strip, text.split("\n")) if line]
    wanted = [own() if line == OWN else Path(line).expanduser() for line in lines]
    relative = next((p for p in wanted if not p.is_absolute()), None)
    if relative is not None:
        raise UnderhillError(
            Kind.BAD_REQUEST,
            msg("The model folder {relative} isn't a full path.", relative=quoted(str(relative))),
            msg("Start from the disk's root."),
        )
    for path in wanted:
        if path not in paths():
            add(path)
    for path in paths():
        if path not in (*wanted, own()):
            forget(path)
    set_order(tuple(dict.fromkeys((*wanted, own()))))


def set_order(folders: Sequence[Path]) -> None:
    """Keep the folders, in this order."""
    text = "\n".join(OWN if p == own() else str(p) for p in folders)
    settings_file.change({"model_folders": "" if text == OWN else text})


def disk_space(folder: Path) -> DiskSpace:
    """Of the disk of a folder, which need not have been made yet. Raises UnderhillError(DISK_ERROR)."""
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    with writing(folder):
        usage = shutil.disk_usage(folder)
    return DiskSpace(usage.free, usage.total, os.access(folder, os.W_OK))


def not_there(folder: Path) -> UnderhillError:
    """DISK_ERROR for a folder whose disk is not connected."""
    return UnderhillError(
        Kind.DISK_ERROR,
        msg("The folder {folder} isn't available.", folder=folder),
        msg("Connect its disk, or choose another folder."),
    )


def _mark(folder: Path) -> bool:
    """Whether the folder has its mark; one that cannot be written goes without."""
    try:
        (folder / MARK).write_text("Underhill keeps models in this folder.\n", encoding="utf-8")
    except OSError:
        return False
    return True


def _same(a: Path, b: Path) -> bool:
    try:
        return a.samefile(b)
    except OSError:
        return False
