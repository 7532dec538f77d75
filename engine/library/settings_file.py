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

FORMAT = 1  # of the file; where it says nothing, this one


def file() -> Path:
    """Where they are kept. It need not exist."""
    return home() / "settings.json"


def read() -> dict[str, settings.Value]:
    """All of them, checked, those that were never set at their defaults. Raises UnderhillError(BROKEN_FILE).

    What a newer version of Underhill has put there and this one does not know is left alone.
    """
    return settings.validated(_known(_written()), settings.SHARED)


def hub() -> dict[str, settings.Value]:
    """Return the settings of the hub (settings.HUB). Raises UnderhillError(BROKEN_FILE)."""
    values = read()
    return {s.name: values[s.name] for s in settings.HUB}


def change(values: Mapping[str, Any]) -> dict[str, settings.Value]:
    """Keep some; the others stay. Raises UnderhillError: BAD_REQUEST, BROKEN_FILE, DISK_FULL or DISK_ERROR.

    BROKEN_FILE also where it is of a newer format; it stays as it is then.
    """
    written = _written()
    if (found := written.get("format", FORMAT)) != FORMAT:
        raise UnderhillError(
            Kind.BROKEN_FILE,
            msg("{file} was saved by a newer version of Underhill (format {found}).", file=file(), found=found),
            msg("Install that version to change these settings. Nothing was changed."),
        )
    checked = settings.validated({**_known(written), **values}, settings.SHARED)
    # Of a newer version, which may be used again: what this one does not know is written back as it was.
    others = {name: value for name, value in written.items() if name not in checked}
    changed = {s.name: checked[s.name] for s in settings.SHARED if checked[s.name] != s.default} | others
    with writing(file()):
        file().parent.mkdir(parents=True, exist_ok=True)
        replace_file(file(), json.dumps(changed, indent=1).encode())
    return checked


def _known(written: Mapping[str, Any]) -> dict[str, Any]:
    return {s.name: written[s.name] for s in settings.SHARED if s.name in written}


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
        msg("Can't read {file}.", file=file()),
        msg("Repair it, or delete it to restore the defaults."),
    )
