"""How wide the text of a conversation is, and where it begins."""

from __future__ import annotations

from PySide6.QtWidgets import QAbstractScrollArea

from app.theme import fonts

BUTTON = 32  # pixels of the button behind it, beside text of the base size
_WIDEST = 780.0
_NARROWEST = 200.0
_MARGIN = 28.0
_GAP = 6.0  # around the button


def beside() -> float:
    """Pixels behind the column: nothing is written there, whatever the width, but a button has its place."""
    return fonts.pixels(BUTTON) + 2 * _GAP


def width_in(area: QAbstractScrollArea, scrolls: bool = False) -> float:
    """Pixels. scrolls: there will be a scroll bar, so that there is room left for it already."""
    width, bar = area.viewport().width(), area.verticalScrollBar()
    if scrolls and not bar.isVisibleTo(area):
        width -= bar.sizeHint().width()
    return max(_NARROWEST, min(_WIDEST, width - _MARGIN - beside()))


def left_in(area: QAbstractScrollArea, column: float) -> float:
    """Where a column begins: it is in the middle where the room behind it is left all the same."""
    spare = area.viewport().width() - column
    return max(0.0, round(min(spare / 2, spare - beside())))
