"""Where every message lies: true heights for what is in sight, guesses for the rest, and nothing that jumps."""

from __future__ import annotations

from bisect import bisect_right

from app.theme.tokens import Palette
from app.transcript.blocks import Workshop
from app.transcript.item import MessageItem
from app.transcript.kept import KeptDocuments

BOTTOM = 12.0  # space under the last message
_AHEAD = 300.0  # laid out beyond the edges, so that scrolling finds it ready


class Layout:
    """Items and their tops, in pixels from the top of the conversation."""

    def __init__(self, workshop: Workshop) -> None:
        self.items: list[MessageItem] = []
        self.column = 600.0
        self._tops: list[float] = [0.0]
        self._workshop = workshop
        self.kept = KeptDocuments()

    def reset(self, items: list[MessageItem], column: float) -> None:
        """Another conversation."""
        for item in self.items:
            item.release()
        self.kept.clear()
        self.items = items
        self.reflow(column)

    def reflow(self, column: float) -> None:
        """Another width: every height is a guess again."""
        self.column = column
        for item in self.items:
            item.guess(column)
        self._stack(0)

    def anew(self, column: float) -> None:
        """Other colours, or text of another size: documents are made again, and every height is a guess again."""
        self.kept.clear()
        for item in self.items:
            item.forget()
        self.reflow(column)

    def insert(self, item: MessageItem) -> None:
        """A message at the end."""
        item.guess(self.column)
        self.items.append(item)
        self._stack(len(self.items) - 1)

    def touch(self, index: int) -> None:
        """Message `index` has another height now; true where it is in sight after `settle`."""
        self.items[index].guess(self.column)
        self._stack(index)

    def replace(self, item: MessageItem, index: int) -> None:
        """Another item in the place of message `index`."""
        self.items[index].release()
        item.guess(self.column)
        self.items[index] = item
        self._stack(index)

    def remove(self, index: int) -> None:
        """A message goes."""
        gone = self.items.pop(index)
        gone.release()
        self._stack(index)

    @property
    def height(self) -> float:
        """Of the whole conversation."""
        return self._tops[-1] + (BOTTOM if self.items else 0.0)

    def top(self, index: int) -> float:
        """Where message `index` begins."""
        return self._tops[index]

    def at(self, y: float) -> int:
        """The message at y; the nearest where there is none; -1 in an empty conversation."""
        return min(max(0, bisect_right(self._tops, y) - 1), len(self.items) - 1)

    def settle(self, y: float, view: float, follow: bool, palette: Palette) -> float:
        """Lay out what is seen of the window [y, y + view]; returns the y to scroll to.

        follow: stay at the end. Otherwise the first block in sight whose height was already true stays where it is.
        """
        if not self.items:
            return 0.0
        for _ in range(4):
            anchor = None if follow else self._anchor(y, view)
            before = self._anchor_top(anchor)
            self._settle_once(y, view, palette)
            limit = max(0.0, self.height - view)
            wanted = limit if follow else min(limit, max(0.0, y + self._anchor_top(anchor) - before))
            if abs(wanted - y) < 0.5:
                break
            y = wanted
        self.kept.trim()
        return y

    def _settle_once(self, y: float, view: float, palette: Palette) -> None:
        index = self.at(y - _AHEAD)
        changed_from = -1
        top = self._tops[index]
        while index < len(self.items) and top <= y + view + _AHEAD:
            item = self.items[index]
            was = item.height
            seen = item.settle(self.column, y - _AHEAD - top, y + view + _AHEAD - top, palette, self._workshop)
            self.kept.seen(seen)
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
