"""Collects the texts to translate: those that the window's code marks, and the keys of what the engine says.

Qt's lupdate for Python misses texts beside keyword arguments and in conditional expressions, and knows no numerus form
of a function of one's own.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from app.i18n.translate import CONTEXT, ENGINE_CONTEXT, SEPARATORS, plural, tr, tr_noop
from engine import protocol
from engine.translatable import HOLE, msg

_TR, _PLURAL, _NOOP = tr.__name__, plural.__name__, tr_noop.__name__


@dataclass(frozen=True)
class MarkedText:
    """A text to translate. file: where it is first used, from the root of the project. about: see translate.tr."""

    context: str
    source: str
    file: str
    plural: bool = False
    about: str = ""

    @property
    def key(self) -> tuple[str, str, str]:
        """Key of its translation."""
        return self.context, self.source, self.about


class DynamicTextError(ValueError):
    """A marked text that is put together where it is marked, so it cannot be translated."""


def texts(root: Path) -> list[MarkedText]:
    """Every marked text under root/app, in the order of the files; each once. Raises DynamicTextError."""
    found: dict[tuple[str, str, str], MarkedText] = {}
    for path in sorted((root / "app").rglob("*.py")):
        name = path.relative_to(root).as_posix()
        for text in _in_file(ast.parse(path.read_text(encoding="utf-8")), name):
            found.setdefault(text.key, text)
    return list(found.values())


def _in_file(tree: ast.Module, file: str) -> Iterator[MarkedText]:
    calls = [n for n in ast.walk(tree) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and n.args]
    for call in sorted(calls, key=lambda c: (c.lineno, c.col_offset)):
        assert isinstance(call.func, ast.Name)
        name = call.func.id
        if name in (_TR, _NOOP):
            about = next((k.value for k in call.keywords if k.arg == "about"), None)
            comment = about.value if isinstance(about, ast.Constant) else ""
            for text in _written(call.args[0], file, known=name == _TR):
                yield MarkedText(CONTEXT, text, file, about=str(comment))
        elif name == _PLURAL:
            for text in _written(call.args[1], file, known=False):
                yield MarkedText(CONTEXT, text, file, plural=True)


def _written(node: ast.expr, file: str, *, known: bool) -> Iterator[str]:
    """The texts that an expression can be. known: it may also be a value that was marked by `tr_noop` elsewhere."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        if node.value:
            yield node.value
    elif isinstance(node, ast.IfExp):
        yield from _written(node.body, file, known=known)
        yield from _written(node.orelse, file, known=known)
    elif not known or isinstance(node, (ast.JoinedStr, ast.BinOp)):
        raise DynamicTextError(f"{file}:{node.lineno}: a text must be written out in the call; use {{name}} for values")


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
            for key in _keys_in_file(ast.parse(path.read_text(encoding="utf-8")), name):
                found.setdefault(key, MarkedText(ENGINE_CONTEXT, key, name))
    for key in _of_settings():
        found.setdefault(key, MarkedText(ENGINE_CONTEXT, key, "engine/settings.py"))
    catalogue = json.loads((root / "resources" / "catalogue.json").read_text(encoding="utf-8"))
    for key in filter(None, (model.get("about", "") for model in catalogue["models"])):
        found.setdefault(key, MarkedText(ENGINE_CONTEXT, key, "resources/catalogue.json"))
    for key in (*_SYSTEM, *SEPARATORS):
        found.setdefault(key, MarkedText(ENGINE_CONTEXT, key, "app/i18n/marked_texts.py"))
    return list(found.values())


def _keys_in_file(tree: ast.Module, file: str) -> Iterator[str]:
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
