"""A log for faults that end the process (a segmentation fault, an abort): written now, shown at the next start."""

from __future__ import annotations

import faulthandler
import time
from pathlib import Path
from typing import TextIO


def begin(path: Path) -> tuple[TextIO | None, str, Path | None]:
    """Send faults to `path`. Returns the open log, what the last run left in it, and where that is kept now.

    Where nothing can be written there is no log: (None, '', None).
    """
    left, kept = "", None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists() and path.stat().st_size:
            left = path.read_text(encoding="utf-8", errors="replace")
            kept = path.with_name(f"crash-{time.strftime('%Y-%m-%d-%H%M%S')}.log")
            path.replace(kept)
        log = path.open("w", encoding="utf-8")
    except OSError:
        return None, left, kept
    faulthandler.enable(log)
    return log, left, kept


def end(log: TextIO | None) -> None:
    """The run ended as it should."""
    faulthandler.disable()
    if log is not None:
        log.close()
