"""Layers down, experts across: how often each was used in this answer, or at which precision it is in memory."""

from __future__ import annotations

import math

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Slot
from PySide6.QtGui import QColor, QHelpEvent, QImage, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from app.theme import fonts
from app.theme.theme import Theme
from app.theme.tokens import TIER_NAMES, Palette
from engine import api

USES, RESIDENCY = "uses", "residency"
_GUTTER = 26.0  # for the layer numbers
_STEPS = 64


class Heatmap(QWidget):
    """Paints one pixel per expert into an image and scales that up; the image is made only for new data."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._data: api.Telemetry | None = None
        self._image: QImage | None = None
        self.meaning = USES
        self.setAccessibleName("Heatmap of layers and experts")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setMinimumHeight(120)
        theme.changed.connect(self._redraw)

    def set_meaning(self, meaning: str) -> None:
        """USES or RESIDENCY."""
        self.meaning = meaning
        self._redraw()

    def show_data(self, data: api.Telemetry | None) -> None:
        """Another snapshot."""
        rows = len(data.layer_names) if data is not None else 0
        if rows != (len(self._data.layer_names) if self._data is not None else 0):
            self.setFixedHeight(min(360, max(120, rows * 14)))
        self._data = data
        self._redraw()

    def sizeHint(self) -> QSize:
        return QSize(280, 160)

    @Slot()
    def _redraw(self) -> None:
        self._image = None
        self.update()

    def _grid(self) -> QRectF:
        return QRectF(self.rect()).adjusted(_GUTTER, 0, 0, 0)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        p = self._theme.palette
        data = self._data
        if data is None or not data.activations or not data.activations[0]:
            painter.setPen(QColor(p.muted))
            painter.drawText(self.rect(), Qt.AlignmentFlag.AlignCenter, "Waiting for a model")
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
            for row in range(1, rows):
                y = grid.top() + row * step_y
                painter.drawLine(QPointF(grid.left(), y), QPointF(grid.right(), y))
        if step_x >= 5:
            for column in range(1, columns):
                x = grid.left() + column * step_x
                painter.drawLine(QPointF(x, grid.top()), QPointF(x, grid.bottom()))
        painter.setPen(QColor(p.muted))
        painter.setFont(fonts.text(0.74))
        every = max(1, math.ceil(14 / step_y))
        for row in range(0, rows, every):
            line = QRectF(0, grid.top() + row * step_y, _GUTTER - 6, max(step_y, 12))
            painter.drawText(
                line, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, str(data.layer_names[row])
            )

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent):
            text = self.describe(QPointF(event.pos()))
            QToolTip.showText(event.globalPos(), text, self) if text else QToolTip.hideText()
            return True
        return super().event(event)

    def describe(self, point: QPointF) -> str:
        """What is known of the expert at a point; empty beside the grid."""
        data, grid = self._data, self._grid()
        if data is None or not data.activations or not grid.contains(point):
            return ""
        row = min(len(data.activations) - 1, int((point.y() - grid.top()) / grid.height() * len(data.activations)))
        experts = len(data.activations[row])
        expert = min(experts - 1, int((point.x() - grid.left()) / grid.width() * experts))
        uses, held = data.activations[row][expert], data.residency[row][expert]
        times = "not used" if not uses else "used once" if uses == 1 else f"used {uses:,} times"
        where = f"in memory at {held} bits" if held else "on disk"
        return f"Layer {data.layer_names[row]}, expert {expert}\n{times} in this answer\n{where}"


def draw(data: api.Telemetry, meaning: str, palette: Palette) -> QImage:
    """One pixel per expert, colours from a table."""
    table = data.activations if meaning == USES else data.residency
    rows, columns = len(table), max(len(row) for row in table)
    if meaning == USES:
        most = max(1, max(max(row) for row in table))
        level = [round(math.sqrt(n / most) * (_STEPS - 1)) for n in range(most + 1)] if most <= 4096 else []
        colours = ramp(palette.heat, _STEPS)
        lines = (bytes(level[n] if level else round(math.sqrt(n / most) * (_STEPS - 1)) for n in row) for row in table)
    else:
        tiers = (0, 2, 4, 8, 16, 32)
        colours = [QColor(palette.tiers[str(t)]).rgb() for t in tiers]
        code = {t: i for i, t in enumerate(tiers)}
        lines = (bytes(code[t] for t in row) for row in table)
    stride = (columns + 3) // 4 * 4
    pixels = b"".join(line.ljust(stride, b"\0") for line in lines)
    image = QImage(pixels, columns, rows, stride, QImage.Format.Format_Indexed8)
    image.setColorTable(colours)
    return image.convertToFormat(QImage.Format.Format_RGB32)  # a copy: the bytes may go


def ramp(stops: tuple[str, ...], steps: int) -> list[int]:
    """`steps` colours from the first stop to the last."""
    made = []
    ends = [QColor(s) for s in stops]
    for step in range(steps):
        place = step / (steps - 1) * (len(ends) - 1)
        i = min(int(place), len(ends) - 2)
        f = place - i
        a, b = ends[i], ends[i + 1]
        mixed = [round(x + (y - x) * f) for x, y in zip(a.getRgb()[:3], b.getRgb()[:3])]  # type: ignore[index]
        made.append(QColor(*mixed).rgb())
    return made


def legend(meaning: str, palette: Palette, held: set[int]) -> list[tuple[str, str]]:
    """(colour, words) for the line under the map. held: tiers that occur."""
    if meaning == USES:
        return [(palette.heat[0], "never"), (palette.heat[2], "now and then"), (palette.heat[-1], "often")]
    wanted = sorted(held | {0})
    return [(palette.tiers[str(t)], TIER_NAMES[str(t)]) for t in wanted]
