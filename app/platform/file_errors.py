"""Errors in words for a path that cannot be opened as a file."""

from __future__ import annotations

import contextlib
import errno
from pathlib import Path

from app.i18n.problem import problem
from app.i18n.translate import tr
from engine import protocol, regular_file


def file_error(path: Path, cause: Exception) -> protocol.UnderhillError | None:
    """None where it is a file, and something else is wrong with it."""
    name, kind = path.name, protocol.Kind.BAD_REQUEST
    if isinstance(cause, regular_file.NotAFile):
        sentence = tr("{file} is not a file but a device or a pipe.", file=name)
        action = tr("Choose another file.")
    elif isinstance(cause, OSError) and cause.errno == errno.ENAMETOOLONG:
        sentence = tr("The path of {file} is too long for this system.", file=f"{name[:60]}…")
        action = tr("Move the file to a folder nearer the top, or give it a shorter name.")
    elif _is_folder(path):
        sentence, action = tr("{file} is a folder.", file=name), tr("Choose the files in it that matter.")
    elif isinstance(cause, FileNotFoundError):
        kind, sentence = protocol.Kind.MISSING_FILE, tr("{file} is not there any more.", file=name)
        action = tr("Choose another file.")
    else:
        return None
    return problem(kind, sentence, action)


def _is_folder(path: Path) -> bool:
    with contextlib.suppress(OSError):
        return path.is_dir()
    return False
