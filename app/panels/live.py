"""The live panel: takes telemetry, and paints it while it can be seen."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import (
    QButtonGroup,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QScrollArea,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app.panels.charts import Bar, Line, Stack
from app.panels.heatmap import RESIDENCY, USES, Heatmap, legend
from app.panels.history import ORDER, History
from app.theme import fonts
from app.theme.theme import Theme
from app.theme.tokens import TIER_NAMES
from app.transcript.notes import rate
from app.widgets.format import size
from engine import api


class LivePanel(QFrame):
    """Gathers what costs nothing always; looks closer, and paints, only while visible.

    looking: api.Look, what the engine shall tell of from now on.
    """

    looking = Signal(object)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("live")
        self.setAccessibleName("Live panel")
        self.setMinimumWidth(280)
        self._theme = theme
        self.history = History()
        self.painted = 0  # snapshots shown so far
        self._why = QLabel("Nothing is running.", self)
        self._why.setWordWrap(True)
        self._why.setMinimumHeight(2 * self._why.fontMetrics().lineSpacing() + 2)
        self._why.setAlignment(Qt.AlignmentFlag.AlignTop)
        self._speed, self._speed_line = _figure(self), Line(theme, "Tokens per second over the last half minute")
        self._hits, self._hits_line = _figure(self), Line(theme, "Share of cache hits over the last half minute", 1.0)
        self._disk, self._disk_line = _figure(self), Line(theme, "Disk reads over the last half minute")
        self._memory = _figure(self)
        self._cache = QLabel(self)
        self._cache.setObjectName("muted")
        self._cache.setFont(fonts.text(0.84))
        self._cache.setWordWrap(True)
        self._cache_bar = Bar(theme, "How full the expert cache is")
        self.heatmap = Heatmap(theme, self)
        self._legend = _legend_label(self)
        self._mix = Stack(theme, "Precision of expert uses over the last half minute")
        self._mix_legend = _legend_label(self)
        page = QWidget(self)
        column = QVBoxLayout(page)
        column.setContentsMargins(16, 14, 16, 16)
        column.setSpacing(6)
        column.addWidget(_heading("Why this speed", page))
        column.addWidget(self._why)
        column.addSpacing(6)
        tiles = QGridLayout()
        tiles.setHorizontalSpacing(18)
        tiles.setVerticalSpacing(2)
        _tile(tiles, 0, 0, "Tokens per second", self._speed, self._speed_line)
        _tile(tiles, 0, 1, "Cache hits", self._hits, self._hits_line)
        _tile(tiles, 3, 0, "Read from disk", self._disk, self._disk_line)
        memory = QWidget(page)
        inside = QVBoxLayout(memory)
        inside.setContentsMargins(0, 6, 0, 0)
        inside.setSpacing(5)
        inside.addWidget(self._cache_bar)
        inside.addWidget(self._cache)
        _tile(tiles, 3, 1, "Memory in use", self._memory, memory)
        tiles.setColumnStretch(0, 1)
        tiles.setColumnStretch(1, 1)
        column.addLayout(tiles)
        column.addSpacing(8)
        head = QHBoxLayout()
        head.addWidget(_heading("Experts", page), 1)
        self._group = QButtonGroup(self)
        for meaning, text in ((USES, "Uses"), (RESIDENCY, "In memory")):
            button = QToolButton(page)
            button.setObjectName("segment")
            button.setText(text)
            button.setCheckable(True)
            button.setChecked(meaning == USES)
            button.setProperty("meaning", meaning)
            button.setFont(fonts.text(0.88))
            self._group.addButton(button)
            head.addWidget(button)
        self._group.buttonClicked.connect(self._meaning_chosen)
        column.addLayout(head)
        column.addWidget(self.heatmap)
        column.addWidget(self._legend)
        column.addSpacing(8)
        column.addWidget(_heading("Precision", page))
        column.addWidget(self._mix)
        column.addWidget(self._mix_legend)
        column.addStretch(1)
        scroll = QScrollArea(self)
        scroll.setWidgetResizable(True)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setWidget(page)
        page.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        scroll.viewport().setAutoFillBackground(False)
        page.setAutoFillBackground(False)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addWidget(scroll)
        theme.changed.connect(self._repaint)
        self._repaint()

    @Slot(object)
    def take(self, telemetry: api.Telemetry) -> None:
        """A snapshot came."""
        self.history.add(telemetry)
        if self.isVisible() and not self.window().isMinimized():
            self._repaint()

    @Slot()
    def forget(self) -> None:
        """Another model: begin anew."""
        self.history.clear()
        self._repaint()

    def show_meaning(self, meaning: str) -> None:
        """Switch the heatmap to USES or RESIDENCY."""
        for button in self._group.buttons():
            button.setChecked(button.property("meaning") == meaning)
        self.heatmap.set_meaning(meaning)
        self._repaint()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.looking.emit(api.Look(maps=True))
        self._repaint()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.looking.emit(api.Look())

    @Slot(object)
    def _meaning_chosen(self, button: QToolButton) -> None:
        self.show_meaning(str(button.property("meaning")))

    @Slot()
    def _repaint(self) -> None:
        now = self.history.last
        samples = list(self.history.samples)
        self.painted += 1
        self.heatmap.show_data(now)
        self._speed_line.show_values([s.tokens_per_second for s in samples])
        self._hits_line.show_values([s.hit_rate for s in samples])
        self._disk_line.show_values([s.disk_bytes_per_second for s in samples])
        self._mix.show_samples(samples)
        held = {t for row in now.residency for t in row} if now is not None else set()
        self._legend.setText(_swatches(legend(self.heatmap.meaning, self._theme.palette, held)))
        share = self.history.overall_hit_rate()
        self._hits.setText("–" if share is None else f"{100 * share:.0f} %")
        if now is None:
            for label in (self._speed, self._disk, self._memory):
                label.setText("–")
            self._cache.setText("")
            self._cache_bar.show_share(0)
            self._why.setText("Nothing is running.")
            self._mix_legend.setText("")
            return
        self._why.setText(now.why or ("Answering." if now.generating else "Nothing is running."))
        self._speed.setText(rate(now.tokens_per_second) if now.generating else "–")
        self._disk.setText(f"{size(now.disk_bytes_per_second)}/s")
        self._memory.setText(size(now.rss))
        self._cache.setText(f"{size(now.cache_bytes)} of {size(now.cache_capacity)} of experts kept")
        self._cache_bar.show_share(now.cache_bytes / now.cache_capacity if now.cache_capacity else 0)
        total = sum(now.precision.values())
        self._mix_legend.setText(_swatches([
            (self._theme.palette.tiers[k], f"{TIER_NAMES[k]} {100 * now.precision[k] / total:.0f} %")
            for k in ORDER if total and now.precision.get(k)
        ]))  # fmt: skip


def _heading(text: str, parent: QWidget) -> QLabel:
    label = QLabel(text, parent)
    label.setFont(fonts.text(1.0, label.font().Weight.DemiBold))
    return label


def _figure(parent: QWidget) -> QLabel:
    label = QLabel("–", parent)
    label.setFont(fonts.text(1.4, label.font().Weight.DemiBold))
    return label


def _legend_label(parent: QWidget) -> QLabel:
    label = QLabel(parent)
    label.setObjectName("muted")
    label.setFont(fonts.text(0.84))
    label.setWordWrap(True)
    label.setTextFormat(Qt.TextFormat.RichText)
    return label


def _tile(grid: QGridLayout, row: int, column: int, name: str, figure: QLabel, chart: QWidget) -> None:
    label = QLabel(name)
    label.setObjectName("muted")
    label.setFont(fonts.text(0.88))
    figure.setAccessibleName(name)
    grid.addWidget(label, row, column)
    grid.addWidget(figure, row + 1, column)
    grid.addWidget(chart, row + 2, column, Qt.AlignmentFlag.AlignTop)


def _swatches(entries: list[tuple[str, str]]) -> str:
    return " &nbsp;&nbsp; ".join(
        f'<span style="color:{colour}">&#9632;</span>&nbsp;{text.replace(" ", "&nbsp;")}' for colour, text in entries
    )
