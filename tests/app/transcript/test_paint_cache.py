"""While an answer grows only its end is painted: what is seen is what painting all of it gives."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QObject, QRectF
from PySide6.QtGui import QColor, QImage, QPainter
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from app.storage.records import Attachment, StoredMessage
from app.theme.theme import Theme
from app.transcript import page
from app.transcript.item import MessageItem
from app.transcript.paint import paint_message
from app.transcript.view import TranscriptView
from tests.app.palette import channels
from tests.app.samples import LONG_ANSWER, QUESTION

STREAMING = StoredMessage(id=2, chat_id=1, parent_id=1, role="assistant", state="streaming")
RULES = "".join(f"line {n}\n\n---\n\n# Part {n}\n\n" for n in range(20))  # at even and odd heights
STORY = "Once upon a time there was a very brave dog, half-asleep in a (rather) small house. " * 30 + "\n\n"
THOUGHT = "<think>\nWhat may a hill be?\n\nQuiet, I think.\n</think>\n\n"


def seen(view: TranscriptView) -> QImage:
    return view.viewport().grab().toImage()


def painted(view: TranscriptView) -> QImage:
    """All of it, painted afresh."""
    view.renew()
    return seen(view)


def alike(one: QImage, other: QImage) -> bool:
    """The same but for one step of a colour, by which Qt's round corners differ where they are cut elsewhere."""
    first, second = (channels(image).astype(int) for image in (one, other))
    return bool(np.abs(first - second).max() <= 1)


@pytest.fixture
def heights(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Of the parts of the page that were painted."""
    found: list[float] = []

    def paint(
        painter: QPainter, item: MessageItem, number: int, column: float, clip: QRectF, *rest: Any, **more: Any
    ) -> None:
        found.append(clip.height())
        paint_message(painter, item, number, column, clip, *rest, **more)

    monkeypatch.setattr(page, "paint_message", paint)
    return found


@pytest.mark.parametrize(
    "text", [LONG_ANSWER, THOUGHT + LONG_ANSWER, STORY, RULES], ids=["answer", "thought", "story", "rules"]
)
def test_a_growing_answer_looks_as_if_painted_afresh(view: TranscriptView, heights: list[float], text: str) -> None:
    view.set_messages([StoredMessage(id=1, chat_id=1, parent_id=None, role="user", content=QUESTION)])
    view.add(STREAMING)
    kept = looks = 0
    for number, piece in enumerate(re.findall(r"(?s).{1,7}", text * 2)):
        view.extend(2, piece, f"{number} tokens")
        if number % 3 == 0:
            heights.clear()
            seen(view)
            looks += 1
            kept += max(heights, default=0.0) < view.viewport().height()
        if number % 41 == 0:
            assert alike(seen(view), painted(view)), f"after {number} pieces"
    assert kept > looks * 0.25, "all of it was painted nearly always"
    view.finish(StoredMessage(id=2, chat_id=1, parent_id=1, role="assistant", content=text * 2))
    assert alike(seen(view), painted(view))


@pytest.mark.parametrize("text", [STORY, "```\n" + "x = 1\n" * 60], ids=["prose", "code"])
def test_of_a_long_block_only_the_last_lines_are_painted(view: TranscriptView, heights: list[float], text: str) -> None:
    view.add(STREAMING)
    view.extend(2, text.rstrip("\n"), "")
    line = 40
    seen(view)
    for number in range(20):
        view.extend(2, " word", f"{number} tokens")
        heights.clear()
        seen(view)
        assert 0 < max(heights) < view.items[0].height - view.items[0].views[-1].height + 4 * line + 60


def test_one_who_reads_above_sees_nothing_move(view: TranscriptView) -> None:
    view.set_messages([StoredMessage(id=1, chat_id=1, parent_id=None, role="user", content=QUESTION)])
    view.add(STREAMING)
    view.extend(2, LONG_ANSWER * 2, "")
    view.verticalScrollBar().setValue(100)
    before = seen(view)
    view.extend(2, "and more, ", "")
    assert seen(view) == before == painted(view)


def chat(turns: int) -> list[StoredMessage]:
    found = []
    for number in range(1, turns + 1):
        question = StoredMessage(id=2 * number - 1, chat_id=1, parent_id=None, role="user", content=QUESTION)
        answer = replace(question, id=2 * number, role="assistant", content=STORY[:400], stats={"tokens": 80})
        found += [question, answer]
    return found


def test_a_new_message_leaves_those_above_as_painted(view: TranscriptView, heights: list[float]) -> None:
    """Of what was there only the foot with the buttons is painted again, and what is below it."""
    view.set_messages(chat(4))
    seen(view)
    for question, answer in zip(*[iter(chat(7)[8:])] * 2):
        heights.clear()
        view.add(question)
        view.add(replace(answer, content="", state="streaming", stats={}))
        image = seen(view)
        assert 0 < max(heights) < view.items[-1].height + view.items[-2].height + 60
        assert image == painted(view)
        view.extend(answer.id, answer.content, "12 tokens")
        assert seen(view) == painted(view)
        heights.clear()
        view.finish(answer)
        image = seen(view)
        assert 0 < max(heights) < view.items[-1].height + 20
        assert image == painted(view)


def test_a_state_without_words_lays_nothing_out(
    view: TranscriptView, heights: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    """While a prompt is read the line at the foot changes ten times a second, and nothing else does."""
    view.set_messages(chat(4))
    view.add(STREAMING)
    view.extend(2, "Well, ", "1 token")
    seen(view)
    monkeypatch.setattr(view, "_grown", lambda index: pytest.fail("laid out"))
    for number in range(3):
        heights.clear()
        view.extend(2, "", f"Reading… {number} s")
        image = seen(view)
        assert 0 < max(heights) < 60
        assert image == painted(view)


@pytest.mark.parametrize("above", [0, 1, 30, 200, 450, 800, 2000])
def test_a_new_message_is_scrolled_to_from_wherever_one_reads(view: TranscriptView, above: int) -> None:
    view.set_messages(chat(20))
    bar = view.verticalScrollBar()
    bar.setValue(bar.maximum() - above)
    for index in (len(view.items) - 1, len(view.items) - 3, 0):
        view.current = index
        view.arrange()
        seen(view)
        view.add(StoredMessage(id=100 + index, chat_id=1, parent_id=None, role="user", content="Go on."))
        assert seen(view) == painted(view)


def test_a_mark_that_is_out_of_sight_has_nothing_painted(view: TranscriptView, heights: list[float]) -> None:
    view.set_messages(chat(20))
    before = seen(view)
    heights.clear()
    for message in (3, 5, 0):
        view.mark_start(message)
        assert seen(view) == before
    assert not heights
    documents = [block.document for block in view.items[-1].blocks()]
    view.mark_start(view.items[-1].message.id)
    assert [block.document for block in view.items[-1].blocks()] == documents  # its text is the same
    assert before != seen(view) == painted(view)
    view.mark_start(3)
    assert seen(view) == painted(view)


class Painted(QObject):
    """Counts the paintings of a widget."""

    def __init__(self, widget: QWidget) -> None:
        super().__init__(widget)
        self.times = 0
        widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        self.times += event.type() == QEvent.Type.Paint
        return False


def test_what_changes_above_is_painted(qtbot: QtBot, view: TranscriptView, theme: Theme) -> None:
    view.set_messages([StoredMessage(id=1, chat_id=1, parent_id=None, role="user", content=QUESTION)])
    view.add(STREAMING)
    view.extend(2, LONG_ANSWER.replace("```python", "```"), "")  # colours of code come when they are ready
    seen(view)
    view.mouse.select_all()
    assert seen(view) == painted(view)
    theme.set_mode("dark")
    assert seen(view) == painted(view)
    view.resize(700, 500)
    assert seen(view) == painted(view)
    painting = Painted(view.viewport())
    view.selection.clear()
    view.renew()
    qtbot.waitUntil(lambda: painting.times > 0)
    assert seen(view) == painted(view)


def test_an_attachment_alone_has_no_bubble(view: TranscriptView, theme: Theme) -> None:
    bubble = QColor(theme.palette.bubble).rgb()

    def bubbles(content: str) -> bool:
        view.set_messages(
            [
                StoredMessage(
                    id=1,
                    chat_id=1,
                    parent_id=None,
                    role="user",
                    content=content,
                    attachments=(Attachment("a.txt", "text"),),
                )
            ]
        )
        image = seen(view)
        return any(image.pixel(x, y) == bubble for x in range(0, image.width(), 4) for y in range(image.height()))

    assert bubbles("Hello")
    assert not bubbles("")
