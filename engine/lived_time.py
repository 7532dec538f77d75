"""How long ago something was, as far as this computer can have lived through it: a clock that jumps ages nothing."""

from __future__ import annotations

import json
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.filesystem import replace_file
from engine.regular_file import read_json

NAME = "lived.json"
DAY = 86400.0  # seconds that may pass between two looks; of what passes beyond them nobody knows whether it did
MOST = 1000  # gaps that are remembered

Gap = tuple[float, float]


@dataclass(frozen=True)
class LivedTime:
    """now: the clock, seconds since 1970. gaps: from .. to, what it says has passed and nobody has seen passing."""

    now: float
    gaps: tuple[Gap, ...]

    def since(self, at: float) -> float:
        """Seconds since then that count; never below 0."""
        unseen = sum(max(0.0, end - max(start, at)) for start, end in self.gaps)
        return max(0.0, self.now - at - unseen)


def look(folder: Path, now: float | None = None) -> LivedTime:
    """Look at the clock, and remember in `folder` that it was looked at.

    Between two looks a day counts at most: so a clock that is set forward by a year, or a battery that forgets the
    date, empties no trash. A computer that is used once a week ages what is deleted by a day each time. What was
    noted by a clock ahead of this one has never been. Without a note all that was before counts for nothing.
    """
    now = time.time() if now is None else now
    last, gaps = _read(folder / NAME)
    # Noted while the clock was ahead of now: set back since, it will come by that time once more.
    gaps = [gap for gap in gaps if gap[1] <= now]
    if last is None:
        gaps.append((0.0, now))
    elif now - last > DAY:
        gaps.append((last + DAY, now))
    _write(folder / NAME, now, gaps[-MOST:])
    return LivedTime(now, tuple(gaps))


def _read(file: Path) -> tuple[float | None, list[Gap]]:
    """When it was looked at last, None where that is not known, and the gaps by then."""
    with suppress(OSError, ValueError, KeyError, TypeError):
        found: dict[str, Any] = read_json(file)
        gaps = [(float(start), float(end)) for start, end in found["gaps"]]
        return float(found["last"]), gaps
    return None, []


def _write(file: Path, now: float, gaps: list[Gap]) -> None:
    """Where nothing can be written, the next look finds the last note, or none: what is deleted stays longer then."""
    with suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        replace_file(file, json.dumps({"last": now, "gaps": gaps}).encode())
