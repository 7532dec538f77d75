"""The text selection: from one place in the conversation to another, across blocks and messages."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from PySide6.QtGui import QTextCursor, QTextDocument

from app.markdown.split import without_thought
from app.transcript.blocks import BlockView
from app.transcript.item import MessageItem

END = 1 << 40  # behind every block of a message, or every character of a block
_MANY = 300  # blocks


class TextPosition(NamedTuple):
    """Position of a character in the conversation; positions compare in reading order."""

    message: int  # index of the message
    block: int  # index of the block in it
    position: int  # character of the block's document


class Selection:
    """Anchor is where the mouse went down, head is where it is.

    wanted: words that are looked for, marked wherever they are in sight. found: the match that is looked at, which is
    marked more strongly as long as it is what is selected.
    """

    def __init__(self) -> None:
        self.wanted: re.Pattern[str] | None = None
        self.found: tuple[TextPosition, TextPosition] | None = None
        self.anchor: TextPosition | None = None
        self.head: TextPosition | None = None

    def clear(self) -> None:
        """Select nothing."""
        self.anchor = self.head = None

    @property
    def empty(self) -> bool:
        """Whether there is nothing to copy."""
        return self.anchor is None or self.anchor == self.head

    def bounds(self) -> tuple[TextPosition, TextPosition] | None:
        """First and last place, or None."""
        if self.anchor is None or self.head is None or self.anchor == self.head:
            return None
        return min(self.anchor, self.head), max(self.anchor, self.head)

    @property
    def is_found(self) -> bool:
        """Whether what is selected is the match that is looked at."""
        return self.found is not None and self.bounds() == self.found

    def cursor(self, message: int, block: int, document: QTextDocument) -> QTextCursor | None:
        """Cursor over what of this block is selected, or None."""
        bounds = self.bounds()
        if bounds is None:
            return None
        first, last = bounds
        here = (message, block)
        if not first[:2] <= here <= last[:2]:
            return None
        end = max(0, document.characterCount() - 1)
        cursor = QTextCursor(document)
        cursor.setPosition(min(first.position, end) if here == first[:2] else 0)
        stop = min(last.position, end) if here == last[:2] else end
        cursor.setPosition(stop, QTextCursor.MoveMode.KeepAnchor)
        return cursor

    def text(self, items: Sequence[MessageItem], make: Callable[[int, int, int], None], as_written: bool) -> str:
        """The selected text. make(message, first, last) makes the documents of these blocks.

        as_written: blocks that are wholly selected as Markdown. Messages that are wholly selected always are, and so is
        the inside of a very long selection: making ten thousand documents would take too long.
        """
        bounds = self.bounds()
        if bounds is None:
            return ""
        parts = []
        for message in range(bounds[0].message, min(bounds[1].message, len(items) - 1) + 1):
            if bounds[0] <= (message, 0, 0) and bounds[1] >= (message, END, 0):
                parts.append(without_thought(items[message].message.content).strip())
            else:
                parts.append(self._part(items[message], message, bounds, make, as_written))
        return "\n\n".join(p for p in parts if p)

    def _part(
        self, item: MessageItem, message: int, bounds: tuple[TextPosition, TextPosition],
        make: Callable[[int, int, int], None], as_written: bool,
    ) -> str:  # fmt: skip
        views = item.blocks()
        first = bounds[0].block if bounds[0].message == message else 0
        last = min(bounds[1].block if bounds[1].message == message else END, len(views) - 1)
        many = last - first > _MANY
        if not many:
            make(message, first, last)
        text, previous = "", None
        for number in range(first, last + 1):
            view = views[number]
            inside = bounds[0] <= (message, number, 0) and (message, number, END) <= bounds[1]
            if many or (as_written and inside):
                piece = view.block.written()
            else:
                piece = self._shown(view, message, number)
            if piece:
                tight = previous is not None and previous.block.kind == view.block.kind == "item"
                text += ("\n" if tight else "\n\n" if text else "") + piece
                previous = view
        return text

    def _shown(self, view: BlockView, message: int, number: int) -> str:
        if view.document is None:
            return ""
        cursor = self.cursor(message, number, view.document)
        return view.document.selected(cursor).strip("\n") if cursor is not None and cursor.hasSelection() else ""
