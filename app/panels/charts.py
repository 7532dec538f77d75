"""The small charts of the live panel, painted by hand: a line over time, a stack of shares, a bar."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.panels.history import LENGTH, ORDER, Sample
from app.theme.theme import Theme


class Chart(QWidget):
    """Base of the charts: a fixed height, and a repaint when the theme changes."""

    def __init__(self, theme: Theme, name: str, height: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme = theme
        self.setAccessibleName(name)
        self.setFixedHeight(height)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.update)

    def sizeHint(self) -> QSize:
        return QSize(120, self.height())


class Line(Chart):
    """Values over the last half minute; None leaves a gap. ceiling 0 lets the largest value be the top."""

    def __init__(self, theme: Theme, name: str, ceiling: float = 0.0, parent: QWidget | None = None) -> None:
        super().__init__(theme, name, 40, parent)
        self._ceiling = ceiling
        self._values: Sequence[float | None] = ()

    def show_values(self, values: Sequence[float | None]) -> None:
        """The oldest first."""
        self._values = values
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        p = self.theme.palette
        area = QRectF(self.rect()).adjusted(0, 4, 0, -1)
        painter.setPen(QPen(QColor(p.border), 1))
        painter.drawLine(area.bottomLeft(), area.bottomRight())
        top = self._ceiling or 1.15 * max((v for v in self._values if v is not None), default=0.0) or 1.0
        step = area.width() / (LENGTH - 1)
        start = area.right() - (len(self._values) - 1) * step
        run: list[QPointF] = []
        for index, value in enumerate((*self._values, None)):
            if value is not None:
                run.append(QPointF(start + index * step, area.bottom() - min(1.0, value / top) * area.height()))
            elif run:
                self._stroke(painter, run, area.bottom())
                run = []

    def _stroke(self, painter: QPainter, run: list[QPointF], floor: float) -> None:
        accent = QColor(self.theme.palette.accent)
        soft = QColor(accent)
        soft.setAlphaF(0.16)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(soft)
        painter.drawPolygon(QPolygonF([QPointF(run[0].x(), floor), *run, QPointF(run[-1].x(), floor)]))
        painter.setPen(QPen(accent, 1.6))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPolyline(QPolygonF(run))


class Stack(Chart):
    """Shares of precision over the last half minute, the finest at the bottom."""

    def __init__(self, theme: Theme, name: str, parent: QWidget | None = None) -> None:
        super().__init__(theme, name, 54, parent)
        self._samples: Sequence[Sample] = ()

    def show_samples(self, samples: Sequence[Sample]) -> None:
        """The oldest first; a step without uses keeps the shares before it."""
        self._samples = samples
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        p = self.theme.palette
        clip = QPainterPath()
        clip.addRoundedRect(QRectF(self.rect()), 6, 6)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setClipPath(clip)
        painter.fillRect(self.rect(), QColor(p.hover))
        mixes = []
        last: dict[str, float] | None = None
        for sample in self._samples:
            last = sample.mix or last
            mixes.append(last)
        first = next((i for i, m in enumerate(mixes) if m is not None), len(mixes))
        known = [m for m in mixes[first:] if m is not None]
        if not known:
            return
        width, height = self.width(), self.height()
        step = width / (LENGTH - 1)
        start = width - (len(known) - 1) * step
        floor = [float(height)] * len(known)
        for tier in ORDER:
            if not any(m.get(tier) for m in known):
                continue
            top = [f - m.get(tier, 0.0) * height for f, m in zip(floor, known)]
            upper = [QPointF(start + i * step, y) for i, y in enumerate(top)]
            lower = [QPointF(start + i * step, y) for i, y in enumerate(floor)]
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(p.tiers[tier]))
            painter.drawPolygon(QPolygonF([*upper, *reversed(lower)]))
            floor = top


class Bar(Chart):
    """A share of something, from 0 to 1."""

    def __init__(self, theme: Theme, name: str, parent: QWidget | None = None) -> None:
        super().__init__(theme, name, 8, parent)
        self._share = 0.0

    def show_share(self, share: float) -> None:
        """0 to 1."""
        self._share = min(1.0, max(0.0, share))
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        whole = QRectF(self.rect())
        painter.setBrush(QColor(self.theme.palette.pressed))
        painter.drawRoundedRect(whole, 4, 4)
        if self._share > 0:
            painter.setBrush(QColor(self.theme.palette.accent))
            painter.drawRoundedRect(QRectF(0, 0, max(8.0, whole.width() * self._share), whole.height()), 4, 4)
