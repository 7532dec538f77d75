"""Processor time by thread, as Linux counts it; elsewhere nothing is known of single threads."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path

LIBRARIES = "threads of libraries"


def own() -> Counter[str]:
    """Seconds of this process by Python's names of its threads; the threads of libraries together."""
    names = {thread.native_id: thread.name for thread in threading.enumerate()}
    return _gathered("self", lambda task: names.get(int(task.name), LIBRARIES))


def of(pid: int) -> Counter[str]:
    """Seconds of another process by the system's names of its threads; those of one name together."""
    return _gathered(str(pid), lambda task: (task / "comm").read_text(encoding="utf-8", errors="replace").strip())


def _gathered(process: str, name: Callable[[Path], str]) -> Counter[str]:
    found: Counter[str] = Counter()
    folder = Path(f"/proc/{process}/task")
    for task in folder.iterdir() if folder.exists() else ():
        try:
            found[name(task)] += int((task / "schedstat").read_text().split()[0]) / 1e9
        except OSError:  # it has ended meanwhile
            continue
    return found
