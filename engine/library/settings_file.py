"""Settings of hub and library (settings.SHARED), kept in Underhill's data folder for window and terminal alike."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from engine import settings
from engine.errors import Kind, UnderhillError
from engine.filesystem import replace_file
from engine.library.home import home
from engine.regular_file import read_json
from engine.store.output import writing
from engine.translatable import msg


def file() -> Path:
    """Where they are kept. It need not exist."""
    return home() / "settings.json"


def read() -> dict[str, settings.Value]:
    """All of them, checked, those that were never set at their defaults. Raises UnderhillError(BROKEN_FILE)."""
    return settings.validated(_written(), settings.SHARED)


def hub() -> dict[str, settings.Value]:
    """Those of settings.HUB. Raises UnderhillError(BROKEN_FILE)."""
    values = read()
    return {s.name: values[s.name] for s in settings.HUB}


def change(values: Mapping[str, Any]) -> dict[str, settings.Value]:
    """Keep some; the others stay. Raises UnderhillError: BAD_REQUEST, BROKEN_FILE, DISK_FULL or DISK_ERROR."""
    known = {s.name for s in settings.SHARED}
    checked = settings.validated({**{k: v for k, v in _written().items() if k in known}, **values}, settings.SHARED)
    changed = {s.name: checked[s.name] for s in settings.SHARED if checked[s.name] != s.default}
    with writing(file()):
        file().parent.mkdir(parents=True, exist_ok=True)
        replace_file(file(), json.dumps(changed, indent=1).encode())
    return checked


def _written() -> dict[str, Any]:
    try:
        found = read_json(file())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as cause:
        raise _damaged() from cause
    if not isinstance(found, dict):
        raise _damaged()
    return found


def _damaged() -> UnderhillError:
    return UnderhillError(
        Kind.BROKEN_FILE,
        msg("{file} cannot be read.", file=file()),
        msg("Repair it, or delete it to go back to the usual settings."),
    )
