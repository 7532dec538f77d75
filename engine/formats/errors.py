"""What can be wrong with a checkpoint, as errors a person can act on."""

from __future__ import annotations

from pathlib import Path

from engine.errors import Kind, UnderhillError
from engine.translatable import Translatable, msg, system_reason


def broken_file(sentence: Translatable) -> UnderhillError:
    """BROKEN_FILE: another download of the same file may be whole."""
    return UnderhillError(Kind.BROKEN_FILE, sentence, msg("Download the file again."))


def unusable_file(sentence: Translatable) -> UnderhillError:
    """BROKEN_FILE: it was made so, and another download would be the same."""
    return UnderhillError(Kind.BROKEN_FILE, sentence, msg("Use another version of the model."))


def unsupported_file(sentence: Translatable) -> UnderhillError:
    """UNSUPPORTED_MODEL: what this GGUF file holds can only be imported from safetensors files."""
    return UnderhillError(Kind.UNSUPPORTED_MODEL, sentence, msg("Use the model in safetensors format."))


def unreadable(path: Path, cause: OSError) -> UnderhillError:
    """DISK_ERROR for a part of a checkpoint."""
    return UnderhillError(
        Kind.DISK_ERROR,
        msg("Can't read {path} ({strerror}).", path=path, strerror=system_reason(cause)),
        msg("Check the disk and its permissions."),
    )


def missing(path: Path) -> UnderhillError:
    """MISSING_FILE for a part of a checkpoint."""
    return UnderhillError(
        Kind.MISSING_FILE,
        msg("{name} is missing from {parent}.", name=path.name, parent=path.parent),
        msg("Download the model again."),
    )


def missing_tensor(name: str) -> UnderhillError:
    """MISSING_FILE for a tensor that is not there."""
    return UnderhillError(
        Kind.MISSING_FILE, msg("The checkpoint lacks the tensor {name}.", name=name), msg("Download the model again.")
    )
