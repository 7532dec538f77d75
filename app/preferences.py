"""What the window remembers between runs, in one JSON file: settings, theme, model, sizes."""

from __future__ import annotations

import dataclasses
import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from engine import api


@dataclass
class Preferences:
    """engine, sampling: values that differ from the defaults, by the names in api.settings."""

    model: str = "builtin"
    theme: str = "system"
    engine: dict[str, Any] = field(default_factory=dict)
    sampling: dict[str, Any] = field(default_factory=dict)
    live_open: bool = True
    sidebar_open: bool = True
    geometry: str = ""  # QMainWindow.saveGeometry in base64
    docks: str = ""  # QMainWindow.saveState in base64
    chat: int = 0  # the chat that was open
    draft: str = ""  # what is typed in a new chat
    closed_folders: list[int] = field(default_factory=list)  # ids


def load(path: Path) -> tuple[Preferences, str]:
    """The preferences at `path`, and a sentence if some of them could not be used (defaults stand in for those)."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(found, dict):
            raise ValueError("not an object")
    except FileNotFoundError:
        return Preferences(), ""
    except (OSError, ValueError) as error:
        return Preferences(), f"Your preferences could not be read, so the usual ones are used ({error})."
    defaults = Preferences()
    known = {
        f.name: found[f.name]
        for f in dataclasses.fields(Preferences)
        if type(found.get(f.name)) is type(getattr(defaults, f.name))
    }
    known["engine"], bad = _valid(found.get("engine"), api.settings.ENGINE)
    known["sampling"], worse = _valid(found.get("sampling"), api.settings.SAMPLING)
    note = " ".join([*bad, *worse])
    return Preferences(**known), note


def save(preferences: Preferences, path: Path) -> None:
    """Write the file whole or not at all. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(path.name + ".new")
    partial.write_text(json.dumps(dataclasses.asdict(preferences), indent=1), encoding="utf-8")
    os.replace(partial, path)


def _valid(values: Any, among: tuple[api.settings.Setting, ...]) -> tuple[dict[str, Any], list[str]]:
    """The values that still hold, and a sentence for each that does not."""
    good: dict[str, Any] = {}
    bad: list[str] = []
    known = {s.name: s for s in among}
    for name, value in values.items() if isinstance(values, dict) else ():
        if name in known:
            try:
                good[name] = known[name].check(value)
            except api.UnderhillError as error:
                bad.append(str(error))
    return good, bad
