"""Index of offline folders: the models last seen in each, so that those on an unplugged disk are still listed."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from engine.filesystem import replace_file
from engine.library.entries import ModelCard
from engine.library.home import home
from engine.regular_file import read_json
from engine.store.fields import DAMAGED

_LEFT_OUT = {"calibration", "plan", "doing", "loaded", "fit", "expert_bits", "verified"}


def marked(folder: Path) -> bool:
    """Whether the folder was given a mark by which it is known again."""
    return bool(_entry(_read(), folder).get("marked"))


def note_mark(folder: Path, has_one: bool) -> None:
    """Remember whether it was."""
    _change(folder, lambda entry: {**entry, "marked": has_one})


def cards(folder: Path) -> tuple[ModelCard, ...]:
    """The models that were in a folder when it was last there."""
    found = []
    there = _entry(_read(), folder).get("cards")
    for value in there if isinstance(there, list) else ():
        with suppress(TypeError, AttributeError):  # of another version of Underhill, or damaged: not worth a word
            tiers = tuple(value.get("tiers", ())), tuple(map(tuple, value.get("tier_bytes", ())))
            found.append(ModelCard(**{**value, "tiers": tiers[0], "tier_bytes": tiers[1]}))
    return tuple(found)


def note_cards(folder: Path, now: Sequence[ModelCard]) -> None:
    """Remember what is in a folder."""
    names = [f.name for f in fields(ModelCard) if f.name not in _LEFT_OUT]
    short = [{k: v for k, v in asdict(card).items() if k in names} for card in now]
    # Through JSON and back, tuples have become lists as in the file: so an entry that did not change compares as equal.
    _change(folder, lambda entry: {**entry, "cards": json.loads(json.dumps(short))})


def forget(folder: Path) -> None:
    """Nothing is to be remembered of a folder."""
    _change(folder, lambda entry: {})


def _file() -> Path:
    return home() / "seen.json"


def _read() -> dict[str, Any]:
    """A memo that is missing or damaged is an empty one: it is filled again by looking."""
    try:
        found = read_json(_file())
    except DAMAGED:
        return {}
    return found if isinstance(found, dict) else {}


def _entry(all_of_it: dict[str, Any], folder: Path) -> dict[str, Any]:
    entry = all_of_it.get(str(folder))
    return entry if isinstance(entry, dict) else {}


def _change(folder: Path, how: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    before = _read()
    entry = _entry(before, folder)
    after = how(entry)
    if after == entry:
        return
    whole = {**before, str(folder): after} if after else {k: v for k, v in before.items() if k != str(folder)}
    with suppress(OSError):  # a memo: where it cannot be kept, an unplugged disk's models are not shown
        _file().parent.mkdir(parents=True, exist_ok=True)
        replace_file(_file(), json.dumps(whole, indent=1).encode())
