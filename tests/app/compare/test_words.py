"""The words in which two texts differ."""

from __future__ import annotations

import pytest

from app.compare import words
from app.compare.words import differing


def marked(first: str, second: str) -> tuple[list[str], list[str]]:
    found = differing(first, second)
    assert found is not None
    return tuple([text[a:b] for a, b in spans] for text, spans in zip((first, second), found))  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("first", "second", "found"),
    [
        ("The cat sat.", "The cat sat.", ([], [])),
        ("The cat sat.", "The dog sat.", (["cat"], ["dog"])),
        ("The old grey cat sat.", "The cat sat down.", (["old grey"], ["down"])),
        ("", "All of it.", ([], ["All of it."])),
        ("Yes!", "Yes?", (["!"], ["?"])),
        ("一只白猫在家", "一只黑猫在家", (["白"], ["黑"])),
        ("two\nlines", "two lines", ([], [])),
    ],
)
def test_words_that_the_other_has_not(first: str, second: str, found: tuple[list[str], list[str]]) -> None:
    assert marked(first, second) == found


def test_texts_that_would_take_long_are_not_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(words, "MOST_WORDS", 3)
    assert differing("a b c", "a b d") is not None
    assert differing("a b c d", "a") is None
