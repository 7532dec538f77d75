"""What stands at the top of the page, so that it stands there again when everything has got another height."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from PySide6.QtCore import QObject, QPointF, Qt, Slot

from app.chats.records import Place
from app.theme.theme import Theme
from app.transcript.blocks import BlockView

if TYPE_CHECKING:
    from app.transcript.view import TranscriptView

_EDGE = 3  # pixels of a line that are not enough to call it the first in sight
_TRIES = 4  # what is above in the message has its true height only once it is in sight


class Sight(NamedTuple):
    """A character of a message's block, and how far below the top of the page its line begins, by the size of text."""

    message_id: int
    block: int
    position: int
    below: float


class Sights(QObject):
    """Has the page made anew when it is to look otherwise, and holds what is in sight meanwhile."""

    def __init__(self, view: TranscriptView, theme: Theme) -> None:
        super().__init__(view)
        self._view = view
        self._held: Sight | None = None
        theme.changes.connect(self._hold)
        theme.changed.connect(self._show)

    @Slot()
    def _hold(self) -> None:
        self._held = seen(self._view)

    @Slot()
    def _show(self) -> None:
        self._view.make_anew()
        show_again(self._view, self._held)


@contextmanager
def kept_in_sight(view: TranscriptView) -> Iterator[None]:
    """Heights change in here: what is at the top of the page stays there."""
    sight = seen(view)
    yield
    show_again(view, sight)


def seen(view: TranscriptView) -> Sight | None:
    """The first line in sight; None in an empty chat, and where the page stays at the end."""
    y = float(view.verticalScrollBar().value())
    index = view.layout_.at(y)
    if view.place() is None or index < 0:
        return None
    item, top = view.items[index], view.layout_.top(index)
    for number, block in item.between(y - top, y - top + view.viewport().height()):
        if block.document is not None:
            rect = block.text_rect(item.text_width(view.layout_.column))
            spot = QPointF(4, max(0.0, y + _EDGE - top - rect.top()))
            position = max(0, block.document.documentLayout().hitTest(spot, Qt.HitTestAccuracy.FuzzyHit))
            below = top + line_top(block, position, rect.top()) - y
            return Sight(item.message.id, number, position, below / _size(block))
    return Sight(item.message.id, -1, 0, top - y)


def show_again(view: TranscriptView, sight: Sight | None) -> None:
    """Scroll to where it stands as far below the top as it did; its message may be gone by now. None: to the end."""
    view.arrange()
    index = view.index(sight.message_id) if sight is not None else -1
    if sight is None or index < 0:
        return
    item = view.items[index]
    for _ in range(_TRIES):
        y, below = 0.0, sight.below
        if 0 <= sight.block < len(item.blocks()):
            view.make(index, sight.block, sight.block)
            block = item.blocks()[sight.block]
            y = line_top(block, sight.position, block.text_rect(item.text_width(view.layout_.column)).top())
            below *= _size(block)
        if round(view.origin(index).y() + y) == round(below):
            return
        view.go_to(Place(sight.message_id, round(y - below)))


def _size(block: BlockView) -> float:
    """Of its text."""
    return block.document.defaultFont().pointSizeF() if block.document is not None else 1.0


def line_top(block: BlockView, position: int, top: float) -> float:
    """Where the line of a character begins, in a block whose text begins at `top`."""
    if block.document is None:
        return top
    text = block.document.findBlock(position)
    line = text.layout().lineForTextPosition(position - text.position())
    within = line.y() if line.isValid() else 0.0
    return top + block.document.documentLayout().blockBoundingRect(text).top() + within
