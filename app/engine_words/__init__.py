"""What the engine says, in the language of the window. The engine speaks English and knows of no language."""

from __future__ import annotations

import json
from functools import lru_cache

from PySide6.QtCore import QCoreApplication

from app.engine_words.book import Book
from engine import resources

CONTEXT = "engine"
TEMPLATES = resources.path("translations", "engine.json")  # made by app.i18n.build
_SAMPLE = "Stopped."  # every language that is in force has a translation of it


def told(text: str) -> str:
    """A text of the engine in the language of the window; unknown ones as they are."""
    book = _book(QCoreApplication.translate(CONTEXT, _SAMPLE))
    return text if book is None or not text else book.tell(text)


def exactly(text: str) -> str:
    """The same of what may be a name: only where all of it is a text of the engine."""
    book = _book(QCoreApplication.translate(CONTEXT, _SAMPLE))
    return text if book is None else book.exactly(text)


@lru_cache(1)
def _book(sample: str) -> Book | None:
    """sample: its translation, which tells one language from another; none is needed for English."""
    if sample == _SAMPLE:
        return None
    kept = json.loads(TEMPLATES.read_text(encoding="utf-8"))
    return Book(kept["texts"], frozenset(kept["numbers"]), lambda text: QCoreApplication.translate(CONTEXT, text))
