"""Selecting text with the mouse."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QGuiApplication
from pytestqt.qtbot import QtBot

from app.storage.records import StoredMessage, new_id
from app.transcript.item import BUBBLE_PAD_X
from app.transcript.selection import END, TextPosition
from app.transcript.view import TranscriptView


@pytest.fixture
def view(view: TranscriptView) -> TranscriptView:
    view.set_messages(
        [
            StoredMessage(id=new_id(), chat_id=1, parent_id=None, role="user", content="alpha beta"),
            StoredMessage(
                id=new_id(),
                chat_id=1,
                parent_id=None,
                role="assistant",
                content="gamma delta\n\n```py\nx = 1\ny = 2\n```\n\nomega",
            ),
        ]
    )
    return view


def point(view: TranscriptView, message: int, block: int, x: float) -> QPoint:
    """A point in the middle of a block's first line."""
    item = view.items[message]
    place = (item.views or [])[block].text_rect(item.text_width(view.layout_.column))
    at = view.origin(message) + QPointF(item.text_left(view.layout_.column), 0) + place.topLeft()
    return (at + QPointF(x, 9)).toPoint()


def drag(qtbot: QtBot, view: TranscriptView, start: QPoint, end: QPoint) -> None:
    qtbot.mousePress(view.viewport(), Qt.MouseButton.LeftButton, pos=start)
    qtbot.mouseMove(view.viewport(), end)
    qtbot.mouseRelease(view.viewport(), Qt.MouseButton.LeftButton, pos=end)


def copied(view: TranscriptView) -> str:
    view.copy()
    return QGuiApplication.clipboard().text()


def test_across_blocks_and_messages(qtbot: QtBot, view: TranscriptView) -> None:
    drag(qtbot, view, point(view, 0, 0, 0), point(view, 1, 2, 500))
    assert copied(view) == "alpha beta\n\ngamma delta\n\nx = 1\ny = 2\n\nomega"


def test_upwards_is_the_same(qtbot: QtBot, view: TranscriptView) -> None:
    drag(qtbot, view, point(view, 1, 1, 500), point(view, 1, 0, 0))
    assert copied(view) == "gamma delta\n\nx = 1"


def test_double_click_takes_a_word(qtbot: QtBot, view: TranscriptView) -> None:
    qtbot.mouseDClick(view.viewport(), Qt.MouseButton.LeftButton, pos=point(view, 1, 0, 10))
    assert copied(view) == "gamma"


def test_a_click_clears_and_copy_takes_the_message(qtbot: QtBot, view: TranscriptView) -> None:
    drag(qtbot, view, point(view, 1, 0, 0), point(view, 1, 0, 30))
    qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=point(view, 1, 0, 60))
    assert view.selection.empty
    assert copied(view).startswith("gamma delta\n\n```py")


def test_the_copy_button_of_code(qtbot: QtBot, view: TranscriptView) -> None:
    controls = view.code.of(view.items[1].blocks()[1])
    assert controls is not None
    qtbot.mouseClick(controls.copy, Qt.MouseButton.LeftButton)
    assert QGuiApplication.clipboard().text() == "x = 1\ny = 2"


def test_whole_messages_are_copied_as_written_and_parts_as_seen(qtbot: QtBot, view: TranscriptView) -> None:
    view.set_messages(
        [
            StoredMessage(id=new_id(), chat_id=1, parent_id=None, role="user", content="first question"),
            StoredMessage(
                id=new_id(), chat_id=1, parent_id=None, role="assistant", content="an **answer**\n\n```py\nx\n```"
            ),
            StoredMessage(id=new_id(), chat_id=1, parent_id=None, role="user", content="second *question*"),
        ]
    )
    view.selection.anchor, view.selection.head = TextPosition(0, 0, 6), TextPosition(2, 0, 6)
    assert copied(view) == "question\n\nan **answer**\n\n```py\nx\n```\n\nsecond"
    view.selection.anchor, view.selection.head = TextPosition(1, 0, 0), TextPosition(1, 1, END)
    assert copied(view) == "an answer\n\nx"
    view.copy(as_written=True)
    assert QGuiApplication.clipboard().text() == "an **answer**\n\n```py\nx\n```"


def test_select_all_of_a_long_chat_makes_no_documents(qtbot: QtBot, view: TranscriptView) -> None:
    texts = [f"message *{n}*" for n in range(3000)]
    view.set_messages(
        [StoredMessage(id=new_id(), chat_id=1, parent_id=None, role="user", content=text) for text in texts]
    )
    qtbot.keyClick(view, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    before = sum(v.document is not None for item in view.items for v in item.views or ())
    assert copied(view) == "\n\n".join(texts)
    assert sum(v.document is not None for item in view.items for v in item.views or ()) == before < 60


def test_writing_from_right_to_left_stays_in_its_bubble(view: TranscriptView) -> None:
    view.set_messages(
        [
            StoredMessage(
                id=new_id(), chat_id=1, parent_id=None, role="user", content="שלום עולם\n\nמה שלומך היום, ידידי?"
            )
        ]
    )
    item = view.items[0]
    inner = item.bubble_width(view.layout_.column) - 2 * BUBBLE_PAD_X
    for block in item.blocks():
        assert block.document is not None
        assert block.indent + block.document.textWidth() == pytest.approx(inner, abs=2)
