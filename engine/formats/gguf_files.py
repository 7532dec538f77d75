"""GGUF files by their names: which belong together, and which of a folder is the model."""

from __future__ import annotations

import re
from pathlib import Path

from engine.errors import Kind, UnderhillError
from engine.formats.safetensors_header import missing, unreadable
from engine.regular_file import is_regular, open_regular
from engine.translatable import msg

SUFFIX = ".gguf"
MAGIC = b"GGUF"
_PART = re.compile(r"(.+)-(\d{5})-of-(\d{5})\.gguf", re.IGNORECASE)
_EYES = re.compile(r"(^|[-_.])(mmproj|clip)", re.IGNORECASE)  # a vision tower beside a model


def is_one(path: Path) -> bool:
    """Whether a file is GGUF by its name, or, named by a digest as stores of other apps do, by how it begins."""
    if path.suffix.lower() == SUFFIX:
        return True
    if not path.name.startswith("sha256-") or not is_regular(path):
        return False
    try:
        with open_regular(path) as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError as cause:
        raise unreadable(path, cause) from cause


def parts(path: Path) -> tuple[Path, ...]:
    """All files of the model that `path` is (a part of), in order. Raises UnderhillError(MISSING_FILE)."""
    names = part_names(path.name)
    if len(names) == 1:
        return (path,)
    found = tuple(path.with_name(name) for name in names)
    for file in found:
        if not is_regular(file):
            raise missing(file)
    return found


def part_names(name: str) -> tuple[str, ...]:
    """The names of all files of the model that a file of this name is (a part of), in order."""
    match = _PART.fullmatch(name)
    if match is None:
        return (name,)
    stem, count, suffix = match.group(1), int(match.group(3)), name[-len(SUFFIX) :]
    return tuple(f"{stem}-{n:05d}-of-{count:05d}{suffix}" for n in range(1, count + 1))


def is_model(name: str) -> bool:
    """Whether a file of this name holds a model, or a part of one, as GGUF: no vision tower."""
    return name.lower().endswith(SUFFIX) and not _EYES.search(name)


def model_name(path: Path) -> str:
    """The file's name without its ending, and without what numbers a part."""
    match = _PART.fullmatch(path.name)
    return match.group(1) if match else path.stem


def only_model(folder: Path) -> Path | None:
    """The model that a folder holds as GGUF (the first part of a split one); None where there is none.

    Raises UnderhillError(BAD_REQUEST) when there are several.
    """
    files = [p for p in sorted(folder.iterdir()) if is_model(p.name)]
    models = {model_name(p): p for p in reversed(files)}
    if len(models) > 1:
        raise UnderhillError(
            Kind.BAD_REQUEST,
            msg("{folder} holds {models} models as GGUF files.", folder=folder, models=len(models)),
            msg("Choose one of the files: {models}.", models=", ".join(sorted(p.name for p in models.values()))),
        )
    return next(iter(models.values()), None)
