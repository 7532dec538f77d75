"""Active downloads: models being fetched from a hub, kept in Underhill's data folder to survive a killed app."""

from __future__ import annotations

import json
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from engine.library.entries import FAILED, PAUSED, Transfer
from engine.library.home import home
from engine.regular_file import read_json
from engine.store.atomic import replace_file
from engine.translatable import NO_TEXT, Translatable, as_json, from_json

_TYPES = {"str": str, "int": int, "bool": bool, "Translatable": Translatable}
_KEPT = {f.name: _TYPES[str(f.type)] for f in fields(Transfer) if f.type in _TYPES}


def file() -> Path:
    """Where they are kept. It need not exist."""
    return home() / "transfers.json"


def read() -> tuple[Transfer, ...]:
    """Those that had not come to their end, none of them moving now. What is damaged is left out: pulling such a model
    again finds what has arrived."""
    try:
        found = read_json(file())
        rows = found if isinstance(found, list) else []
    except (OSError, ValueError):
        return ()
    transfers = []
    for row in rows:
        with suppress(TypeError, KeyError, AttributeError, ValueError):
            known = Transfer(**{key: _value(key, value) for key, value in row.items() if key in _KEPT})
            if all(type(getattr(known, name)) is kind for name, kind in _KEPT.items()):
                transfers.append(known if known.state == FAILED else replace(known, state=PAUSED, text=NO_TEXT))
    return tuple(transfers)


def keep(transfers: Iterable[Transfer]) -> None:
    """Remember these and no others; where nothing can be written, they are not known again after the next start."""
    rows = [
        {
            name: as_json(getattr(one, name)) if kind is Translatable else getattr(one, name)
            for name, kind in _KEPT.items()
        }
        for one in transfers
    ]
    with suppress(OSError):
        file().parent.mkdir(parents=True, exist_ok=True)
        replace_file(file(), json.dumps(rows, indent=1).encode())


def _value(name: str, value: object) -> Any:
    return from_json(value) if _KEPT[name] is Translatable else value
