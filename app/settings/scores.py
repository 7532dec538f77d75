"""Chart of a model's expert scores behind T1 and T2, and what the two cuts do to them."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal, Slot
from PySide6.QtGui import QColor, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.i18n.translate import tr, tr_noop
from app.telemetry.charts import LegendLabel, swatches
from app.theme import fonts, sizes
from app.theme.theme import Theme
from app.widgets.builders import vbox
from app.widgets.text import percent
from engine import protocol

_BARS = 50  # of the histogram, at most
_NEAR = 8.0  # pixels from which a cut can be taken hold of
_TIERS = ("8", "2", "skipped")  # colours of what runs in full, coarse, and not at all
_NAMES = (tr_noop("full precision"), tr_noop("lower precision"), tr_noop("skipped"))


class ScoreChart(QWidget):
    """Histogram with two cuts to drag. cut: T1 and T2 were dragged there."""

    cut = Signal(float, float)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._bars: list[float] = []
        self.cuts = [1.0, 1.0]
        self._held: int | None = None
        self.setMouseTracking(True)
        sizes.set_lines(self, 6)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(tr("Distribution of unimportance scores, with T1 and T2"))
        theme.changed.connect(self.update)

    def show_scores(self, scores: tuple[int, ...], t1: float, t2: float) -> None:
        """Set the histogram. scores: as Calibration.scores."""
        each = max(1, len(scores) // _BARS)
        self._bars = [float(sum(scores[at : at + each])) for at in range(0, len(scores), each)]
        if self._held is None:
            self.cuts = [t1, t2]
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(300, self.height())

    def _area(self) -> QRectF:
        line = self.fontMetrics().lineSpacing()
        return QRectF(self.rect()).adjusted(6, line + 2, -6, -line - 2)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        p, area = self._theme.palette, self._area()
        painter.setFont(fonts.text(0.8))
        # The first expert of every token scores 0 and would dwarf the rest: heights above the next one's are cut.
        top = max(self._bars[1:], default=1.0) * 1.15 or 1.0
        wide = area.width() / max(1, len(self._bars))
        for at, count in enumerate(self._bars):
            tier = _TIERS[self.tier(at)]
            high = min(1.0, count / top) * area.height()
            painter.fillRect(
                QRectF(area.left() + at * wide, area.bottom() - high, max(1.0, wide - 1), high), QColor(p.tiers[tier])
            )
        painter.setPen(QPen(QColor(p.border), 1))
        painter.drawLine(area.bottomLeft(), area.bottomRight())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for words, x, left in self.labels():
            painter.setPen(QPen(QColor(p.text), 1.6))
            painter.drawLine(QPointF(x, area.top()), QPointF(x, area.bottom()))
            space = QRectF(left, 0, self.width() - left, area.top())
            painter.drawText(space, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, words)
        painter.setPen(QColor(p.muted))
        foot = QRectF(area.left(), area.bottom() + 2, area.width(), self.height() - area.bottom() - 2)
        painter.drawText(foot, Qt.AlignmentFlag.AlignLeft, tr("important"))
        painter.drawText(foot, Qt.AlignmentFlag.AlignRight, tr("less important"))

    def tier(self, bar: int) -> int:
        """Tier of a bar's experts: 0 full, 1 coarse, 2 skipped. The first one's score is 0: always full."""
        middle = (bar + 0.5) / len(self._bars)
        return (middle > self.cuts[0]) + (middle > self.cuts[1]) if bar else 0

    def labels(self) -> list[tuple[str, float, float]]:
        """(text, x of the cut, x of the text) of each cut; the texts never overlap."""
        area = self._area()
        words = [f"{name} {cut:.2f}" for name, cut in zip(("T1", "T2"), self.cuts)]
        at = [area.left() + cut * area.width() for cut in self.cuts]
        wide = max(self.fontMetrics().horizontalAdvance(text) for text in words) + 2
        second = min(max(at[1] + 3, wide + 6), self.width() - wide)
        first = max(0.0, min(at[0] - wide - 3, second - wide - 6))
        return [(words[0], at[0], first), (words[1], at[1], second)]

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._held = self._near(event.position().x())

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._held is None:
            shape = Qt.CursorShape.ArrowCursor if self._near(event.position().x()) is None else None
            self.setCursor(Qt.CursorShape.SplitHCursor if shape is None else shape)
            return
        area = self._area()
        there = round(min(1.0, max(0.0, (event.position().x() - area.left()) / area.width())), 2)
        self.cuts[self._held] = min(there, self.cuts[1]) if self._held == 0 else max(there, self.cuts[0])
        self.update()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if self._held is not None:
            self._held = None
            self.cut.emit(*self.cuts)

    def _near(self, x: float) -> int | None:
        """Number of the cut at a place; where both are, the one that can move that way."""
        area = self._area()
        at = [area.left() + cut * area.width() for cut in self.cuts]
        nearest = min((0, 1), key=lambda cut: abs(x - at[cut]))
        if abs(x - at[nearest]) > _NEAR:
            return None
        return int(x > at[0]) if abs(at[0] - at[1]) < 1 else nearest


class ScoresPanel(QWidget):
    """The histogram, and the shares of its tiers in words."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.chart = ScoreChart(theme, self)
        self.words = LegendLabel(self)
        self._shown: tuple[protocol.ModelCard | None, str, float | None, float | None] = (None, "", None, None)
        theme.changed.connect(self._show_again)
        vbox(self.chart, self.words, parent=self, margins=(0, 6, 0, 6), spacing=4)

    @Slot()
    def _show_again(self) -> None:
        self.show_model(*self._shown)

    def show_model(self, card: protocol.ModelCard | None, preset: str, t1: float | None, t2: float | None) -> None:
        """Show a model's scores. t1, t2: those chosen by hand."""
        self._shown = (card, preset, t1, t2)
        found = card.calibration if card is not None else None
        cuts = cuts_of(card, preset, t1, t2) if card is not None else None
        self.chart.setVisible(cuts is not None)
        if found is None or cuts is None:
            self.words.setText(
                tr("Load a model to see its scores.")
                if card is None
                else tr("Scores appear once they are measured, which happens when idle.")
                if found is None
                else tr("Measure quality now shows its scores.")
            )
            return
        self.chart.show_scores(found.scores, *cuts)
        palette = self._theme.palette
        parts = [
            (palette.tiers[tier], f"{percent(share)} {tr(name)}")
            for tier, name, share in zip(_TIERS, _NAMES, found.shares(*cuts), strict=True)
        ]
        self.chart.setAccessibleDescription(", ".join(words for _, words in parts))
        exact = preset == "exact"
        note = tr("With Exact, every expert runs at full precision.") if exact else tr("Of experts read from disk:")
        self.words.setText(f"{note}<br>{swatches(parts)}")


def cuts_of(card: protocol.ModelCard, preset: str, t1: float | None, t2: float | None) -> tuple[float, float] | None:
    """T1 and T2 as they are in force: the preset's, but for those chosen by hand. None: the scores are not known."""
    found = card.calibration
    if found is None or not found.scores:
        return None
    if preset == "exact":
        return 1.0, 1.0
    own = found.dials[preset]
    low = t1 if t1 is not None else own.t1 if t2 is None else min(own.t1, t2)
    high = t2 if t2 is not None else max(own.t2, low)
    return low, high


def pushed_cuts(card: protocol.ModelCard | None, preset: str, t1: float | None, t2: float | None) -> dict[str, str]:
    """Of 't1' and 't2' the one that was not chosen and that the other has moved from the preset's value: a note."""
    cuts = cuts_of(card, preset, t1, t2) if card is not None else None
    if card is None or card.calibration is None or cuts is None or preset == "exact":
        return {}
    own, (low, high) = card.calibration.dials[preset], cuts
    if t1 is None and low != own.t1:
        return {"t1": tr("T1 lowered to {value}: it can't exceed T2.", value=f"{low:g}")}
    if t2 is None and high != own.t2:
        return {"t2": tr("T2 raised to {value}: it can't be below T1.", value=f"{high:g}")}
    return {}
