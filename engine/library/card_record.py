"""What was seen of a model with a graphics card, kept beside its store: its speed, and that its answers are right."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

from engine.filesystem import replace_file
from engine.planning.facts import CardSeen
from engine.regular_file import read_json
from engine.store.fields import DAMAGED

FILE, CHECKED = "card-speed.json", "card-checked.json"
LEAST, MOST = 0.01, 1e4  # tokens a second that can be true


def read(store: Path) -> CardSeen | None:
    """What was kept last; None: nothing, or the file is damaged."""
    try:
        seen = CardSeen(**read_json(store / FILE))
        sane = seen.like(seen) and LEAST <= seen.speed <= MOST
    except DAMAGED:
        return None
    return seen if sane else None


def keep(store: Path, seen: CardSeen) -> None:
    """For `read`; a store that cannot be written to keeps nothing."""
    with suppress(OSError):
        replace_file(store / FILE, json.dumps(asdict(seen)).encode())


def is_checked(store: Path, conditions: str) -> bool:
    """Whether answers were compared under these conditions; `keep_checked` notes it."""
    try:
        return bool(read_json(store / CHECKED) == {"conditions": conditions})
    except DAMAGED:
        return False


def keep_checked(store: Path, conditions: str) -> None:
    """For `is_checked`; a store that cannot be written to keeps nothing."""
    with suppress(OSError):
        replace_file(store / CHECKED, json.dumps({"conditions": conditions}).encode())
