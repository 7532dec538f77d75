"""The name that a person gave a model, kept beside its store: lists and answers show it, commands go on by its own."""

from __future__ import annotations

import json
import unicodedata
from pathlib import Path

from engine import filesystem
from engine.errors import Kind, UnderhillError
from engine.filesystem import replace_file
from engine.regular_file import read_json
from engine.store.fields import DAMAGED
from engine.translatable import msg, quoted

FILE = "title.json"
LONGEST = 80  # characters: two lines of a list
_NO_TEXT = ("Cc", "Cs")  # Unicode categories of what is no text: control characters, halves of a character
_MARKS = "<>"  # where a name stands in a text with marks, it would be one


def read(store: Path) -> str:
    """The name that the store at this path was given; '' where it was given none, or the file is damaged."""
    try:
        return checked(read_json(store / FILE)["title"])
    except (*DAMAGED, UnderhillError):
        return ""


def keep(store: Path, title: str) -> None:
    """Show the store under this name, as `checked` returned it; '': under its own. Raises OSError."""
    if title:
        replace_file(store / FILE, json.dumps({"title": title}).encode())
    else:
        filesystem.remove(store / FILE, missing_ok=True)


def checked(title: str) -> str:
    """The name in one line. Raises UnderhillError(BAD_REQUEST) where it is empty, too long or no text."""
    shown = " ".join(title.split())
    if not shown:
        raise UnderhillError(Kind.BAD_REQUEST, msg("The name is empty."), msg("Type a name."))
    if len(shown) > LONGEST:
        raise UnderhillError(
            Kind.BAD_REQUEST,
            msg("The name is too long: {length} characters.", length=len(shown)),
            msg("Use {longest} at most.", longest=LONGEST),
        )
    if any(c in _MARKS or unicodedata.category(c) in _NO_TEXT for c in shown):
        raise UnderhillError(
            Kind.BAD_REQUEST,
            msg("A model can't be named {name}.", name=quoted(title)),
            msg("Use letters, digits, spaces, - and _."),
        )
    return shown
