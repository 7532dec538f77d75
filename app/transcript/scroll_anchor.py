"""Scroll anchor: keeps the same text at the top of the page when heights change."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from PySide6.QtCore import QPointF, Qt

from app.storage.records import ScrollPosition
from app.transcript.blocks import BlockView
from app.transcript.page import TranscriptPage

_EDGE = 3  # pixels of a line that are not enough to call it the first in sight
_TRIES = 4  # what is above in the message has its true height only once it is in sight


class ScrollAnchor(NamedTuple):
    """A character of a message's block, and how far below the top of the page its line begins, by the size of text."""

    message_id: int
    block: int
    position: int
    below: float


@contextmanager
def anchored(page: TranscriptPage) -> Iterator[None]:
    """Keep what is at the top of the page there while heights change inside."""
    anchor = take_anchor(page)
    yield
    restore_anchor(page, anchor)


def take_anchor(page: TranscriptPage) -> ScrollAnchor | None:
    """Anchor at the first line in sight; None in an empty chat, and where the page stays at the end."""
    y = float(page.verticalScrollBar().value())
    index = page.layout_.at(y)
    if page.place() is None or index < 0:
        return None
    item, top = page.items[index], page.layout_.top(index)
    for number, block in item.between(y - top, y - top + page.viewport().height()):
        if block.document is not None:
            rect = block.text_rect(item.text_width(page.layout_.column))
            spot = QPointF(4, max(0.0, y + _EDGE - top - rect.top()))
            position = max(0, block.document.documentLayout().hitTest(spot, Qt.HitTestAccuracy.FuzzyHit))
            below = top + line_top(block, position, rect.top()) - y
            return ScrollAnchor(item.message.id, number, position, below / _text_size(block))
    return ScrollAnchor(item.message.id, -1, 0, top - y)


def restore_anchor(page: TranscriptPage, anchor: ScrollAnchor | None) -> None:
    """Scroll until the anchor is as far below the top as it was. None, or its message is gone: to the end."""
    page.arrange()
    index = page.index(anchor.message_id) if anchor is not None else -1
    if anchor is None or index < 0:
        return
    item = page.items[index]
    for _ in range(_TRIES):
        y, below = 0.0, anchor.below
        if 0 <= anchor.block < len(item.blocks()):
            page.make(index, anchor.block, anchor.block)
            block = item.blocks()[anchor.block]
            y = line_top(block, anchor.position, block.text_rect(item.text_width(page.layout_.column)).top())
            below *= _text_size(block)
        if round(page.origin(index).y() + y) == round(below):
            return
        page.go_to(ScrollPosition(anchor.message_id, round(y - below)))


def _text_size(block: BlockView) -> float:
    return block.document.defaultFont().pointSizeF() if block.document is not None else 1.0


def line_top(block: BlockView, position: int, top: float) -> float:
    """Y of the line of a character, in a block whose text begins at `top`."""
    if block.document is None:
        return top
    text = block.document.findBlock(position)
    line = text.layout().lineForTextPosition(position - text.position())
    within = line.y() if line.isValid() else 0.0
    return top + block.document.documentLayout().blockBoundingRect(text).top() + within
