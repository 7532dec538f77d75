"""What a file of chats held, in a form that the database takes; and how odd values in such files are taken."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

FORMAT = "underhill-chats"  # what our own files say they are
VERSION = 1
_DAY = 86400.0
_ENDLESS = 1e18  # more than any figure


@dataclass(frozen=True)
class Found:
    """A chat of a file. messages: parents before their children, ids as the file has them. leaf: one of those ids.

    messages have at least id, parent, role, content, model and created_at (0: not known). updated_at: likewise. style:
    as `Style` has it, checked.
    """

    title: str
    messages: list[dict[str, Any]]
    leaf: Any
    updated_at: float = 0.0
    folder: str = ""
    style: dict[str, Any] | None = None
    title_by_hand: bool = False
    pinned: bool = False


def words(text: object) -> str:
    """A text as a database can keep it: halves of characters become question marks. Raises TypeError."""
    if not isinstance(text, str):
        raise TypeError("not a text")
    return text.encode("utf-8", "replace").decode("utf-8")


def line(text: object) -> str:
    """A name or title, on one line; '' for none."""
    return " ".join(words(text if isinstance(text, str) else "" if text is None else str(text)).split())


def figures(stats: object) -> dict[str, Any]:
    """What an answer took, without what the window could not show."""
    if not isinstance(stats, dict):
        return {}
    return {name: value for name, value in stats.items() if name not in _FIGURES or _FIGURES[name](value)}


def _amount(value: object) -> bool:
    return isinstance(value, int | float) and 0 <= value < _ENDLESS


def _amounts(value: object) -> bool:
    return isinstance(value, dict) and all(map(_amount, value.values()))


def moment(at: object) -> float:
    """Seconds since 1970 as a file says them; 0 for what is no time, or one that is yet to come."""
    if isinstance(at, bool) or not isinstance(at, int | float):
        return 0.0
    return float(at) if 0 < at < time.time() + _DAY else 0.0


_FIGURES: dict[str, Callable[[object], bool]] = {
    **dict.fromkeys(
        ("prompt_tokens", "reused_tokens", "dropped_turns", "prompt_seconds", "decode_seconds", "hits", "misses",
         "bytes_read", "peak_rss", "thinking_seconds"),
        _amount,
    ),
    "precision": _amounts,
}  # fmt: skip
