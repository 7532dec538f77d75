"""Collects the texts that the code marks for translation.

Qt's lupdate for Python misses those beside keyword arguments and in conditional expressions, and knows no numerus form
of a function of one's own.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from app.i18n.translate import CONTEXT, plural, tr, tr_noop

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
        """What a translation is found by."""
        return self.context, self.source, self.about


class DynamicTextError(ValueError):
    """A marked text that is put together where it is marked, so it cannot be translated."""


def texts(root: Path) -> list[MarkedText]:
    """Every marked text under root/app, in the order of the files; each once. Raises NotWrittenOut."""
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
