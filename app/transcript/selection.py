"""Which text is selected: from one place in the conversation to another, across blocks and messages."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from PySide6.QtGui import QTextCursor, QTextDocument


class Place(NamedTuple):
    """A position in the conversation; places compare in reading order."""

    message: int  # index of the message
    block: int  # index of the block in it
    position: int  # character of the block's document


class Selection:
    """anchor is where the mouse went down, head is where it is."""

    def __init__(self) -> None:
        self.anchor: Place | None = None
        self.head: Place | None = None

    def clear(self) -> None:
        """Nothing is selected."""
        self.anchor = self.head = None

    @property
    def empty(self) -> bool:
        """True where there is nothing to copy."""
        return self.anchor is None or self.anchor == self.head

    def bounds(self) -> tuple[Place, Place] | None:
        """First and last place, or None."""
        if self.anchor is None or self.head is None or self.anchor == self.head:
            return None
        return min(self.anchor, self.head), max(self.anchor, self.head)

    def cursor(self, message: int, block: int, document: QTextDocument) -> QTextCursor | None:
        """What of this block is selected, or None."""
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

    def text(self, blocks: Callable[[int], list[QTextDocument]], messages: int) -> str:
        """The selected text. blocks(message): the documents of all its blocks. Blocks are a blank line apart."""
        bounds = self.bounds()
        if bounds is None:
            return ""
        parts = []
        for message in range(bounds[0].message, min(bounds[1].message, messages - 1) + 1):
            for number, document in enumerate(blocks(message)):
                cursor = self.cursor(message, number, document)
                if cursor is not None and cursor.hasSelection():
                    parts.append(cursor.selection().toPlainText().strip("\n"))
        return "\n\n".join(parts)
