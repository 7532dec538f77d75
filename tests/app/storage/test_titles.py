"""Titles made from first messages."""

from __future__ import annotations

import pytest

from app.storage.records import title_from


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("Why is the sky blue?", "Why is the sky blue?"),
        ("\n\n## `Hello`, *world*\nmore", "Hello, world"),
        ("```\n```", "New chat"),
        ("", "New chat"),
        ("   two\t spaces ", "two spaces"),
        ("> quoted **words** of ~~mine~~", "quoted words of mine"),
        ("- a list", "a list"),
        ("Is 5 > 3 in C#, and 2 * 3 ~ 6?", "Is 5 > 3 in C#, and 2 * 3 ~ 6?"),
        ("What does my_function(a*b) do to <b>?", "What does my_function(a*b) do to <b>?"),
        ("#hashtag", "#hashtag"),
    ],
)
def test_titles(text: str, title: str) -> None:
    assert title_from(text) == title


def test_long_titles_end_at_a_word() -> None:
    title = title_from("Please explain to me in detail how photosynthesis works in desert plants")
    assert title == "Please explain to me in detail how…"
    assert len(title_from("x" * 500)) <= 49
