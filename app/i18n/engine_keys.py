"""Collects the keys of what the engine says: `msg` calls, settings, the catalogue, and what systems say."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from pathlib import Path

from app.i18n.engine_texts import CONTEXT, SEPARATORS
from app.i18n.marked_texts import DynamicTextError, MarkedText
from engine import protocol
from engine.translatable import HOLE, msg

_SILENT = "engine/cli"  # the terminal's own words stay English
_MSG = msg.__name__
# What systems say of a refused file; see translatable.system_reason.
_SYSTEM = (
    "Permission denied", "No space left on device", "Input/output error", "Read-only file system",
    "No such file or directory", "Is a directory", "Not a directory", "File exists", "Invalid argument",
    "Too many open files", "File name too long", "Operation not permitted", "Disk quota exceeded", "File too large",
)  # fmt: skip


def keys(root: Path) -> list[MarkedText]:
    """Every key, in the order of the files; each once. Raises DynamicTextError."""
    found: dict[str, MarkedText] = {}
    for path in sorted((root / "engine").rglob("*.py")):
        name = path.relative_to(root).as_posix()
        if not name.startswith(_SILENT):
            for key in _in_file(ast.parse(path.read_text(encoding="utf-8")), name):
                found.setdefault(key, MarkedText(CONTEXT, key, name))
    for key in _of_settings():
        found.setdefault(key, MarkedText(CONTEXT, key, "engine/settings.py"))
    catalogue = json.loads((root / "resources" / "catalogue.json").read_text(encoding="utf-8"))
    for key in filter(None, (model.get("about", "") for model in catalogue["models"])):
        found.setdefault(key, MarkedText(CONTEXT, key, "resources/catalogue.json"))
    for key in (*_SYSTEM, *SEPARATORS):
        found.setdefault(key, MarkedText(CONTEXT, key, "app/i18n/engine_keys.py"))
    return list(found.values())


def _in_file(tree: ast.Module, file: str) -> Iterator[str]:
    calls = [n for n in ast.walk(tree) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)]
    for call in sorted(calls, key=lambda c: (c.lineno, c.col_offset)):
        if call.func.id != _MSG or file == "engine/translatable.py":  # type: ignore[attr-defined]
            continue
        match call.args:
            case [ast.Constant(value=str(key))]:
                pass
            case _:
                raise DynamicTextError(f"{file}:{call.lineno}: a key must be written out in the call")
        if set(HOLE.findall(key)) != {keyword.arg for keyword in call.keywords}:
            raise DynamicTextError(f"{file}:{call.lineno}: the holes of {key!r} are not its arguments")
        yield key


def _of_settings() -> Iterator[str]:
    for setting in (*protocol.settings.ENGINE, *protocol.settings.SAMPLING, *protocol.settings.SHARED):
        names = setting.names or map(setting.name_of, setting.choices)
        yield from (setting.label, setting.help, setting.automatic, *names)
