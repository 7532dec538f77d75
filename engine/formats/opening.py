"""Opening whatever a person points at, a folder or a file, as a source of weights."""

from __future__ import annotations

from pathlib import Path

from engine.formats import gguf_files
from engine.formats.checkpoint import CONFIG, Checkpoint
from engine.formats.gguf_source import GgufSource
from engine.formats.origin import small_files
from engine.formats.packed import PackedCheckpoint
from engine.formats.packed_mlx import is_mlx
from engine.formats.packed_ways import packings
from engine.formats.source import WeightSource


def open_source(path: Path | str) -> WeightSource:
    """A folder of safetensors files with their config.json, a GGUF file (any part of a split one), or its folder.

    Raises UnderhillError: NOT_A_MODEL, UNSUPPORTED_MODEL, MISSING_FILE, BROKEN_FILE or DISK_ERROR.
    """
    path = Path(path)
    gguf = gguf_file(path)
    if gguf is not None:
        return GgufSource.open(gguf)
    return unpacked(Checkpoint.open(path))


def unpacked(checkpoint: Checkpoint) -> WeightSource:
    """A checkpoint as weights, where it holds them packed; itself otherwise.

    Raises UnderhillError: what PackedCheckpoint raises.
    """
    if is_mlx(checkpoint.config, checkpoint.entries):
        return PackedCheckpoint.of_mlx(checkpoint)
    found = packings(checkpoint.config, checkpoint.entries)
    return PackedCheckpoint.of(checkpoint, found) if found else checkpoint


def gguf_file(path: Path) -> Path | None:
    """The GGUF file that `path` is, or that a folder without a checkpoint of its own holds. None: it is none.

    Raises UnderhillError(BAD_REQUEST) when a folder holds several models as GGUF.
    """
    if path.is_dir():
        return None if (path / CONFIG).is_file() and any(path.glob("*.safetensors")) else gguf_files.only_model(path)
    return path if gguf_files.is_one(path) else None


def is_source(path: Path) -> bool:
    """Whether `path` looks like something to import, by its name and its files' names alone."""
    if path.is_dir():
        return (path / CONFIG).is_file() or any(path.glob("*" + gguf_files.SUFFIX))
    return path.is_file() and gguf_files.is_one(path)


def source_name(path: Path) -> str:
    """What a model made from `path` is called where nobody chose a name."""
    return path.resolve().name if path.is_dir() else gguf_files.model_name(path)


def source_files(path: Path) -> tuple[Path, ...]:
    """The originals of the source at `path`, by name alone: nothing is opened."""
    gguf = gguf_file(path)
    if gguf is not None:
        return gguf_files.parts(gguf)
    return (*sorted(path.glob("*.safetensors")), *small_files(path))
