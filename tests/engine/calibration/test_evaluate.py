"""The token windows that a text is cut into: as many as were asked for, and no more of it tokenized than they take."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from engine.calibration.evaluate import sequences
from engine.errors import Kind, UnderhillError
from engine.generation.chat import ChatFormat
from engine.generation.messages import Message


class Letters:
    """A chat format whose tokens are letters, and how many chats it was given."""

    def __init__(self) -> None:
        self.prompts = 0

    def prompt(self, messages: Sequence[Message]) -> Any:
        self.prompts += 1
        return SimpleNamespace(ids=self.encode(messages[0].content))

    def encode(self, text: str) -> list[int]:
        return list(map(ord, text))


def windows(chat: Letters, file: Path, window: int, limit: int | None) -> list[int]:
    """How long each is."""
    return list(map(len, sequences(cast(ChatFormat, chat), file, window, limit)))


@pytest.fixture
def chats(tmp_path: Path) -> Path:
    """Fifty of eleven letters each; the second has one, of which nothing can be predicted."""
    texts = ["b" if number == 1 else "abcdefghijk" for number in range(50)]
    file = tmp_path / "chats.jsonl"
    lines = [json.dumps({"messages": [{"role": "user", "content": text}]}) for text in texts]
    file.write_text("\n".join(lines), encoding="utf-8")
    return file


def test_so_many_predictions_and_no_chat_beyond_them(chats: Path) -> None:
    letters = Letters()
    assert windows(letters, chats, 100, 25) == [11, 11, 6]
    assert letters.prompts == 4
    assert windows(letters, chats, 5, 8) == [5, 5]
    assert windows(Letters(), chats, 100, None) == [11] * 49


def test_plain_text_is_cut(tmp_path: Path) -> None:
    file = tmp_path / "text.txt"
    file.write_text("abcdefghijk", encoding="utf-8")
    assert windows(Letters(), file, 5, None) == [5, 5]
    assert windows(Letters(), file, 5, 6) == [5, 3]


def test_too_little_text_is_said(chats: Path) -> None:
    with pytest.raises(UnderhillError) as said:
        windows(Letters(), chats, 100, 0)
    assert said.value.kind is Kind.BAD_REQUEST


def test_a_line_that_is_no_chat_is_said_even_beyond_what_is_used(chats: Path) -> None:
    chats.write_text(chats.read_text(encoding="utf-8") + "\n{}", encoding="utf-8")
    with pytest.raises(UnderhillError) as said:
        windows(Letters(), chats, 100, 5)
    assert said.value.kind is Kind.BROKEN_FILE
