"""The window's own errors, in the words of its language."""

from __future__ import annotations

from engine import protocol
from engine.translatable import translated


def problem(kind: protocol.Kind, sentence: str, action: str = "") -> protocol.UnderhillError:
    """An error to raise or show. sentence, action: as `tr` gave them."""
    return protocol.UnderhillError(kind, translated(sentence), translated(action))
