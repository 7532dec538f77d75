"""Numbers as people read them."""

from __future__ import annotations

from app.language.words import say


def size(count: float) -> str:
    """Bytes in the largest unit that keeps the number at 1 or more: '512 B', '38 MB', '1.4 GB'."""
    for unit in ("B", "kB", "MB", "GB"):
        if abs(count) < 1000:
            return f"{count:.0f} {unit}" if unit in ("B", "kB") or count >= 100 else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.2f} TB"


def percent(share: float) -> str:
    """A share of 1: '64 %'."""
    return say("{number:.0f} %", number=100 * share)


def time_left(seconds: float | None) -> str:
    """Time, for people; empty where not known."""
    if seconds is None:
        return ""
    minutes = seconds / 60
    if minutes < 1.5:
        if seconds > 45:
            return say("about a minute left")
        return say("{seconds:.0f} s left", seconds=max(seconds, 1))
    if minutes < 90:
        return say("{minutes:.0f} min left", minutes=minutes)
    return say("{hours:.1f} h left", hours=minutes / 60)
