"""What the engine says, in the language of the window. The engine speaks English and knows of no language."""

from __future__ import annotations

import re
import types
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from functools import cache
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from PySide6.QtCore import QCoreApplication

from engine import protocol
from engine.translatable import HOLE, Translatable, translated

T = TypeVar("T")
ENGINE_CONTEXT = "engine"
_WIDE = re.compile(r"[　-〿一-鿿＀-￯“”]")  # scripts that are written without spaces, and their marks
SEPARATORS = (", ", "; ")  # between the items of a list; `told` translates them too
_CONTAINERS = (tuple, list, dict, Mapping, types.UnionType)


def told(text: str) -> str:
    """A text of the engine in the language of the window: its key translated, and its arguments put in again.

    An argument is told in turn where it is a Translatable; any other is a name or figure, and stays. A plain text is
    its own key; what nobody has translated stays English.
    """
    if not isinstance(text, Translatable):
        return _translated(text)
    if not text.arguments:
        return _translated(text.key)
    said = ""
    for n, part in enumerate(HOLE.split(_translated(text.key))):
        if n % 2 == 0:
            said = _close(said, _translated(part) if part in SEPARATORS else part)
        elif isinstance(argument := text.arguments.get(part, f"{{{part}}}"), Translatable):
            said = _close(said, told(argument))
        else:
            said += argument  # a name keeps its spaces beside any script
    return said


def localized(thing: T) -> T:
    """The same thing with every Translatable in it told; itself where nothing of it changes.

    Statistics of an answer stay as they are: they are kept with the chat, whose window may speak another language by
    then.
    """
    return _localized(thing)


def _translated(key: str) -> str:
    return QCoreApplication.translate(ENGINE_CONTEXT, key) if key else ""


def _localized(thing: Any) -> Any:
    if isinstance(thing, Translatable):
        return translated(told(thing))
    if isinstance(thing, tuple):
        new = tuple(map(_localized, thing))
        return thing if all(a is b for a, b in zip(new, thing)) else new
    kind = type(thing)
    if kind is protocol.Stats or not is_dataclass(kind):
        return thing
    changes = {name: _localized(getattr(thing, name)) for name in _speaking(kind)}
    changes = {name: value for name, value in changes.items() if value is not getattr(thing, name)}
    return replace(thing, **changes) if changes else thing


@cache
def _speaking(kind: type) -> tuple[str, ...]:
    """The fields that may hold a Translatable. Others, such as matrices of telemetry, are never looked through."""
    hints = get_type_hints(kind)
    return tuple(field.name for field in fields(kind) if _speaks(hints[field.name]))


def _speaks(hint: Any) -> bool:
    if hint is Any or hint is Translatable:
        return True
    if get_origin(hint) in _CONTAINERS:
        return any(map(_speaks, get_args(hint)))
    return isinstance(hint, type) and is_dataclass(hint) and bool(_speaking(hint))


def _close(said: str, new: str) -> str:
    """One after the other, without a space between two characters that are written without."""
    if new[:1] == " " and _WIDE.match(said[-1:]) and _WIDE.match(new.lstrip()[:1]):
        return said + new.lstrip()
    if said[-1:] == " " and _WIDE.match(new[:1]) and _WIDE.match(said.rstrip()[-1:]):
        return said.rstrip() + new
    return said + new
