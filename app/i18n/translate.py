"""Marks texts of the window for translation, and translates them and what the engine says.

`marked_texts` reads the calls of `tr`, `plural` and `tr_noop` off the code, so their text must be written
out in the call.
"""

from __future__ import annotations

import re
import types
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from functools import cache
from typing import Any, get_args, get_origin, get_type_hints

from PySide6.QtCore import QCoreApplication

from engine import protocol
from engine.translatable import HOLE, Translatable, translated

CONTEXT = "window"
ENGINE_CONTEXT = "engine"
_WIDE = re.compile(r"[　-〿一-鿿＀-￯“”]")  # scripts that are written without spaces, and their marks
_ENDS = (".", "!", "?", "…", ":", ";", "。", "！", "？", "：", "；")
SEPARATORS = (", ", "; ")  # between the items of a list; `tr_engine` translates them too
_CONTAINERS = (tuple, list, dict, Mapping, types.UnionType)


def tr(text: str, /, about: str = "", **values: object) -> str:
    """Translate `text` into the language of the window, with {name} filled in from `values`.

    about: tells two uses of the same English text apart ("verb"); translators see it.
    """
    found = QCoreApplication.translate(CONTEXT, text, about or None)
    return found.format(**values) if values else found


def plural(one: str, many: str, count: int, /, **values: object) -> str:
    """Translate a text about `count` things: `one` is the English for 1, `many` for any other; %n is the number,
    grouped: '1,204'.

    Translations have as many forms as their language needs, and belong to `many`.
    """
    found = QCoreApplication.translate(CONTEXT, many, None, count)
    if found == many.replace("%n", str(count)) and count == 1:  # Qt knows no English plurals
        found = one.replace("%n", "1")
    if count >= 1000:  # Qt writes it ungrouped
        found = found.replace(str(count), f"{count:,}")
    return found.format(**values) if values else found


def tr_noop(text: str, /) -> str:
    """Mark a text that is declared before a language is installed, in a table of a module: `tr` it when shown."""
    return text


def sentences(*given: str) -> str:
    """Join the sentences that are not empty: a space between them, and none after a full-width full stop.

    One that stands alone in a title has no full stop; here it gets one, unless it is the last.
    """
    text = ""
    for sentence in filter(None, given):
        if text and not text.endswith(_ENDS):
            text += "。" if _WIDE.match(text[-1]) or _WIDE.match(sentence) else "."
        text += sentence if not text or text.endswith(("。", "！", "？")) else f" {sentence}"
    return text


def problem(kind: protocol.Kind, sentence: str, action: str = "") -> protocol.UnderhillError:
    """An error to raise or show. sentence, action: as `tr` gave them."""
    return protocol.UnderhillError(kind, translated(sentence), translated(action))


def tr_engine(text: str) -> str:
    """Translate a text of the engine: its key is looked up, and its arguments are put in again.

    An argument that is a Translatable is translated, too; any other is a name or figure, and stays. A plain text is
    its own key; what has no translation stays English.
    """
    if not isinstance(text, Translatable):
        return _translated(text)
    if not text.arguments:
        return _translated(text.key)
    said = ""
    for n, part in enumerate(HOLE.split(_translated(text.key))):
        if n % 2 == 0:
            said = _append(said, _translated(part) if part in SEPARATORS else part)
        elif isinstance(argument := text.arguments.get(part, f"{{{part}}}"), Translatable):
            said = _append(said, tr_engine(argument))
        else:
            said += argument  # a name keeps its spaces beside any script
    return said


def in_this_language(error: protocol.UnderhillError) -> protocol.UnderhillError:
    """An error of the engine's as one to show."""
    return problem(error.kind, tr_engine(error.sentence), tr_engine(error.action))


def localized(thing: Any) -> Any:
    """Copy a message with every Translatable in it translated; the message itself where nothing changes.

    Statistics of an answer stay as they are: they are saved with the chat, which may be opened in another language.
    """
    if isinstance(thing, Translatable):
        return translated(tr_engine(thing))
    if isinstance(thing, tuple):
        new = tuple(map(localized, thing))
        return thing if all(a is b for a, b in zip(new, thing)) else new
    kind = type(thing)
    if kind is protocol.Stats or not is_dataclass(kind):
        return thing
    changes = {name: localized(getattr(thing, name)) for name in _text_fields(kind)}
    changes = {name: value for name, value in changes.items() if value is not getattr(thing, name)}
    return replace(thing, **changes) if changes else thing


def _translated(key: str) -> str:
    return QCoreApplication.translate(ENGINE_CONTEXT, key) if key else ""


@cache
def _text_fields(kind: type) -> tuple[str, ...]:
    """The fields that may hold a Translatable. Others, such as matrices of telemetry, are never looked through."""
    hints = get_type_hints(kind)
    return tuple(field.name for field in fields(kind) if _holds_text(hints[field.name]))


def _holds_text(hint: Any) -> bool:
    if hint is Any or hint is Translatable:
        return True
    if get_origin(hint) in _CONTAINERS:
        return any(map(_holds_text, get_args(hint)))
    return isinstance(hint, type) and is_dataclass(hint) and bool(_text_fields(hint))


def _append(said: str, new: str) -> str:
    """One after the other, without a space between two characters that are written without."""
    if new[:1] == " " and _WIDE.match(said[-1:]) and _WIDE.match(new.lstrip()[:1]):
        return said + new.lstrip()
    if said[-1:] == " " and _WIDE.match(new[:1]) and _WIDE.match(said.rstrip()[-1:]):
        return said.rstrip() + new
    return said + new
