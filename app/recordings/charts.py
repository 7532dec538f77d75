"""The two charts of a recording: cache policies over the cache's size, and one forward pass over time."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QHelpEvent, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from app.i18n.translate import tr, tr_engine, tr_noop
from app.telemetry.charts import Chart
from app.theme import fonts, sizes
from app.theme.theme import Theme
from app.widgets.text import percent, size
from engine import protocol

# Okabe and Ito's colours, which people of any sight tell apart; '' is that of text.
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "", "#888888")
_LIMITS = {"belady": tr_noop("Best possible"), "bound": tr_noop("Lower bound")}
_ROWS = {"layers": tr_noop("Attention"), "experts": tr_noop("Experts"), "waits": tr_noop("Waiting"),
         "reads": tr_noop("Disk reads")}  # fmt: skip
KINDS = {
    "demand": tr_noop("On demand"), "upgrade": tr_noop("Precision upgrade"), "prefetch": tr_noop("Prefetched"),
}  # fmt: skip
_MARKS = (0.0, 0.25, 0.5, 0.75, 1.0)
_HIGHEST = 13  # lines of text that a chart is high, at most
_LEAST = 8
_ROW = 1.5  # lines of text that a row of a timeline is high


def policy_name(policy: str) -> str:
    """A cache policy or a limit of them, for people."""
    if policy in _LIMITS:
        return tr(_LIMITS[policy])
    return tr_engine(protocol.settings.ALL["policy"].name_of(policy))


def colour_of(theme: Theme, number: int) -> QColor:
    """Colour of the line of this number."""
    found = QColor(_COLOURS[number % len(_COLOURS)] or theme.palette.text)
    return found.lighter(135) if theme.palette.dark else found


class PolicyChart(Chart):
    """A line for each policy: hit rate, or share of bytes read, over the share of experts that are cached."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, tr("Cache policies by cache size"), _HIGHEST, parent)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        sizes.follow(self, lambda chart: chart.setMinimumHeight(_LEAST * chart.fontMetrics().lineSpacing()))
        self._lines: tuple[protocol.PolicyLine, ...] = ()
        self._reads = False

    def sizeHint(self) -> QSize:
        """As low as it gets: it takes the room that the table below leaves."""
        return QSize(120, self.minimumHeight())

    def show_lines(self, lines: tuple[protocol.PolicyLine, ...], *, reads: bool) -> None:
        """reads: show bytes read instead of hit rates."""
        self._lines, self._reads = lines, reads
        self.update()

    def values(self, line: protocol.PolicyLine) -> list[tuple[float, float]]:
        """(share of experts cached, what is shown) of a line; none where hits are not counted."""
        pairs = [(p.share, p.read if self._reads else p.hit_rate) for p in line.points]
        return [(share, value) for share, value in pairs if value is not None]

    def describe(self, x: float) -> str:
        return ""

    def paintEvent(self, event: QPaintEvent) -> None:
        painter, p = QPainter(self), self.theme.palette
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(fonts.text(0.84))
        metrics = painter.fontMetrics()
        names = [policy_name(line.policy) for line in self._lines]
        wide = max(map(metrics.horizontalAdvance, names), default=0) + 14
        line_height = metrics.lineSpacing()
        left = metrics.horizontalAdvance("100%") + 8
        area = QRectF(left, 8, self.width() - left - wide, self.height() - 2.4 * line_height - 8)
        for mark in _MARKS:
            x, y = area.left() + mark * area.width(), area.bottom() - mark * area.height()
            painter.setPen(QPen(QColor(p.border), 1))
            painter.drawLine(QPointF(area.left(), y), QPointF(area.right(), y))
            painter.setPen(QColor(p.muted))
            painter.drawText(QRectF(0, y - line_height / 2, left - 8, line_height), Qt.AlignmentFlag.AlignRight,
                             percent(mark))  # fmt: skip
            if mark:  # the corner's is drawn, beside the other axis
                painter.drawText(QRectF(x - 40, area.bottom() + 3, 80, line_height), Qt.AlignmentFlag.AlignHCenter,
                                 percent(mark))  # fmt: skip
        foot = QRectF(area.left(), area.bottom() + 3 + line_height, area.width(), line_height)
        painter.drawText(foot, Qt.AlignmentFlag.AlignHCenter, tr("Experts kept in memory"))
        ends: list[tuple[float, str, QColor]] = []
        for number, line in enumerate(self._lines):
            points = [
                QPointF(area.left() + x * area.width(), area.bottom() - y * area.height()) for x, y in self.values(line)
            ]
            if not points:
                continue
            colour = colour_of(self.theme, number)
            painter.setPen(QPen(colour, 2, Qt.PenStyle.DashLine if line.limit else Qt.PenStyle.SolidLine))
            painter.drawPolyline(points)
            painter.setBrush(colour)
            painter.setPen(Qt.PenStyle.NoPen)
            for point in points:
                painter.drawEllipse(point, 3, 3)
            ends.append((points[-1].y(), names[number], colour))
        last_x = area.left() + max((p.share for line in self._lines for p in line.points), default=1) * area.width()
        for y, name, colour in _apart(sorted(ends, key=lambda end: end[0]), line_height, area.bottom()):
            painter.setPen(colour)
            painter.drawText(QPointF(last_x + 10, y + metrics.ascent() / 2 - 1), name)


def _apart(ends: Sequence[tuple[float, str, QColor]], least: float, bottom: float) -> list[tuple[float, str, QColor]]:
    """The names, from top to bottom, moved so that none stands on another and none below the chart."""
    placed: list[float] = []
    for y, _, _ in ends:
        placed.append(max(y, placed[-1] + least) if placed else y)
    under = bottom
    for at in range(len(placed) - 1, -1, -1):
        placed[at] = min(placed[at], under)
        under = placed[at] - least
    return [(y, name, colour) for y, (_, name, colour) in zip(placed, ends, strict=True)]


class PassStrip(Chart):
    """A bar for each forward pass of a recording, as high as it took long; a click or an arrow key chooses one."""

    chosen = Signal(int)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, tr("Seconds of each step"), 3, parent)
        self._tokens: tuple[int, ...] = ()
        self._seconds: tuple[float, ...] = ()
        self.number = 0
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    def show_passes(self, found: protocol.PassTimeline) -> None:
        """Show all, and which one is chosen."""
        self._tokens, self._seconds, self.number = found.tokens, found.seconds, found.number
        self.setAccessibleDescription(self.words(found.number))
        self.update()

    def words(self, number: int) -> str:
        """What a pass was of, and how long it took."""
        if not 0 <= number < len(self._tokens):
            return ""
        what = (
            tr("Prompt, {count:,} tokens", count=self._tokens[number])
            if self._tokens[number] > 1
            else tr("Step {number:,} of {total:,}", number=number + 1, total=len(self._tokens))
        )
        return tr("{what}: {ms} ms", what=what, ms=f"{1000 * self._seconds[number]:,.1f}")

    def _at(self, x: float) -> int:
        return min(len(self._tokens) - 1, max(0, int(x / max(1, self.width()) * len(self._tokens))))

    def describe(self, x: float) -> str:
        return self.words(self._at(x)) if self._tokens else ""

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if self._tokens:
            self.chosen.emit(self._at(event.position().x()))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        step = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}.get(Qt.Key(event.key()))
        if step is None:
            super().keyPressEvent(event)
        elif 0 <= self.number + step < len(self._tokens):
            self.chosen.emit(self.number + step)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter, p = QPainter(self), self.theme.palette
        painter.fillRect(self.rect(), QColor(p.surface))
        if not self._seconds:
            return
        # A prompt takes far longer than a token: bars are as high as the longest step of one token.
        single = [s for s, tokens in zip(self._seconds, self._tokens, strict=True) if tokens == 1]
        top = max(single or self._seconds) or 1.0
        wide = self.width() / len(self._seconds)
        for at, seconds in enumerate(self._seconds):
            high = max(2.0, min(1.0, seconds / top) * (self.height() - 4))
            colour = p.accent if at == self.number else p.tiers["2"] if self._tokens[at] > 1 else p.tiers["8"]
            painter.fillRect(QRectF(at * wide, self.height() - high, max(1.0, wide - 1), high), QColor(colour))
        painter.setPen(QColor(p.text))
        painter.drawRect(
            QRectF(self.number * wide, 0, max(3.0, wide - 1), self.height()).adjusted(0.5, 0.5, -0.5, -0.5)
        )
        if self.hasFocus():
            painter.setPen(QColor(p.accent))
            painter.drawRect(self.rect().adjusted(0, 0, -1, -1))


class PassChart(Chart):
    """What one forward pass did when: a row each for attention, experts and waiting, and one for each reader."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, tr("Timeline of one step"), _HIGHEST, parent)
        self._found: protocol.PassTimeline | None = None
        self._drawn: list[tuple[QRectF, protocol.TimelineSpan]] = []
        self._most = 0  # rows that a pass had: another one with fewer does not move what is below
        sizes.follow(self, PassChart._fit)

    def show_pass(self, found: protocol.PassTimeline | None) -> None:
        """Show one; None for none."""
        self._found = found
        self._most = max(self._most, len(self._rows()))
        self._fit()
        self.update()

    def _rows(self) -> list[tuple[str, int]]:
        """(kind, reader) from top to bottom."""
        spans = self._found.spans if self._found is not None else ()
        lanes = sorted({span.lane for span in spans if span.row == "reads"})
        return [("layers", 0), ("experts", 0), ("waits", 0), *(("reads", lane) for lane in lanes)]

    def _fit(self) -> None:
        """Be as high as the rows, and the line below them."""
        lines = min(_HIGHEST, _ROW * self._most + 1)
        self.setFixedHeight(round(lines * self.fontMetrics().lineSpacing()))

    def colours(self) -> list[tuple[str, str]]:
        """(colour, words) of everything that is drawn."""
        p = self.theme.palette
        rows = [(p.muted, "layers"), (p.accent, "experts"), (p.danger, "waits")]
        named = [(colour, tr(_ROWS[row])) for colour, row in rows]
        return [*named, *((self._read_colour(kind), tr(words)) for kind, words in KINDS.items())]

    def _read_colour(self, kind: str) -> str:
        own = {"demand": 4, "upgrade": 3, "prefetch": 5}  # of _COLOURS
        return colour_of(self.theme, own[kind]).name()

    def _colour(self, span: protocol.TimelineSpan) -> QColor:
        p = self.theme.palette
        own = {"layers": p.muted, "experts": p.accent, "waits": p.danger}
        return QColor(own[span.row] if span.row in own else self._read_colour(span.kind or "demand"))

    def paintEvent(self, event: QPaintEvent) -> None:
        self._drawn = []
        found = self._found
        if found is None:
            return
        painter, p = QPainter(self), self.theme.palette
        painter.setFont(fonts.text(0.84))
        metrics = painter.fontMetrics()
        rows = self._rows()
        first_reader = next((lane for row, lane in rows if row == "reads"), 0)
        left = max(metrics.horizontalAdvance(tr(words)) for words in _ROWS.values()) + 12
        foot = metrics.lineSpacing() + 4
        high = min(_ROW * self.fontMetrics().lineSpacing(), (self.height() - foot) / len(rows))
        whole = max(found.seconds[found.number], 1e-9)
        area = QRectF(left, 0, self.width() - left - 4, high * len(rows))
        for at, (row, lane) in enumerate(rows):
            strip = QRectF(area.left(), at * high + 2, area.width(), high - 4)
            painter.fillRect(strip, QColor(p.surface))
            painter.setPen(QColor(p.muted))
            if row != "reads" or lane == first_reader:
                label = QRectF(0, at * high, left - 8, high)
                painter.drawText(label, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, tr(_ROWS[row]))
            for span in found.spans:
                if (span.row, span.lane if row == "reads" else 0) == (row, lane):
                    start, end = max(0.0, span.start / whole), min(1.0, span.end / whole)
                    box = QRectF(strip.left() + start * strip.width(), strip.top(),
                                 max(1.0, (end - start) * strip.width()), strip.height())  # fmt: skip
                    painter.fillRect(box, self._colour(span))
                    self._drawn.append((box, span))
        painter.setPen(QColor(p.muted))
        scale = QRectF(area.left(), area.bottom() + 2, area.width(), foot)
        painter.drawText(scale, Qt.AlignmentFlag.AlignLeft, tr("0 ms"))
        painter.drawText(scale, Qt.AlignmentFlag.AlignRight, tr("{ms} ms", ms=f"{1000 * whole:,.1f}"))

    def describe(self, x: float) -> str:
        return ""

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent):
            at = QPointF(event.pos())
            span = next((span for box, span in reversed(self._drawn) if box.adjusted(-2, 0, 2, 0).contains(at)), None)
            QToolTip.showText(event.globalPos(), span_words(span), self) if span else QToolTip.hideText()
            return True
        return super().event(event)


def span_words(span: protocol.TimelineSpan) -> str:
    """One event of a timeline, for people."""
    ms = f"{1000 * (span.end - span.start):,.2f}"
    if span.row == "reads":
        return tr(
            "{kind}: expert {layer}.{expert}, {size}, {ms} ms",
            layer=span.layer, expert=span.expert, size=size(span.bytes), kind=tr(KINDS[span.kind or "demand"]), ms=ms,
        )  # fmt: skip
    return tr("{what}, layer {layer}: {ms} ms", what=tr(_ROWS[span.row]), layer=span.layer, ms=ms)
