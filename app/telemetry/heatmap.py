"""Layers down, experts across: a picture of all experts, to point at, to click, or to walk with the arrow keys."""

from __future__ import annotations

import math

from PySide6.QtCore import QEvent, QLineF, QPointF, QRectF, QSize, Qt, Signal, Slot
from PySide6.QtGui import QColor, QFocusEvent, QHelpEvent, QImage, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from app.i18n.translate import tr
from app.telemetry.expert_maps import USES, describe, draw
from app.theme import fonts
from app.theme.theme import Theme
from engine import protocol

_STEPS = {
    Qt.Key.Key_Left: (0, -1), Qt.Key.Key_Right: (0, 1), Qt.Key.Key_Up: (-1, 0), Qt.Key.Key_Down: (1, 0),
    Qt.Key.Key_Home: (0, -100_000), Qt.Key.Key_End: (0, 100_000), Qt.Key.Key_PageUp: (-100_000, 0),
    Qt.Key.Key_PageDown: (100_000, 0),
}  # fmt: skip


class ExpertHeatmap(QWidget):
    """Paints one pixel per expert into an image and scales that up; the image is made only for new data.

    chosen: (row, expert) was clicked, or Enter pressed on it. pointed: the arrow keys went to (row, expert).
    """

    chosen = Signal(int, int)
    pointed = Signal(int, int)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._data: protocol.Telemetry | None = None
        self._image: QImage | None = None
        self._cursor = (0, 0)
        self._marked: tuple[int, int] | None = None
        self.meaning = USES
        self.setAccessibleName(tr("Heatmap of layers and experts"))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMinimumHeight(120)
        theme.changed.connect(self._redraw)

    def set_meaning(self, meaning: str) -> None:
        """One of MEANINGS."""
        self.meaning = meaning
        self._redraw()

    def show_data(self, data: protocol.Telemetry | None) -> None:
        """Another snapshot; one without the maps, for nobody looked, is shown as nothing."""
        data = data if data is not None and data.activations and data.activations[0] else None
        rows = len(data.layer_names) if data is not None else 0
        self.setMinimumHeight(min(360, max(120, rows * 9)))
        self._data = data
        self._redraw()

    def mark(self, row: int, expert: int) -> None:
        """Frame this expert; -1: none."""
        self._marked = (row, expert) if row >= 0 else None
        self.update()

    def sizeHint(self) -> QSize:
        rows = len(self._data.layer_names) if self._data is not None else 12
        return QSize(280, max(120, min(360, rows * 14)))

    @Slot()
    def _redraw(self) -> None:
        self._image = None
        self.update()

    def _grid(self) -> QRectF:
        gutter = self.fontMetrics().horizontalAdvance("000") + 4.0  # for the layer numbers
        return QRectF(self.rect()).adjusted(gutter, 1, -1, -1)

    def _cell(self, row: int, expert: int) -> QRectF:
        assert self._data is not None
        grid, rows, columns = self._grid(), len(self._data.activations), len(self._data.activations[row])
        wide, high = grid.width() / columns, grid.height() / rows
        return QRectF(grid.left() + expert * wide, grid.top() + row * high, wide, high)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        p = self._theme.palette
        data = self._data
        if data is None:
            painter.setPen(QColor(p.muted))
            painter.drawText(self.rect(), Qt.AlignmentFlag.AlignCenter, tr("Waiting for a model"))
            return
        if self._image is None:
            self._image = draw(data, self.meaning, p)
        grid = self._grid()
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, False)
        painter.drawImage(grid, self._image)
        rows, columns = self._image.height(), self._image.width()
        step_y, step_x = grid.height() / rows, grid.width() / columns
        painter.setPen(QColor(p.sidebar))
        if step_y >= 5:
            painter.drawLines([QLineF(grid.left(), y, grid.right(), y) for y in _between(grid.top(), step_y, rows)])
        if step_x >= 5:
            painter.drawLines([QLineF(x, grid.top(), x, grid.bottom()) for x in _between(grid.left(), step_x, columns)])
        painter.setPen(QColor(p.muted))
        painter.setFont(fonts.text(0.74))
        line = painter.fontMetrics().height()
        for row in range(0, rows, max(1, math.ceil(line / step_y))):
            where = QRectF(0, grid.top() + row * step_y + (min(step_y, line) - line) / 2, grid.left() - 6, line)
            painter.drawText(
                where, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, str(data.layer_names[row])
            )
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if self._marked is not None:
            self._frame(painter, self._cell(*self._within(*self._marked)), p.text)
        if self.hasFocus():
            self._frame(painter, self._cell(*self._within(*self._cursor)), p.accent)

    def _frame(self, painter: QPainter, cell: QRectF, colour: str) -> None:
        """Two lines, so that it is seen on every colour."""
        around = cell.adjusted(-2, -2, 2, 2)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(QColor(self._theme.palette.surface), 3.5))
        painter.drawRect(around)
        painter.setPen(QPen(QColor(colour), 1.6))
        painter.drawRect(around)

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent):
            text = self.describe(QPointF(event.pos()))
            QToolTip.showText(event.globalPos(), text, self) if text else QToolTip.hideText()
            return True
        return super().event(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        at = self._at(event.position())
        if at is not None and event.button() == Qt.MouseButton.LeftButton:
            self._cursor = at
            self.chosen.emit(*at)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if self._data is None:
            super().keyPressEvent(event)
        elif event.key() in _STEPS:
            down, right = _STEPS[Qt.Key(event.key())]
            self._cursor = self._within(self._cursor[0] + down, self._cursor[1] + right)
            self.setAccessibleDescription(describe(self._data, *self._cursor).replace("\n", ", "))
            self.pointed.emit(*self._cursor)
            self.update()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self.chosen.emit(*self._within(*self._cursor))
        else:
            super().keyPressEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.update()

    def describe(self, point: QPointF) -> str:
        """What is known of the expert at a point; empty beside the grid."""
        at = self._at(point)
        return describe(self._data, *at) if at is not None and self._data is not None else ""

    def _within(self, row: int, expert: int) -> tuple[int, int]:
        assert self._data is not None
        row = min(len(self._data.activations) - 1, max(0, row))
        return row, min(len(self._data.activations[row]) - 1, max(0, expert))

    def _at(self, point: QPointF) -> tuple[int, int] | None:
        data, grid = self._data, self._grid()
        if data is None or not grid.contains(point):
            return None
        row = int((point.y() - grid.top()) / grid.height() * len(data.activations))
        row = min(len(data.activations) - 1, row)
        return self._within(row, int((point.x() - grid.left()) / grid.width() * len(data.activations[row])))


def _between(start: float, step: float, count: int) -> list[float]:
    """Where one of `count` cells ends and the next begins."""
    return [start + number * step for number in range(1, count)]
