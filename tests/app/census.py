"""What a window holds at a moment: objects by type, Qt's as well as Python's, and memory; and what grows over time."""

from __future__ import annotations

import gc
import os
import statistics
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from types import MethodType
from weakref import ReferenceType

from PySide6.QtCore import SIGNAL, QCoreApplication, QEvent, QObject, qInstallMessageHandler

from app.application import Application

# What others keep: coverage a tracer of every thread that ever ran; `struct` a hundred formats, and then none of them.
NOT_OURS = ("coverage.collector.", "_struct.Struct")
_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


@dataclass(frozen=True)
class Census:
    """switches: chats opened so far. python, qt: how many of each type. listeners: of a change of theme."""

    switches: int
    python: Counter[str]
    qt: Counter[str]
    listeners: int
    rss: int  # bytes


def take(underhill: Application, switches: int) -> Census:
    """Count, once all that is to be deleted is. The window should be in the same state each time."""
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    gc.collect()
    python = Counter(
        sys.intern(_kind(o)) for o in gc.get_objects() if not isinstance(o, Census | Counter) and not _gone(o)
    )
    for kind in [kind for kind in python if any(name in kind for name in NOT_OURS)]:
        del python[kind]
    qt = children(underhill.window) + children(underhill.main_queue)
    listeners = underhill.theme.receivers(SIGNAL("changed()"))
    return Census(switches, python, qt, listeners, resident())


def _gone(thing: object) -> bool:
    """Whether it refers to nothing any more: Qt's binding drops those of receivers now and then, all at once."""
    return type(thing) is ReferenceType and thing() is None


def _kind(thing: object) -> str:
    """Its type; of a method that is bound to something, the method."""
    if isinstance(thing, MethodType):
        return f"method {thing.__func__.__module__}.{thing.__func__.__qualname__}"
    return f"{type(thing).__module__}.{type(thing).__qualname__}"


def children(root: QObject) -> Counter[str]:
    """Qt's own objects below `root`, by class. Read off what Qt prints: asking for them would make Python objects."""
    lines: list[str] = []
    before = qInstallMessageHandler(lambda kind, context, text: lines.append(text))
    root.dumpObjectTree()
    qInstallMessageHandler(before)
    return Counter(line.split("::")[0].strip() for line in lines)


def resident() -> int:
    """Bytes of memory of this process; 0 where the system does not say."""
    status = Path("/proc/self/statm")
    return int(status.read_text(encoding="utf-8").split()[1]) * _PAGE if status.exists() else 0


def growing(counts: list[Census], share: float = 0.5) -> dict[str, int]:
    """Types of which there are at least `share` more for each chat opened from the first census to the last, and by how
    many. What comes and goes does not count: each half of the time has to have added its part.
    """
    first, middle, last = counts[0], counts[len(counts) // 2], counts[-1]
    enough = max(1.0, share * (last.switches - first.switches))
    found: dict[str, int] = {}

    def look(name: str, a: int, b: int, c: int) -> None:
        if c - a >= enough and min(b - a, c - b) >= enough / 4:
            found[name] = c - a

    for name in last.python:
        if name.startswith("builtins.") and last.python[name] - first.python[name] < 4 * enough:
            continue  # some tuples more or less are the interpreter's own
        look(name, first.python[name], middle.python[name], last.python[name])
    for name in last.qt:
        look(f"Qt {name}", first.qt[name], middle.qt[name], last.qt[name])
    look("listeners of the theme", first.listeners, middle.listeners, last.listeners)
    return found


def memory_growth(counts: list[Census]) -> int:
    """Bytes by which the last quarter of the samples lies above the quarter before the middle."""
    quarter = max(1, len(counts) // 4)
    before = statistics.median(c.rss for c in counts[quarter : 2 * quarter] or counts[:1])
    return round(statistics.median(c.rss for c in counts[-quarter:]) - before)
