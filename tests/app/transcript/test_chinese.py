"""What is painted around a message, in Chinese: no walk through the widgets would find English there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

import pytest
from PySide6.QtWidgets import QApplication

from app.i18n import languages
from app.storage.records import Attachment, StoredMessage, new_id
from app.transcript import notes
from app.transcript.item import MessageItem

STATS = {
    "prompt_tokens": 800, "reused_tokens": 300, "dropped_turns": 3, "prompt_seconds": 2.0, "decode_seconds": 125.0,
    "hits": 900, "misses": 100, "bytes_read": 2_100_000_000, "precision": {"8": 800, "4": 150, "skipped": 50},
    "peak_rss": 3_000_000_000, "thinking_seconds": 0.04, "read_from_here": True,
}  # fmt: skip
ANSWER = StoredMessage(
    id=new_id(),
    chat_id=1,
    parent_id=None,
    role="assistant",
    content="<think>x</think>好。",
    token_ids=tuple(range(1241)),
    stats=STATS,
)
UNITS = {"MB", "GB"}


@pytest.fixture(autouse=True)
def chinese(qapp: QApplication) -> Iterator[None]:
    languages.install("zh_CN")
    yield
    languages.install("en")


def latin(texts: list[str]) -> set[str]:
    return set(re.findall(r"[A-Za-z]+", " ".join(texts))) - UNITS


def test_notices_and_figures_have_no_english_left() -> None:
    ends = [replace(ANSWER, finish=end) for end in ("length", "context", "cancelled", "failed")]
    about = [note for m in (*ends, replace(ANSWER, state="cut")) for note in notes.after(m)]
    assert len(about) == 5
    found = [*notes.before(ANSWER), notes.summary(ANSWER), *(part for row in notes.details(ANSWER) for part in row)]
    assert len(found) > 25
    assert latin([*found, *about]) == set()


def test_names_and_numbers_stay_as_they_are() -> None:
    files = tuple(Attachment(name, "x") for name in ("a.txt", "乙.pdf"))
    assert notes.before(replace(ANSWER, stats={}, attachments=files)) == ["附件：a.txt、乙.pdf"]
    assert notes.before(replace(ANSWER, stats={"dropped_turns": 1})) == ["上下文已满：略去较早的 1 条消息"]
    assert "1,241 词元" in notes.summary(ANSWER)
    assert {f.name: f.value for f in notes.details(ANSWER)}["用时"] == "2 分 05 秒"


def test_a_thought_is_timed() -> None:
    item = MessageItem(ANSWER)
    item.blocks()
    assert item.thought_line() == "思考了 1 秒"
    item = MessageItem(replace(ANSWER, content="<think>\nx\ny", state="streaming"))
    item.blocks()
    assert item.thought_line().startswith("思考中… ")
