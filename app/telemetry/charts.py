"""The small charts of the live panels, painted by hand: a line over time, a stack of shares, a bar of parts,
and the bar that says where the memory goes.

docs/benchmarks.md says what pyqtgraph would cost in their place; a screen reader sees nothing of its plots.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, TypeVar

from PySide6.QtCore import QEvent, QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import (
    QAbstractTextDocumentLayout,
    QColor,
    QHelpEvent,
    QPainter,
    QPainterPath,
    QPaintEvent,
    QPalette,
    QPen,
    QPolygonF,
    QTextDocument,
)
from PySide6.QtWidgets import QLabel, QSizePolicy, QToolTip, QWidget

from app.i18n.translate import tr, tr_noop
from app.telemetry.history import STEPS
from app.theme import fonts, sizes
from app.theme.theme import Palette, Theme
from app.widgets.builders import vbox
from app.widgets.text import StableLabel, percent, size
from engine import protocol

T = TypeVar("T")
_CJK = re.compile("([\u2e80-\uffef])")
_SQUARE, _SWATCH = "■", 9  # before each word of a legend, and how many pixels it takes beside text of the base size
_COLOURED = re.compile(f'color:([^"]+)">{_SQUARE}')
LEGEND = 0.84  # of the base size, the words under a chart


class Chart(QWidget):
    """Base of the charts: a height in lines of text, a repaint when the theme changes, a tooltip where there is one."""

    def __init__(self, theme: Theme, name: str, lines: float, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme = theme
        self.setAccessibleName(name)
        sizes.set_lines(self, lines)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.update)

    def sizeHint(self) -> QSize:
        return QSize(120, self.height())

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent):
            text = self.describe(event.pos().x())
            QToolTip.showText(event.globalPos(), text, self) if text else QToolTip.hideText()
            return True
        return super().event(event)

    def describe(self, x: float) -> str:
        """Tooltip at an x; '' for none."""
        raise NotImplementedError

    def value_at(self, x: float, values: Sequence[T]) -> T | None:
        """The one of these values over time, the last at the right edge, that is drawn at an x; None where none is."""
        index = round(len(values) - 1 - (self.width() - x) / self.width() * (STEPS - 1))
        return values[index] if 0 <= index < len(values) else None


class LineChart(Chart):
    """Values over the last half minute; None is a gap. top 0 fits the largest value."""

    def __init__(
        self,
        theme: Theme,
        name: str,
        format_value: Callable[[float], str],
        top: float = 0.0,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(theme, name, 2.1, parent)
        self._format = format_value
        self._top = top
        self._values: Sequence[float | None] = ()

    def show_values(self, values: Sequence[float | None]) -> None:
        """Set the values, the oldest first."""
        if values != self._values:
            self._values = values
            self.update()

    def describe(self, x: float) -> str:
        """The value there."""
        value = self.value_at(x, self._values)
        return self._format(value) if value is not None else ""

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        p = self.theme.palette
        area = QRectF(self.rect()).adjusted(0, 4, 0, -1)
        painter.setPen(QPen(QColor(p.border), 1))
        painter.drawLine(area.bottomLeft(), area.bottomRight())
        top = self._top or 1.15 * max((v for v in self._values if v is not None), default=0.0) or 1.0
        step = area.width() / (STEPS - 1)
        start = area.right() - (len(self._values) - 1) * step
        run: list[QPointF] = []
        for index, value in corners([*self._values, None]):
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


@dataclass(frozen=True)
class Series:
    """A kind of values in a chart. colour: picks one of a palette."""

    key: str
    words: str
    colour: Callable[[Palette], str]


class StackedChart(Chart):
    """Shares over the last half minute, the first kind at the bottom."""

    def __init__(self, theme: Theme, name: str, kinds: Sequence[Series], parent: QWidget | None = None) -> None:
        super().__init__(theme, name, 3.0, parent)
        self._kinds = kinds
        self._known: list[Mapping[str, float]] = []

    def show_shares(self, steps: Sequence[Mapping[str, float] | None]) -> None:
        """The oldest first, each summing to 1; a step of None keeps the shares before it."""
        known: list[Mapping[str, float]] = []
        for step in steps:
            if step is not None:
                known.append(step)
            elif known:
                known.append(known[-1])
        if known != self._known:
            self._known = known
            self.update()

    def mean(self) -> dict[str, float] | None:
        """The part of the chart that each kind covers; None where nothing is drawn. For the legend: of all requests,
        those of a long prompt would outweigh every answer, and contradict the chart."""
        known = self._known
        return {k.key: sum(one.get(k.key, 0.0) for one in known) / len(known) for k in self._kinds} if known else None

    def describe(self, x: float) -> str:
        """The shares there."""
        there = self.value_at(x, self._known) or {}
        return "\n".join(f"{tr(k.words)} {percent(there[k.key])}" for k in self._kinds if there.get(k.key))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        p = self.theme.palette
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setClipPath(_rounded(QRectF(self.rect()), 6))
        painter.fillRect(self.rect(), QColor(p.hover))
        width, height, known = self.width(), self.height(), list(corners(self._known))
        step = width / (STEPS - 1)
        start = width - (len(self._known) - 1) * step
        floor = [float(height)] * len(known)
        for kind in self._kinds:
            if not any(shares.get(kind.key) for _, shares in known):
                continue
            top = [f - shares.get(kind.key, 0.0) * height for f, (_, shares) in zip(floor, known)]
            upper = [QPointF(start + i * step, y) for (i, _), y in zip(known, top)]
            lower = [QPointF(start + i * step, y) for (i, _), y in zip(known, floor)]
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(kind.colour(p)))
            painter.drawPolygon(QPolygonF([*upper, *reversed(lower)]))
            floor = top


class PartsBar(Chart):
    """A bar of parts of a whole, from the left in the order of the kinds; what is left over stays empty."""

    def __init__(self, theme: Theme, name: str, kinds: Sequence[Series], parent: QWidget | None = None) -> None:
        super().__init__(theme, name, 0.85, parent)
        self._kinds = kinds
        self._parts: Mapping[str, int] = {}
        self._whole = 0
        self._format: Callable[[float], str] = str

    def show_parts(self, parts: Mapping[str, int], whole: int, format_value: Callable[[float], str]) -> None:
        """Set the parts of `whole`. format_value: formats an amount."""
        self._parts, self._whole, self._format = parts, whole, format_value
        words = ", ".join(f"{tr(k.words)} {format_value(parts[k.key])}" for k in self._kinds if parts.get(k.key))
        self.setAccessibleDescription(words)
        self.update()

    def describe(self, x: float) -> str:
        """The part there."""
        at = x / max(1, self.width()) * self._whole
        for kind in self._kinds:
            at -= self._parts.get(kind.key, 0)
            if at < 0:
                return f"{tr(kind.words)}: {self._format(self._parts[kind.key])}"
        return ""

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        p = self.theme.palette
        painter.setClipPath(_rounded(QRectF(self.rect()), 5))
        painter.fillRect(self.rect(), QColor(p.pressed))
        x = 0.0
        for kind in self._kinds:
            wide = self._parts.get(kind.key, 0) / self._whole * self.width() if self._whole else 0.0
            painter.fillRect(QRectF(x, 0, wide, self.height()), QColor(kind.colour(p)))
            x += wide
        painter.setClipping(False)  # an outline: what is left over, and the palest parts, are hardly seen without it
        painter.strokePath(_rounded(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 4.5), QPen(QColor(p.muted), 1))


def corners(values: Sequence[T]) -> Iterator[tuple[int, T]]:
    """The values with their numbers, but for those that both neighbours equal: a line through the rest is the same."""
    last = len(values) - 1
    for index, value in enumerate(values):
        if not 0 < index < last or value != values[index - 1] or value != values[index + 1]:
            yield index, value


def swatches(kinds: Sequence[tuple[str, str]]) -> str:
    """A legend in rich text. kinds: (colour, words)."""
    return "&nbsp;&nbsp;&nbsp; ".join(  # a line is broken behind the space, so that none begins with it
        f'<span style="color:{colour}">{_SQUARE}</span>&nbsp;{_unbroken(words)}' for colour, words in kinds
    )


def _unbroken(words: str) -> str:
    """As HTML, in one line: broken neither at a space, nor after a sign of a script without any."""
    return _CJK.sub(r"\1&#8288;", escape(words).replace(" ", "&nbsp;"))


def _rounded(area: QRectF, radius: float) -> QPainterPath:
    path = QPainterPath()
    path.addRoundedRect(area, radius, radius)
    return path


DEVICE = (
    Series("cached", tr_noop("experts"), lambda p: p.tiers["8"]),
    Series("room", tr_noop("free for experts"), lambda p: p.tiers["4"]),
)
KINDS = (
    Series("program", tr_noop("app"), lambda p: p.muted),
    Series("dense", tr_noop("shared weights"), lambda p: p.tiers["32"]),
    Series("context", tr_noop("context"), lambda p: p.tiers["16"]),
    Series("buffers", tr_noop("workspace"), lambda p: p.tiers["skipped"]),
    *DEVICE,
    Series("aside", tr_noop("reserved for context and workspace"), lambda p: p.heat[1]),
    Series("spare", tr_noop("unused"), lambda p: p.tiers["0"]),
)


class MemoryBar(QWidget):
    """The bar, its legend, and a second bar where experts lie in graphics memory too."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._use: protocol.MemoryUse | None = None
        self.bar = PartsBar(theme, tr("Memory use"), KINDS, self)
        self.legend = StableLabel(legend_label(self), self)
        self._device = PartsBar(theme, tr("Experts in GPU memory"), DEVICE, self)
        self.device_text = StableLabel(legend_label(self), self)
        vbox(self.bar, self.legend, self._device, self.device_text, parent=self, margins=0, spacing=5)
        theme.changed.connect(self._refresh)
        self._refresh()

    def show_use(self, use: protocol.MemoryUse | None) -> None:
        """Show the use of memory; None: not known."""
        if use != self._use:
            self._use = use
            self._refresh()

    def _refresh(self) -> None:
        use, palette = self._use, self._theme.palette
        self._device.setVisible(use is not None and use.device > 0)
        self.device_text.setVisible(use is not None and use.device > 0)
        if use is None:
            self.bar.show_parts({}, 0, size)
            self.legend.set_text(tr("Load a model to see memory use."))
            return
        parts = parts_of(use)
        self.bar.show_parts(parts, max(use.ceiling, use.taken), size)
        self.legend.set_text(
            swatches([(k.colour(palette), f"{tr(k.words)} {size(parts[k.key])}") for k in KINDS if parts[k.key]])
        )
        self._device.show_parts({"cached": use.device_cached, "room": use.device - use.device_cached}, use.device, size)
        self.device_text.set_text(
            tr("GPU memory: {part} of {whole} for experts", part=size(use.device_cached), whole=size(use.device))
        )


def parts_of(use: protocol.MemoryUse) -> dict[str, int]:
    """Bytes by KINDS. Those before 'room' add up to what is taken, and all to the limit, or to what is taken beyond
    it."""
    return {kind.key: getattr(use, kind.key) for kind in KINDS}


class LegendLabel(QLabel):
    """Words under a chart with squares as `swatches` has them, each drawn with an outline as a bar has one."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("muted")
        self.setWordWrap(True)
        self.setTextFormat(Qt.TextFormat.RichText)

    def laid_out(self) -> tuple[QTextDocument, list[tuple[QRect, QColor]]]:
        """The words in the width there is, and the squares beside them, on whole pixels, with their colours.

        The signs that stand for them are invisible: how large they are hangs on the typeface.
        """
        document = QTextDocument()
        document.setDocumentMargin(0)
        document.setDefaultFont(self.font())
        document.setHtml(_COLOURED.sub(f'color:transparent">{_SQUARE}', self.text()))
        document.setTextWidth(self.contentsRect().width())
        document.size()  # for which all of it is laid out
        squares = [_square(document, sign.start()) for sign in re.finditer(_SQUARE, document.toPlainText())]
        colours = map(QColor, _COLOURED.findall(self.text()))
        return document, list(zip(squares, colours, strict=True))

    def paintEvent(self, event: QPaintEvent) -> None:
        (document, squares), painter = self.laid_out(), QPainter(self)
        context = QAbstractTextDocumentLayout.PaintContext()
        context.palette.setBrush(QPalette.ColorRole.Text, self.palette().windowText())
        painter.translate(self.contentsRect().topLeft())
        document.documentLayout().draw(painter, context)
        for square, colour in squares:
            painter.fillRect(square, self.palette().windowText())
            painter.fillRect(square.adjusted(1, 1, -1, -1), colour)


def _square(document: QTextDocument, position: int) -> QRect:
    """Where the square is that a sign of a document stands for: on the base line, from the left edge of the sign."""
    block, side = document.findBlock(position), fonts.pixels(_SWATCH)
    layout, at = block.layout(), position - block.position()
    line = layout.lineForTextPosition(at)
    left: Any = line.cursorToX(at)  # with the position, for those that cannot be stood at
    place = layout.position() + QPointF(left[0], line.y() + line.ascent())
    return QRect(round(place.x()), round(place.y()) - side, side, side)


def legend_label(parent: QWidget) -> LegendLabel:
    """A label for the words under a chart, smaller than text."""
    label = LegendLabel(parent)
    sizes.set_font(label, LEGEND)
    return label
