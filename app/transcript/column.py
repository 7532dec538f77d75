"""How wide the text of a conversation is."""

from __future__ import annotations

from PySide6.QtWidgets import QAbstractScrollArea

from app.transcript.item import LOWEST

_WIDEST = 780.0
_NARROWEST = 200.0
_MARGIN = 28.0


def width_in(area: QAbstractScrollArea, messages: int = 0) -> float:
    """Pixels. messages: as many will be shown; where they need a scroll bar, there is room left for it already."""
    width, bar = area.viewport().width(), area.verticalScrollBar()
    if messages * LOWEST > area.viewport().height() and not bar.isVisibleTo(area):
        width -= bar.sizeHint().width()
    return max(_NARROWEST, min(_WIDEST, width - 2 * _MARGIN))
