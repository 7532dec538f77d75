"""The window's own errors, in the words of its language."""

from __future__ import annotations

from engine import api
from engine.translatable import translated


def problem(kind: api.Kind, sentence: str, action: str = "") -> api.UnderhillError:
    """An error to raise or show. sentence, action: as `tr` gave them."""
    return api.UnderhillError(kind, translated(sentence), translated(action))
