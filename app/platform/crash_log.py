"""Logs of faults that end the window's process or the engine's: written now, shown at the next start."""

from __future__ import annotations

import faulthandler
import time
from pathlib import Path
from typing import TextIO

from engine.regular_file import is_regular, open_regular

MAX_SHOWN = 1 << 20  # bytes of a log that are shown; the file itself is kept whole


def begin(path: Path) -> tuple[TextIO | None, str, Path | None]:
    """Send faults to `path`. Returns the open log, what the last run left in it, and where that is kept now.

    Where nothing can be written there is no log: (None, '', None).
    """
    left, kept = take(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists() and not is_regular(path):  # to open a pipe that nobody reads would wait for ever
            return None, left, kept
        log = path.open("w", encoding="utf-8")
    except OSError:
        return None, left, kept
    faulthandler.enable(log)
    return log, left, kept


def take(path: Path) -> tuple[str, Path | None]:
    """What the last run left at `path`, and under which name it is kept from now on; ('', None) for nothing."""
    left = ""
    try:
        if not path.exists() or not path.stat().st_size:
            return "", None
        with open_regular(path) as log:
            left = log.read(MAX_SHOWN).decode("utf-8", "replace")
        kept = path.with_name(f"{path.stem}-{time.strftime('%Y-%m-%d-%H%M%S')}.log")
        path.replace(kept)
    except OSError:
        return left, None
    return left, kept


def note(path: Path, text: str) -> None:
    """Add to a log what is known of a fault. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as log:
        log.write(f"{time.strftime('%Y-%m-%d %H:%M:%S')}\n{text.strip()}\n\n")


def end(log: TextIO | None) -> None:
    """The run ended as it should."""
    faulthandler.disable()
    if log is not None:
        log.close()
