"""Sentences stay readable, whatever a file's own words are."""

from __future__ import annotations

from engine.errors import LONGEST, Kind, UnderhillError, readable


def test_a_files_own_words_neither_fill_the_window_nor_move_a_cursor() -> None:
    error = UnderhillError(Kind.BROKEN_FILE, f"x is damaged: {'y' * 10**6} overlaps \x1b[2J\x00.", "a" * 10**6)
    assert len(error.sentence) < LONGEST + 10
    assert len(error.action) < LONGEST + 10
    assert error.sentence.startswith("x is damaged: yyy")
    assert error.sentence.endswith("overlaps ��[2J�.".replace("��", "�"))


def test_other_scripts_and_lines_stay_as_they_are() -> None:
    text = "Das Größte — 模型 \u200bx".replace("\u200b", "") + "\nzwei"
    assert readable(text) == text
