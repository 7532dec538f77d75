"""The bubble of the user's own words, and the line that stands beside it for those who use the keyboard."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor

from app.storage.records import Attachment, StoredMessage, new_id
from app.theme.theme import Theme
from app.transcript.item import BUBBLE_PAD_X
from app.transcript.view import TranscriptView


def show(view: TranscriptView, words: str, *files: Attachment) -> None:
    asked = StoredMessage(id=new_id(), chat_id=1, parent_id=None, role="user", content=words, attachments=files)
    view.set_messages([asked])


@pytest.mark.usefixtures("normal_size")
@pytest.mark.parametrize("percent", [100, 150, 175])
def test_words_stand_in_the_middle_of_their_bubble(view: TranscriptView, theme: Theme, percent: int) -> None:
    theme.set_percent(percent)
    show(view, "Hxxn")  # no letter reaches below the line
    picture = view.viewport().grab().toImage()
    right = round(view.origin(0).x() + view.layout_.column)
    left = round(view.origin(0).x() + view.items[0].text_left(view.layout_.column))
    ground = QColor(theme.palette.bubble).rgb()
    bubble = [y for y in range(picture.height()) if picture.pixel(right - 8, y) == ground]
    ink = [
        y
        for y in bubble
        if any(picture.pixelColor(x, y).lightness() < 140 for x in range(left, right - round(BUBBLE_PAD_X)))
    ]
    above, below = ink[0] - bubble[0], bubble[-1] - ink[-1]
    assert above >= 14
    assert abs(above - below) <= 3


def test_the_line_for_the_keyboard_stands_beside_the_bubble(view: TranscriptView) -> None:
    show(view, "Hello")
    view.setFocus(Qt.FocusReason.TabFocusReason)
    item, column = view.items[0], view.layout_.column
    bubble = view.origin(0).x() + item.text_left(column) - BUBBLE_PAD_X
    assert 5 <= bubble - view.marker.geometry().right() <= 15
    show(view, "Hello", Attachment("a-long-name-of-a-file-that-is-attached-to-it.txt", "Words."))
    assert view.marker.geometry().right() < bubble - 40  # beside the line that names the file, too
