"""The words in which two texts differ."""

from __future__ import annotations

import re
from difflib import SequenceMatcher

_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]|\w+|[^\w\s]")  # a sign of Chinese, Japanese, Korean: one
MOST_WORDS = 2500  # of either text; more would take the window's thread tens of milliseconds

Span = tuple[int, int]  # the first character, and the one behind the last


def differing(first: str, second: str) -> tuple[list[Span], list[Span]] | None:
    """Where each of two texts has words that the other does not have there; neighbours are one span.

    None where a text is too long for that.
    """
    words = [list(_WORD.finditer(text)) for text in (first, second)]
    if max(map(len, words)) > MOST_WORDS:
        return None
    first_words, second_words = ([word[0] for word in found] for found in words)
    matcher = SequenceMatcher(None, first_words, second_words)
    spans: tuple[list[Span], list[Span]] = ([], [])
    for kind, *ends in matcher.get_opcodes():
        if kind == "equal":
            continue
        for side, (start, stop) in enumerate((ends[:2], ends[2:])):
            if stop > start:
                spans[side].append((words[side][start].start(), words[side][stop - 1].end()))
    return spans
