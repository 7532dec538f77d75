"""Marks the texts of the window and gives them in the chosen language.

`source` reads the calls of these three functions off the code, so their text must be written out in the call.
"""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

CONTEXT = "window"


def say(text: str, /, about: str = "", **values: object) -> str:
    """`text` in the language of the window, with {name} filled in from `values`.

    about: tells two uses of the same English text apart ("verb"); translators see it.
    """
    found = QCoreApplication.translate(CONTEXT, text, about or None)
    return found.format(**values) if values else found


def plural(one: str, many: str, count: int, /, **values: object) -> str:
    """Of something counted: `one` is the English for 1, `many` that for any other number; %n stands for the number.

    Translations have as many forms as their language needs, and belong to `many`.
    """
    found = QCoreApplication.translate(CONTEXT, many, None, count)
    if found == many.replace("%n", str(count)) and count == 1:  # Qt knows no English plurals
        found = one.replace("%n", "1")
    return found.format(**values) if values else found


def later(text: str, /) -> str:
    """Marks a text that is written down before there is a language (in a table of a module): `say` it when shown."""
    return text


def sentences(*given: str) -> str:
    """Those that are not empty, one after the other: a space between them, and none after a full-width full stop."""
    text = ""
    for sentence in filter(None, given):
        text += sentence if not text or text.endswith(("。", "！", "？")) else f" {sentence}"
    return text
