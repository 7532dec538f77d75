"""The panel of experts: a heatmap of layers down and experts across, what its colours mean, and one expert's facts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache

from PySide6.QtCore import QEvent, QLineF, QPoint, QPointF, QRectF, QSize, Qt, Signal, Slot
from PySide6.QtGui import (
    QColor,
    QFocusEvent,
    QFontMetrics,
    QHelpEvent,
    QImage,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QPixmap,
)
from PySide6.QtWidgets import QFrame, QGridLayout, QLabel, QSizePolicy, QToolTip, QWidget

from app.i18n.translate import plural, tr, tr_noop
from app.telemetry.charts import LEGEND, legend_label, swatches
from app.theme import fonts, sizes
from app.theme.theme import TIER_NAMES, Palette, Theme
from app.widgets.builders import hbox, make_combo, make_label, vbox
from app.widgets.buttons import IconButton
from app.widgets.text import size
from engine import protocol

USES, LOADED, GATES, RESIDENCY, PLACE = "uses", "loaded", "gates", "residency", "place"
MEANINGS = {
    USES: tr_noop("Uses in this answer"),
    LOADED: tr_noop("Uses since loading"),
    GATES: tr_noop("Gate weight in this answer"),
    RESIDENCY: tr_noop("Precision in memory"),
    PLACE: tr_noop("Location"),
}
PLACES = {0: tr_noop("on disk"), 1: tr_noop("in memory"), 2: tr_noop("in GPU memory")}
_PLACE_TIERS = {0: "0", 1: "8", 2: "16"}  # colours, by those of the tiers
_SHADES = 64  # colours of the ramp
_TIP = 24  # pixels: what a tooltip has round its words, and how far below its place Qt shows it
# By key, rows and experts to go: more than there are stops at the edge.
_STEPS = {
    Qt.Key.Key_Left: (0, -1), Qt.Key.Key_Right: (0, 1), Qt.Key.Key_Up: (-1, 0), Qt.Key.Key_Down: (1, 0),
    Qt.Key.Key_Home: (0, -100_000), Qt.Key.Key_End: (0, 100_000), Qt.Key.Key_PageUp: (-100_000, 0),
    Qt.Key.Key_PageDown: (100_000, 0),
}  # fmt: skip


class ExpertInspector(QFrame):
    """Panel with the facts of one expert. closed: the user has closed it."""

    closed = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("inspector")
        self._title = make_label("", self, heading=1.0)
        close = IconButton(theme, "close", tr("Close expert details"), self, size=14)
        close.clicked.connect(self.end)
        head = hbox((self._title, 1), close)
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(12)
        self._grid.setVerticalSpacing(2)
        self._grid.setColumnStretch(1, 1)
        self._rows: list[tuple[QLabel, QLabel]] = []
        vbox(head, self._grid, parent=self, margins=(0, 4, 0, 0), spacing=2)
        self.hide()

    def show_expert(self, facts: protocol.ExpertFacts) -> None:
        """Show the facts of an expert."""
        self._title.setText(tr("Layer {layer}, expert {expert}", layer=facts.layer, expert=facts.expert))
        lines = expert_facts(facts)
        while len(self._rows) < len(lines):
            name, value = QLabel(self), QLabel(self)
            name.setObjectName("muted")
            value.setWordWrap(True)
            value.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            for label in (name, value):
                sizes.set_font(label, 0.88)
            at = len(self._rows)
            self._grid.addWidget(name, at, 0, Qt.AlignmentFlag.AlignTop)
            self._grid.addWidget(value, at, 1)
            self._rows.append((name, value))
        for (name, value), (said, text) in zip(self._rows, lines, strict=True):
            name.setText(said)
            value.setText(text)
            value.setAccessibleName(tr("{name}: {value}", name=said, value=text))  # it is read instead of the text
        self.show()

    def text(self) -> str:
        """All text that it shows."""
        rows = [f"{name.text()}: {value.text()}" for name, value in self._rows]
        return "\n".join([self._title.text(), *rows])

    @Slot()
    def end(self) -> None:
        """Close the inspector."""
        self.hide()
        self.closed.emit()


def expert_facts(facts: protocol.ExpertFacts) -> list[tuple[str, str]]:
    """(what, how much), always of the same length."""
    if facts.tier:
        held = tr("{bits}-bit, {place}", bits=facts.tier, place=tr(PLACES[facts.place]))
    else:
        held = tr("on disk")
    if facts.coming:
        held = tr("{held}; loading {bits}-bit", held=held, bits=facts.coming)
    gates = tr("last {last}, average {mean}", last=f"{facts.gate:.3f}", mean=f"{facts.mean_gate:.3f}")
    return [
        (tr("Used"), tr("{answer:,} in this answer, {uses:,} since loading", answer=facts.answer, uses=facts.uses)),
        (tr("Lower precision"), _of(facts.coarse, facts.uses)),
        (tr("Skipped"), _of(facts.skipped, facts.uses)),
        (tr("Gate weight"), gates if facts.uses else tr("none yet")),
        (tr("Location"), held),
        (tr("Size"), tr("{part} of {whole} in memory", part=size(facts.nbytes), whole=size(facts.stored))),
    ]


def _of(part: int, whole: int) -> str:
    if not part or not whole:
        return tr("never")
    return tr("{count:,} ({share:.0f}%)", count=part, share=100 * part / whole)


class ExpertsPanel(QWidget):
    """inspected_changed: another expert, or none, is looked at: see `inspected`. opened: the inspector has appeared."""

    inspected_changed = Signal()
    opened = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.data: protocol.Telemetry | None = None
        self.inspected: tuple[int, int] | None = None  # layer, expert
        meanings = [(tr(words), meaning) for meaning, words in MEANINGS.items()]
        self.meanings = make_combo(self, tr("Color legend"), meanings)
        self.heatmap = ExpertHeatmap(theme, self)
        self.legend = legend_label(self)
        self._hint = make_label(tr("One row per layer, one column per expert. Click one for details."), self, "muted")
        sizes.set_font(self._hint, LEGEND)
        self._hint.setWordWrap(True)
        self.inspector = ExpertInspector(theme, self)
        vbox(
            (self.meanings, 0, Qt.AlignmentFlag.AlignLeft), (self.heatmap, 1), self.legend, self._hint,
            self.inspector, parent=self, margins=(16, 8, 16, 14), spacing=6,
        )  # fmt: skip
        self.meanings.currentIndexChanged.connect(self._meaning_chosen)
        self.heatmap.chosen.connect(self._chosen)
        self.heatmap.cursor_moved.connect(self._pointed)
        self.inspector.closed.connect(self._closed)

    def show_data(self, data: protocol.Telemetry | None) -> None:
        """Show a snapshot."""
        self.data = data
        self.heatmap.show_data(data)
        self.legend.setText(swatches(legend(self.heatmap.meaning, self._theme.palette, data)))
        found = data.expert if data is not None else None
        if found is not None and self.inspected == (found.layer, found.expert):
            first = self.inspector.isHidden()
            self.inspector.show_expert(found)
            self._hint.hide()
            if first:
                self.opened.emit()
        if data is None and self.inspected is not None:
            self.inspector.end()

    @Slot()
    def _meaning_chosen(self) -> None:
        self.heatmap.meaning = str(self.meanings.currentData())
        self.show_data(self.data)

    @Slot(int, int)
    def _chosen(self, row: int, expert: int) -> None:
        if self.data is None:
            return
        self.inspected = self.data.layer_names[row], expert
        self.heatmap.mark(row, expert)
        self.inspected_changed.emit()

    @Slot(int, int)
    def _pointed(self, row: int, expert: int) -> None:
        if self.data is not None and self.data.activations:
            self._hint.setText(describe(self.data, row, expert).replace("\n", ", "))

    @Slot()
    def _closed(self) -> None:
        self.inspected = None
        self.heatmap.mark(-1, -1)
        self._hint.show()
        self.inspected_changed.emit()


def draw(data: protocol.Telemetry, meaning: str, palette: Palette) -> QImage:
    """One pixel per expert, colours from a table."""
    if meaning in (RESIDENCY, PLACE):
        names = _PLACE_TIERS if meaning == PLACE else {t: str(t) for t in (0, 2, 4, 8, 16, 32)}
        code = {value: i for i, value in enumerate(names)}
        table = data.places if meaning == PLACE else data.residency
        lines = [bytes(code[value] for value in row) for row in table]
        colours = [QColor(palette.tiers[name]).rgb() for name in names.values()]
    else:
        lines = _levels({USES: data.activations, LOADED: data.uses, GATES: data.gates}[meaning])
        colours = ramp(palette.heat, _SHADES)
    rows, columns = len(lines), max(len(line) for line in lines)
    stride = (columns + 3) // 4 * 4
    pixels = b"".join(line.ljust(stride, b"\0") for line in lines)
    image = QImage(pixels, columns, rows, stride, QImage.Format.Format_Indexed8)
    image.setColorTable(colours)
    return image.convertToFormat(QImage.Format.Format_RGB32)  # a copy: the bytes may go


def _levels(table: Sequence[Sequence[float]]) -> list[bytes]:
    """Rows of steps of the ramp, by square root, so that rare ones can be told apart; 0 stays 0 and nothing else is."""
    found = set().union(*table)
    scale = (_SHADES - 1) / math.sqrt(max(found) or 1)
    steps = {n: max(1, round(math.sqrt(n) * scale)) if n else 0 for n in found}  # few, of counts: each once
    return [bytes(map(steps.__getitem__, row)) for row in table]


@cache
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


def legend(meaning: str, palette: Palette, data: protocol.Telemetry | None) -> list[tuple[str, str]]:
    """(colour, words) for the line under the map: of tiers and places, those that occur."""
    if meaning == GATES:
        return [(palette.heat[0], tr("none")), (palette.heat[2], tr("small")), (palette.heat[-1], tr("large"))]
    if meaning in (USES, LOADED):
        return [
            (palette.heat[0], tr("never")),
            (palette.heat[2], tr("sometimes")),
            (palette.heat[-1], tr("often")),
        ]
    table = () if data is None else data.places if meaning == PLACE else data.residency
    found = sorted({value for row in table for value in row} | {0})
    if meaning == PLACE:
        return [(palette.tiers[_PLACE_TIERS[value]], tr(PLACES[value])) for value in found]
    return [(palette.tiers[str(value)], tr(TIER_NAMES[str(value)])) for value in found]


def describe(data: protocol.Telemetry, row: int, expert: int) -> str:
    """What is known of one expert, a line each."""
    held, place = data.residency[row][expert], data.places[row][expert] if data.places else 0
    where = tr(PLACES[0])
    if held:
        where = tr("{bits}-bit, {place}", place=tr(PLACES[place or 1]), bits=held)
    lines = [
        tr("Layer {layer}, expert {expert}", layer=data.layer_names[row], expert=expert),
        tr("{times} in this answer", times=times(data.activations[row][expert])),
        where,
    ]
    if data.uses:
        lines.insert(2, tr("{times} since loading", times=times(data.uses[row][expert])))
    if data.gates and data.gates[row][expert]:
        lines.insert(3, tr("mean gate weight {weight:.2f}", weight=data.gates[row][expert]))
    return "\n".join(lines)


def times(uses: int) -> str:
    """'not used', 'used once', 'used 12 times'."""
    return tr("not used") if not uses else plural("used once", "used {count} times", uses, count=f"{uses:,}")


class ExpertHeatmap(QLabel):
    """Paints one pixel per expert into an image and scales that up; the image is made only for new data.

    A label, since Qt tells screen readers of no role of a plain widget, and of one that has a picture that it is one.

    chosen: (row, expert) was clicked, or Enter pressed on it. cursor_moved: the arrow keys went to (row, expert).
    """

    chosen = Signal(int, int)
    cursor_moved = Signal(int, int)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setPixmap(QPixmap(1, 1))  # never painted
        self._theme = theme
        self.data: protocol.Telemetry | None = None
        self._image: QImage | None = None
        self._cursor = (0, 0)
        self._marked: tuple[int, int] | None = None
        self.meaning = USES  # one of MEANINGS, for the next `show_data`
        self.setAccessibleName(tr("Heatmap of layers and experts"))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMinimumHeight(120)
        theme.changed.connect(self._redraw)

    def show_data(self, data: protocol.Telemetry | None) -> None:
        """Show a snapshot; one without maps, as the panel was hidden, is shown as nothing."""
        data = data if data is not None and data.activations and data.activations[0] else None
        rows = len(data.layer_names) if data is not None else 0
        self.setMinimumHeight(min(360, max(120, rows * 9)))
        self.data = data
        self._redraw()

    def mark(self, row: int, expert: int) -> None:
        """Frame this expert; -1: none."""
        self._marked = (row, expert) if row >= 0 else None
        self.update()

    def sizeHint(self) -> QSize:
        rows = len(self.data.layer_names) if self.data is not None else 12
        return QSize(280, max(120, min(360, rows * 14)))

    @Slot()
    def _redraw(self) -> None:
        self._image = None
        self.update()

    def _grid(self) -> QRectF:
        gutter = self.fontMetrics().horizontalAdvance("000") + 4.0  # for the layer numbers
        return QRectF(self.rect()).adjusted(gutter, 1, -1, -1)

    def cell(self, row: int, expert: int) -> QRectF:
        """Return where an expert's cell lies, in the widget's coordinates."""
        assert self.data is not None
        grid, rows, columns = self._grid(), len(self.data.activations), len(self.data.activations[row])
        wide, high = grid.width() / columns, grid.height() / rows
        return QRectF(grid.left() + expert * wide, grid.top() + row * high, wide, high)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        p = self._theme.palette
        data = self.data
        if data is None:
            painter.setPen(QColor(p.muted))
            painter.drawText(self.rect(), Qt.AlignmentFlag.AlignCenter, tr("No model loaded"))
            if self.hasFocus():
                self._frame(painter, QRectF(self.rect()).adjusted(4, 4, -4, -4), p.accent)
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
            self._frame(painter, self.cell(*self._within(*self._marked)), p.text)
        if self.hasFocus():
            self._frame(painter, self.cell(*self._within(*self._cursor)), p.accent)

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
            QToolTip.showText(self.beside(event.pos(), text), text, self) if text else QToolTip.hideText()
            return True
        return super().event(event)

    def beside(self, point: QPoint, text: str) -> QPoint:
        """Place on the screen at which a tooltip covers no square: left of all, or right of them where no room is."""
        wide = QFontMetrics(QToolTip.font()).size(0, text).width() + _TIP
        left = self.mapToGlobal(QPoint(-wide, point.y() - _TIP))
        if left.x() >= self.screen().availableGeometry().left():
            return left
        return self.mapToGlobal(QPoint(self.width(), point.y() - _TIP))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        at = self._at(event.position())
        if at is not None and event.button() == Qt.MouseButton.LeftButton:
            self._cursor = at
            self.chosen.emit(*at)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if self.data is None:
            super().keyPressEvent(event)
        elif event.key() in _STEPS:
            down, right = _STEPS[Qt.Key(event.key())]
            self._cursor = self._within(self._cursor[0] + down, self._cursor[1] + right)
            self.setAccessibleDescription(describe(self.data, *self._cursor).replace("\n", ", "))
            self.cursor_moved.emit(*self._cursor)
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
        """Description of the expert at a point; empty beside the grid."""
        at = self._at(point)
        return describe(self.data, *at) if at is not None and self.data is not None else ""

    def _within(self, row: int, expert: int) -> tuple[int, int]:
        assert self.data is not None
        row = min(len(self.data.activations) - 1, max(0, row))
        return row, min(len(self.data.activations[row]) - 1, max(0, expert))

    def _at(self, point: QPointF) -> tuple[int, int] | None:
        data, grid = self.data, self._grid()
        if data is None or not grid.contains(point):
            return None
        row = int((point.y() - grid.top()) / grid.height() * len(data.activations))
        row = min(len(data.activations) - 1, row)
        return self._within(row, int((point.x() - grid.left()) / grid.width() * len(data.activations[row])))


def _between(start: float, step: float, count: int) -> list[float]:
    """Where one of `count` cells ends and the next begins."""
    return [start + number * step for number in range(1, count)]
