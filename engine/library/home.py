"""Where everything of Underhill lives, and what a model may be called."""

from __future__ import annotations

import os
from pathlib import Path, PureWindowsPath

import platformdirs

from engine.errors import Kind, UnderhillError
from engine.filesystem import OLD
from engine.store.journal import PARTIAL
from engine.translatable import msg, quoted

HOME = "UNDERHILL_HOME"  # environment variable: where everything of Underhill lives instead of the usual place
BUILTIN = "builtin"  # the model that comes with Underhill
COPY = ".copy"  # ending of a copy that is not whole yet
RESERVED = (PARTIAL, OLD, COPY, ".lock")
LONGEST = 200  # bytes of a name: file systems take 255, and endings and times are added to it


def home() -> Path:
    """The directory of Underhill's data. It need not exist."""
    return Path(os.environ.get(HOME) or platformdirs.user_data_dir("underhill", appauthor=False))


def checked_name(name: str) -> str:
    """The name, where a model can be called so on every system: to some, letters large and small are the same.

    Raises UnderhillError(BAD_REQUEST).
    """
    # By the strictest system, so that a disk with models can be carried from one to the other.
    if (
        not name
        or name != name.strip()
        or name.startswith(".")
        or name.lower().endswith((*RESERVED, "."))
        or any(c in '<>:"/\\|?*' or ord(c) < 32 or 0xD800 <= ord(c) < 0xE000 for c in name)
        or len(name.encode()) > LONGEST
        or PureWindowsPath(name).is_reserved()
    ):
        raise UnderhillError(
            Kind.BAD_REQUEST,
            msg("A model can't be named {name}.", name=quoted(name)),
            msg("Use letters, digits, spaces, - and _."),
        )
    return name
