"""Marks texts of the window for translation, and translates them.

`marked_texts` reads the calls of these three functions off the code, so their text must be written out in the call.
"""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from engine import protocol
from engine.translatable import translated

CONTEXT = "window"


def tr(text: str, /, about: str = "", **values: object) -> str:
    """Translate `text` into the language of the window, with {name} filled in from `values`.

    about: tells two uses of the same English text apart ("verb"); translators see it.
    """
    found = QCoreApplication.translate(CONTEXT, text, about or None)
    return found.format(**values) if values else found


def plural(one: str, many: str, count: int, /, **values: object) -> str:
    """Translate a text about `count` things: `one` is the English for 1, `many` for any other; %n is the number.

    Translations have as many forms as their language needs, and belong to `many`.
    """
    found = QCoreApplication.translate(CONTEXT, many, None, count)
    if found == many.replace("%n", str(count)) and count == 1:  # Qt knows no English plurals
        found = one.replace("%n", "1")
    return found.format(**values) if values else found


def tr_noop(text: str, /) -> str:
    """Mark a text that is declared before a language is installed, in a table of a module: `tr` it when shown."""
    return text


def sentences(*given: str) -> str:
    """Join the sentences that are not empty: a space between them, and none after a full-width full stop."""
    text = ""
    for sentence in filter(None, given):
        text += sentence if not text or text.endswith(("。", "！", "？")) else f" {sentence}"
    return text


def problem(kind: protocol.Kind, sentence: str, action: str = "") -> protocol.UnderhillError:
    """An error to raise or show. sentence, action: as `tr` gave them."""
    return protocol.UnderhillError(kind, translated(sentence), translated(action))
