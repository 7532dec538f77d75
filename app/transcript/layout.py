"""Layout of a conversation: true heights for what is in sight, estimates for the rest, and nothing that jumps."""

from __future__ import annotations

from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Iterable

from PySide6.QtWidgets import QAbstractScrollArea

from app.theme import fonts
from app.transcript.blocks import BlockView, DocumentBuilder
from app.transcript.item import MessageItem

BOTTOM = 12.0  # space under the last message
_AHEAD = 300.0  # laid out beyond the edges, so that scrolling finds it ready

BOUND = 32_000_000  # bytes, as estimated below
_EACH = 20_000  # bytes of a document with a word in it, measured
_CHARACTER = 30  # and of each character more: text, formats and laid out lines; measured 11 to 53
BUTTON = 32  # pixels of the button behind it, beside text of the base size
WIDEST = 780  # pixels of text, beside text of the base size: longer lines are hard to read
_NARROWEST = 200.0  # pixels, in however narrow a window
_MARGIN = 28.0  # pixels before the text
_GAP = 6.0  # around the button


def button_column() -> float:
    """Width of the strip behind the text in which the button to the end has its place."""
    return fonts.pixels(BUTTON) + 2 * _GAP


def width_in(area: QAbstractScrollArea) -> float:
    """Width of the text in pixels, with room left for a scroll bar that may come."""
    width = area.maximumViewportSize().width() - area.verticalScrollBar().sizeHint().width()
    return max(_NARROWEST, min(fonts.pixels(WIDEST), width - _MARGIN - button_column()))


def left_in(area: QAbstractScrollArea, column: float) -> float:
    """X of a column of this width: in the middle, unless the strip behind it needs the room; the same with a scroll bar
    as without."""
    spare = area.maximumViewportSize().width() - column
    behind = button_column() + area.verticalScrollBar().sizeHint().width()
    return max(0.0, round(min(spare / 2, spare - behind)))


def cost(view: BlockView) -> int:
    """Estimated bytes of the document of a block."""
    return _EACH + _CHARACTER * len(view.block.text)


class DocumentCache:
    """LRU cache of the blocks that have documents, bounded in bytes."""

    def __init__(self, bound: int = BOUND) -> None:
        self.nbytes = 0
        self._bound = bound
        self._kept: OrderedDict[BlockView, int] = OrderedDict()
        self._latest: set[BlockView] = set()  # in sight, or nearly: these are never let go

    def __len__(self) -> int:
        return len(self._kept)

    def seen(self, views: Iterable[BlockView]) -> None:
        """Mark these blocks as used now."""
        for view in views:
            price = cost(view)
            self.nbytes += price - self._kept.pop(view, 0)
            self._kept[view] = price
            self._latest.add(view)

    def trim(self) -> None:
        """Evict the least recently seen documents until the rest is within the bound; none that is in sight."""
        while self.nbytes > self._bound and next(iter(self._kept)) not in self._latest:
            view, price = self._kept.popitem(last=False)
            self.nbytes -= price
            view.drop()
        self._latest.clear()

    def drop_waiting(self) -> None:
        """Drop the documents that waited for formulas: some have been made."""
        for view in self._kept:
            view.drop_waiting()

    def clear(self) -> None:
        """Empty the cache; the documents are their owners' to drop."""
        self._kept.clear()
        self.nbytes = 0


class Layout:
    """Tops and heights of all messages, in pixels from the top of the conversation."""

    def __init__(self, builder: DocumentBuilder) -> None:
        self.items: list[MessageItem] = []
        self.column = 600.0
        self._tops: list[float] = [0.0]
        self._builder = builder
        self.documents = DocumentCache()

    def reset(self, items: list[MessageItem], column: float) -> None:
        """Show another conversation."""
        for item in self.items:
            item.release()
        self.documents.clear()
        self.items = items
        self.reflow(column)

    def reflow(self, column: float) -> None:
        """Set another width: every height is an estimate again."""
        self.column = column
        for item in self.items:
            item.guess(column)
        self._stack(0)

    def rebuild(self, column: float) -> None:
        """Make all documents again, for other colours or text of another size; heights are estimates again."""
        self.documents.clear()
        for item in self.items:
            item.forget()
        self.reflow(column)

    def rewrap(self, wraps: bool) -> None:
        """Break long lines of code, or leave them whole."""
        for item in self.items:
            for view in item.views or ():
                view.rewrap(wraps)
            item.moved()
        self.reflow(self.column)

    def insert(self, item: MessageItem) -> None:
        """Append a message."""
        item.guess(self.column)
        self.items.append(item)
        self._stack(len(self.items) - 1)

    def touch(self, index: int) -> None:
        """Estimate the height of message `index` again; `settle` makes it true where it is in sight."""
        self.items[index].guess(self.column)
        self._stack(index)

    def replace(self, item: MessageItem, index: int) -> None:
        """Put another item in the place of message `index`."""
        self.items[index].release()
        item.guess(self.column)
        self.items[index] = item
        self._stack(index)

    def remove(self, index: int) -> None:
        """Remove a message."""
        gone = self.items.pop(index)
        gone.release()
        self._stack(index)

    @property
    def height(self) -> float:
        """Height of the whole conversation."""
        return self._tops[-1] + (BOTTOM if self.items else 0.0)

    def top(self, index: int) -> float:
        """Top of message `index`."""
        return self._tops[index]

    def at(self, y: float) -> int:
        """Number of the message at y, or the nearest one; -1 in an empty conversation."""
        return min(max(0, bisect_right(self._tops, y) - 1), len(self.items) - 1)

    def settle(self, y: float, view: float, follow: bool) -> float:
        """Lay out what is seen of the window [y, y + view]; returns the y to scroll to.

        follow: stay at the end. Otherwise the first block in sight whose height was already true stays where it is.
        """
        if not self.items:
            return 0.0
        for _ in range(4):
            anchor = None if follow else self._anchor(y, view)
            before = self._anchor_top(anchor)
            self._settle_once(y, view)
            limit = max(0.0, self.height - view)
            wanted = limit if follow else min(limit, max(0.0, y + self._anchor_top(anchor) - before))
            if abs(wanted - y) < 0.5:
                break
            laid_out = follow and abs(wanted - y) <= _AHEAD
            y = wanted
            if laid_out:
                break
        self.documents.trim()
        return y

    def _settle_once(self, y: float, view: float) -> None:
        index = self.at(y - _AHEAD)
        changed_from = -1
        top = self._tops[index]
        while index < len(self.items) and top <= y + view + _AHEAD:
            item = self.items[index]
            was = item.height
            seen = item.settle(self.column, y - _AHEAD - top, y + view + _AHEAD - top, self._builder)
            self.documents.seen(seen)
            if item.height != was and changed_from < 0:
                changed_from = index
            top += item.height
            index += 1
        if changed_from >= 0:
            self._stack(changed_from)

    def _anchor(self, y: float, view: float) -> tuple[int, int] | None:
        index = self.at(y)
        first: tuple[int, int] | None = None
        while index < len(self.items) and self._tops[index] < y + view:
            item = self.items[index]
            width = item.text_width(self.column)
            for number, block in item.between(y - self._tops[index], y + view - self._tops[index]):
                if block.measured(width):
                    return index, number
                first = first or (index, number)
            first = first or (index, -1)
            index += 1
        return first

    def _anchor_top(self, anchor: tuple[int, int] | None) -> float:
        if anchor is None:
            return 0.0
        index, number = anchor
        views = self.items[index].views
        return self._tops[index] + (views[number].top if views and 0 <= number < len(views) else 0.0)

    def _stack(self, start: int) -> None:
        del self._tops[start + 1 :]
        at = self._tops[start]
        for item in self.items[start:]:
            at += item.height
            self._tops.append(at)
