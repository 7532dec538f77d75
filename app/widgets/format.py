"""Numbers as people read them."""

from __future__ import annotations


def size(count: float) -> str:
    """Bytes in the largest unit that keeps the number at 1 or more: '512 B', '38 MB', '1.4 GB'."""
    for unit in ("B", "kB", "MB", "GB"):
        if abs(count) < 1000:
            return f"{count:.0f} {unit}" if unit in ("B", "kB") or count >= 100 else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.2f} TB"


def time_left(seconds: float | None) -> str:
    """Time, for people; empty where not known."""
    if seconds is None:
        return ""
    minutes = seconds / 60
    if minutes < 1.5:
        return "about a minute left" if seconds > 45 else f"{max(seconds, 1):.0f} s left"
    return f"{minutes:.0f} min left" if minutes < 90 else f"{minutes / 60:.1f} h left"
