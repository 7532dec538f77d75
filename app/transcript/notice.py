"""Notices above or below a message: a box of one line, or of more in a narrow column."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from PySide6.QtCore import QRectF
from PySide6.QtGui import QFontMetricsF, QTextLayout, QTextOption

from app.theme import fonts

_HIGH = 38  # of one line with the room around it, beside text of the base size
_ROUND = 10  # of that around the chip
_BESIDE = 44  # pixels of the column that are no words
_LEAST = 40.0  # pixels for words, however narrow the column


@dataclass(frozen=True)
class NoticeBox:
    """Lines of a notice and its size in pixels. height: with the margin around the box."""

    lines: tuple[str, ...]
    width: float
    height: float

    def rect(self, top: float) -> QRectF:
        """The box itself, where its margin begins at this height."""
        return QRectF(0, top + 4, self.width, self.height - fonts.pixels(_ROUND))


def notice_box(text: str, column: float) -> NoticeBox:
    """Lay out a notice in a column of this width."""
    return _box(text, max(_LEAST, column - _BESIDE), fonts.points())


def height(texts: list[str], column: float) -> float:
    """Height in pixels of notices, one below the other."""
    return sum(notice_box(text, column).height for text in texts)


@lru_cache(maxsize=256)  # a chat of thousands of messages has few notices that differ, and is laid out often
def _box(text: str, room: float, points: float) -> NoticeBox:
    """points: what the result depends on through the fonts."""
    font = fonts.text(0.92)
    metrics = QFontMetricsF(font)
    lines = (text,) if metrics.horizontalAdvance(text) <= room else tuple(_broken(text, room))
    widest = max(metrics.horizontalAdvance(line) for line in lines)
    high = fonts.pixels(_HIGH) + (len(lines) - 1) * metrics.lineSpacing()
    return NoticeBox(lines, min(widest, room) + _BESIDE - 2, high)


def _broken(text: str, room: float) -> list[str]:
    option = QTextOption()
    option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
    layout = QTextLayout(text, fonts.text(0.92))
    layout.setTextOption(option)
    layout.beginLayout()
    signs, lines = text.encode("utf-16-le"), []  # as Qt counts them
    while (line := layout.createLine()).isValid():
        line.setLineWidth(room)
        start = 2 * line.textStart()
        lines.append(signs[start : start + 2 * line.textLength()].decode("utf-16-le").rstrip())
    layout.endLayout()
    return lines
