"""Numbers and the user's texts as widgets show them."""

from __future__ import annotations

from html import escape

from app.i18n.translate import tr


def plain_tip(text: str) -> str:
    """Escape the user's text for a tooltip: shown as it is, broken into lines where it is long."""
    return f"<p style='white-space:pre-wrap'>{escape(text)}</p>" if text else ""


def plain_entry(text: str) -> str:
    """Escape the user's text for a menu entry or a button: no letter of it is a key, nor a tab the beginning of one."""
    return text.replace("&", "&&").replace("\t", " ")


def size(count: float) -> str:
    """Format bytes in the largest unit that keeps the number at 1 or more: '512 B', '38 MB', '1.4 GB'."""
    for unit in ("B", "kB", "MB", "GB"):
        if abs(count) < 1000:
            return f"{count:.0f} {unit}" if unit in ("B", "kB") or count >= 100 else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.2f} TB"


def percent(share: float) -> str:
    """Format a share of 1: '64 %'."""
    return tr("{number:.0f} %", number=100 * share)


def time_left(seconds: float | None) -> str:
    """Format the time left for people; empty where not known."""
    if seconds is None:
        return ""
    minutes = seconds / 60
    if minutes < 1.5:
        if seconds > 45:
            return tr("about a minute left")
        return tr("{seconds:.0f} s left", seconds=max(seconds, 1))
    if minutes < 90:
        return tr("{minutes:.0f} min left", minutes=minutes)
    return tr("{hours:.1f} h left", hours=minutes / 60)
