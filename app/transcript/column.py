"""How wide the text of a conversation is."""

from __future__ import annotations

from PySide6.QtWidgets import QAbstractScrollArea

_WIDEST = 780.0
_NARROWEST = 200.0
_MARGIN = 28.0


def width_in(area: QAbstractScrollArea, scrolls: bool = False) -> float:
    """Pixels. scrolls: there will be a scroll bar, so that there is room left for it already."""
    width, bar = area.viewport().width(), area.verticalScrollBar()
    if scrolls and not bar.isVisibleTo(area):
        width -= bar.sizeHint().width()
    return max(_NARROWEST, min(_WIDEST, width - 2 * _MARGIN))
