"""The page as it was painted last: while an answer only grows, what is above its end is moved, not painted again."""

from __future__ import annotations

import math
from collections.abc import Callable

from PySide6.QtCore import QRect, QSize
from PySide6.QtGui import QColor, QPainter, QPixmap

_ALL_FINE = 1 << 30


class PagePicture:
    """A picture of the viewport, opaque. `drop` it whenever more changes than the end of an answer."""

    def __init__(self) -> None:
        self._picture: QPixmap | None = None
        self._stale_from = 0  # pixels from the top; what is below has to be painted

    def drop(self) -> None:
        """All has to be painted."""
        self._picture = None

    def grown(self, by: float, end: float) -> bool:
        """What is above `end` (pixels from the top) was `by` lower before. False: all has to be painted."""
        picture = self._picture
        if picture is None:
            return False
        ratio = picture.devicePixelRatio()
        if by < 0 or not by.is_integer() or not (by * ratio).is_integer():
            self._picture = None
            return False
        if by:
            picture.scroll(0, -round(by * ratio), picture.rect())
        self._stale_from = min(max(0, self._stale_from - int(by)), max(0, math.floor(end)))
        return True

    def stale(self, size: QSize) -> QRect:
        """What of a viewport of this size has to be painted."""
        return QRect(0, self._stale_from, size.width(), max(0, size.height() - self._stale_from))

    def show(
        self, onto: QPainter, size: QSize, ground: QColor, paint: Callable[[QPainter, QRect], object]
    ) -> None:  # fmt: skip
        """Draw the picture, once paint(painter, area) has painted what is missing in it."""
        ratio = onto.device().devicePixelRatioF()
        pixels = QSize(round(size.width() * ratio), round(size.height() * ratio))
        if self._picture is None or self._picture.size() != pixels or self._picture.devicePixelRatio() != ratio:
            self._picture = QPixmap(pixels)
            self._picture.setDevicePixelRatio(ratio)
            self._stale_from = 0
        area = self.stale(size)
        if not area.isEmpty():
            painter = QPainter(self._picture)
            painter.setClipRect(area)
            painter.setCompositionMode(QPainter.CompositionMode.CompositionMode_Source)
            painter.fillRect(area, ground)
            painter.setCompositionMode(QPainter.CompositionMode.CompositionMode_SourceOver)
            paint(painter, area)
            painter.end()
            self._stale_from = _ALL_FINE
        onto.drawPixmap(0, 0, self._picture)
