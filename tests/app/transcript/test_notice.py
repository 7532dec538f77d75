"""Notices are read in full, however narrow the column is."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtGui import QFontMetricsF
from pytestqt.qtbot import QtBot

from app.storage.records import Attachment, StoredMessage, new_id
from app.theme import fonts
from app.transcript import notes
from app.transcript.item import notice_box
from app.transcript.paint import files_rect
from app.transcript.view import TranscriptView

STOPPED = StoredMessage(
    id=new_id(),
    chat_id=1,
    parent_id=None,
    role="assistant",
    content="An answer.",
    finish="length",
    stats={"dropped_turns": 3},
)
ASKED = StoredMessage(
    id=new_id(),
    chat_id=1,
    parent_id=None,
    role="user",
    content="And now?",
    attachments=(Attachment("a long name.txt", "x"),) * 9,
)


@pytest.mark.parametrize("text", [*notes.before(STOPPED), "\N{GRINNING FACE}" * 60, "Attached: " + "x" * 200])
def test_nothing_is_cut_off(qtbot: QtBot, text: str) -> None:
    metrics = QFontMetricsF(fonts.text(0.92))
    wide, narrow = notice_box(text, 5000), notice_box(text, 240)
    assert wide.lines == (text,)
    assert len(narrow.lines) > 1
    assert narrow.width <= 240
    assert "".join("".join(narrow.lines).split()) == "".join(text.split())
    assert all(metrics.horizontalAdvance(line) <= narrow.width for line in narrow.lines)
    assert narrow.height - wide.height == pytest.approx((len(narrow.lines) - 1) * metrics.lineSpacing())


def test_a_message_makes_room_for_its_notices(qtbot: QtBot, view: TranscriptView) -> None:
    view.resize(1000, 600)
    view.set_messages([ASKED, replace(STOPPED, id=new_id())])
    (question, answer), wide = view.items, view.layout_.column
    tops, foots = question.first_block_top(), answer.height
    view.resize(320, 600)
    column = view.layout_.column
    files = files_rect(question, column)
    assert files is not None
    assert question.first_block_top() - tops == pytest.approx(
        sum(notice_box(n, column).height - notice_box(n, wide).height for n in notes.before(ASKED))
    )
    assert 0 <= files.top() < files.bottom() <= question.first_block_top()
    grown = sum(
        notice_box(n, column).height - notice_box(n, wide).height
        for n in (*notes.before(STOPPED), *notes.after(STOPPED))
    )
    assert grown > 0
    assert answer.height - foots == pytest.approx(grown)
    view.resize(1000, 600)
    assert (question.first_block_top(), answer.height) == (tops, foots)
