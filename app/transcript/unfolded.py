"""The figures that are unfolded under answers: widgets that keep their place as the page scrolls and grows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot
from PySide6.QtWidgets import QApplication, QWidget

from app.theme import fonts
from app.transcript.details import AnswerDetails
from app.transcript.item import FOOT, MessageItem

if TYPE_CHECKING:
    from app.transcript.view import TranscriptView

_GAP = 8.0  # below them


class Unfolded(QObject):
    """Any number at once. Those of messages that the page shows no more go by themselves."""

    def __init__(self, view: TranscriptView) -> None:
        super().__init__(view)
        self._view = view
        self._shown: list[tuple[MessageItem, AnswerDetails]] = []

    def toggle(self, item: MessageItem) -> None:
        """Unfold the figures of an answer and bring them into sight, or fold them again."""
        at = next((n for n, (known, _) in enumerate(self._shown) if known is item), -1)
        if at >= 0:
            self._drop(*self._shown.pop(at))
        else:
            made = AnswerDetails(item.message, self._view.viewport())
            made.hidden.connect(self._view.toggle_details)
            made.grew.connect(self._grown)
            self._shown.append((item, made))
            made.show()
        self._grown()
        if at < 0:
            self._bring(item)

    def measure(self, column: float) -> None:
        """Give each the room it needs in a column of this width."""
        for item, details in self._shown:
            item.unfolded = details.fit(round(column)) + _GAP

    def place(self) -> None:
        """Where the page has scrolled to."""
        if not self._shown:
            return
        there = {id(item): number for number, item in enumerate(self._view.items)}
        for gone in [pair for pair in self._shown if id(pair[0]) not in there]:
            self._shown.remove(gone)
            self._drop(*gone)
        high = self._view.viewport().height()
        for item, details in self._shown:
            origin = self._view.origin(there[id(item)])
            top = round(origin.y() + item.height - item.unfolded)
            details.move(round(origin.x()), top)
            seen = -details.height() < top < high
            details.setVisible(seen or _has_focus(details))

    @Slot()
    def _grown(self) -> None:
        self.measure(self._view.layout_.column)
        self._view.layout_.reflow(self._view.layout_.column)
        self._view.arrange()

    def _bring(self, item: MessageItem) -> None:
        """Scroll so far that all of it is in sight, and the line above it in any case."""
        view = self._view
        bar = view.verticalScrollBar()
        bottom = view.origin(view.items.index(item)).y() + item.height
        beyond = bottom - view.viewport().height()
        above = bottom - item.unfolded - fonts.pixels(FOOT)
        bar.setValue(bar.value() + max(0, round(min(beyond, above))))

    def _drop(self, item: MessageItem, details: AnswerDetails) -> None:
        item.unfolded = 0.0
        if _has_focus(details):
            self._view.setFocus()
        details.hide()
        details.deleteLater()


def _has_focus(widget: QWidget) -> bool:
    """It, or something in it."""
    now = QApplication.focusWidget()
    return now is not None and (now is widget or widget.isAncestorOf(now))
