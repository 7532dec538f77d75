"""The panel of figures: why this speed, how fast, what memory holds, cache hits, and how precisely experts ran."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QGridLayout, QLabel, QWidget

from app.i18n.translate import tr, tr_noop
from app.telemetry.charts import Chart, LineChart, MemoryBar, Series, StackedChart, legend_label, swatches
from app.telemetry.history import PRECISION, TelemetryHistory
from app.theme import sizes
from app.theme.theme import TIER_NAMES, Palette, Theme
from app.transcript.notes import REQUESTS, USES, rate
from app.widgets.builders import make_label, show_text, vbox
from app.widgets.text import StableLabel, percent, plain_tip, size


def _of_tier(tier: str) -> Callable[[Palette], str]:
    return lambda palette: palette.tiers[tier]


MIX = tuple(Series(tier, TIER_NAMES[tier], _of_tier(tier)) for tier in PRECISION)
FATES = (
    Series("kept", tr_noop("in memory"), _of_tier("8")),
    Series("ahead", tr_noop("prefetched in time"), _of_tier("16")),
    Series("late", tr_noop("prefetched late"), _of_tier("4")),
    Series("missed", tr_noop("read on demand"), _of_tier("2")),
)


class FiguresPanel(QWidget):
    """Shows a TelemetryHistory when `show_history` is called."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        why = make_label(tr("Idle"), self, wrap=True)
        why.setAlignment(Qt.AlignmentFlag.AlignTop)
        why.setAccessibleName(tr("Speed"))
        self.why = StableLabel(why, self)
        sizes.follow(self.why, lambda label: label.reserve(2))  # what is below stays where it is
        self.notice = make_label("", self, "muted", wrap=True)
        self.notice.hide()
        self.remote = make_label("", self, wrap=True, selectable=True)
        self.remote.hide()

        def in_words(speed: float) -> str:
            return tr("{rate} tok/s", rate=rate(speed))

        waited = tr("Time waiting for disk, last 30 s")
        self.speed_line = LineChart(theme, tr("Tokens per second, last 30 s"), in_words)
        self._prompt_line = LineChart(theme, tr("Prompt tokens per second, last 30 s"), in_words)
        self._disk_line = LineChart(theme, tr("Disk reads, last 30 s"), lambda v: f"{size(v)}/s")
        self._waiting_line = LineChart(theme, waited, percent, 1.0)
        rates, (self.speed, self.prompt) = _tiles(
            self, (tr("Generation"), self.speed_line), (tr("Prompt processing"), self._prompt_line)
        )
        reads, (self.disk, self.waiting) = _tiles(
            self, (tr("Disk reads"), self._disk_line), (tr("Waiting for disk"), self._waiting_line)
        )
        self.memory_text = StableLabel(legend_label(self), self)
        self.memory = MemoryBar(theme, self)
        self.fates = StackedChart(theme, tr("Cache hits and misses, last 30 s"), FATES)
        self.fates_legend = StableLabel(legend_label(self), self)
        ahead = make_label("", self, "muted", wrap=True)
        ahead.setAccessibleName(tr("Prefetch"))
        self.ahead = StableLabel(ahead, self)
        self.ahead.hide()
        self.card = StableLabel(make_label("", self, "muted", wrap=True), self)
        self.card.hide()
        self.mix = StackedChart(theme, tr("Expert precision, last 30 s"), MIX)
        self.mix_legend = StableLabel(legend_label(self), self)
        self.plan = make_label(tr("No model loaded"), self, "muted", wrap=True, selectable=True)
        self._lay_out(rates, reads)

    def _lay_out(self, rates: QWidget, reads: QWidget) -> None:
        """One column with a heading for each subject. rates, reads: the tiles of speed and of the disk."""
        column = vbox(
            _heading(tr("Speed"), self), self.remote, self.why, self.notice, 6, rates,
            parent=self, margins=(16, 8, 16, 14), spacing=6,
        )  # fmt: skip
        # What is looked at most comes first: in a window of the usual size the memory is in sight without scrolling.
        for title, meaning, parts in (
            (tr("Expert requests"), tr(REQUESTS), (self.fates, self.fates_legend)),
            (tr("Memory"), "", (self.memory_text, self.memory)),
            (tr("Disk"), "", (reads, self.ahead)),
            (tr("Expert precision"), tr(USES), (self.mix, self.mix_legend, self.card)),
            (tr("Plan"), "", (self.plan,)),
        ):
            column.addSpacing(6)
            column.addWidget(_heading(title, self, meaning))
            for part in parts:
                column.addWidget(part)
        column.addStretch(1)

    @Slot(str)
    def show_notice(self, notice: str) -> None:
        """Show what changed about how the model runs, such as experts that gave memory back; '' for nothing."""
        show_text(self.notice, notice)

    def show_remote(self, remote: str) -> None:
        """Show what is known of answers that an endpoint gives; '' where a model here answers."""
        show_text(self.remote, remote)
        self.why.setVisible(not remote)

    def show_plan(self, plan: Sequence[str]) -> None:
        """Show how the open model runs here, a line each."""
        self.plan.setText("\n".join(plan) or tr("No model loaded"))

    def show_history(self, history: TelemetryHistory) -> None:
        """Show the current history."""
        now, samples = history.last, list(history.samples)
        self.speed_line.show_values([s.tokens_per_second for s in samples])
        self._prompt_line.show_values([s.prompt_tokens_per_second for s in samples])
        self._disk_line.show_values([s.disk_bytes_per_second for s in samples])
        self._waiting_line.show_values([s.waiting for s in samples])
        self.fates.show_shares([s.fate_shares for s in samples])
        self.mix.show_shares([s.ran_shares for s in samples])
        self._show_legend(self.fates_legend, FATES, self.fates.mean())
        self._show_legend(self.mix_legend, MIX, self.mix.mean())
        if now is None:
            for label in (self.speed, self.prompt, self.disk, self.waiting):
                label.set_text("–")
            self.why.set_text(tr("Idle"))
            self.memory_text.set_text("")
            self.memory.show_use(None)
            self.ahead.hide()
            self.card.hide()
            return
        why = now.why or (tr("Generating…") if now.generating else tr("Idle"))
        self.why.set_text(why.replace("/s", "\u2060/\u2060s"))  # a rate stays in one line
        speed = now.tokens_per_second if now.generating else now.answer_tokens_per_second
        prompt = now.prompt_tokens_per_second if now.generating or speed else 0.0  # of one answer, or neither
        for label, tokens in ((self.speed, speed), (self.prompt, prompt)):
            label.set_text(tr("{rate} tok/s", rate=rate(tokens)) if tokens else "–")
        self.disk.set_text(f"{size(now.disk_bytes_per_second)}/s" if now.generating else "–")
        self.waiting.set_text(percent(now.waiting) if now.generating else "–")
        self.memory_text.set_text(
            tr("Using {amount} of {ceiling}",
                amount=size(now.memory.taken), ceiling=size(now.memory.ceiling))
            if now.memory is not None
            else tr("Using {amount}", amount=size(now.rss))
        )  # fmt: skip
        self.memory.show_use(now.memory)
        self.ahead.set_text(now.ahead)
        self.ahead.setVisible(bool(now.ahead))
        self.card.set_text(
            tr("GPU: {share} of them, CPU: the rest. {rate}/s to the GPU.",
                share=percent(now.card), rate=size(now.link_bytes_per_second))
        )  # fmt: skip
        self.card.setVisible(now.memory is not None and now.memory.device > 0)

    def _show_legend(self, legend: StableLabel, kinds: tuple[Series, ...], found: dict[str, float] | None) -> None:
        """found: the part of the chart that each kind covers."""
        palette = self._theme.palette
        legend.set_text(
            swatches(
                [(k.colour(palette), f"{tr(k.words)} {_percent(found[k.key])}") for k in kinds if found.get(k.key)]
            )
            if found is not None
            else tr("No expert requests yet")
        )


def _percent(share: float) -> str:
    """Of something that occurs: never 0 %, and 100 % only for all."""
    if share < 0.01:
        return tr("<1%")
    return percent(min(0.99, share) if share < 1 else 1.0)


def _heading(text: str, parent: QWidget, meaning: str = "") -> QLabel:
    """meaning: said where one points at it."""
    label = QLabel(text, parent)
    label.setToolTip(plain_tip(meaning))
    label.setAccessibleDescription(meaning)
    sizes.set_font(label, 1.0, label.font().Weight.DemiBold)
    return label


def _tiles(parent: QWidget, *tiles: tuple[str, Chart]) -> tuple[QWidget, list[StableLabel]]:
    """A line of tiles, each with a name, a figure and its chart; returns the line and the figures."""
    line, grid, figures = QWidget(parent), QGridLayout(), []
    grid.setContentsMargins(0, 0, 0, 0)
    grid.setHorizontalSpacing(18)
    grid.setVerticalSpacing(2)
    for column, (name, chart) in enumerate(tiles):
        label = make_label(name, line, "muted", wrap=True)
        sizes.set_font(label, 0.88)
        figure = make_label("–", line, heading=1.4)
        figure.setAccessibleName(name)
        figures.append(StableLabel(figure, line))
        grid.addWidget(label, 0, column)
        grid.addWidget(figures[-1], 1, column)
        grid.addWidget(chart, 2, column, Qt.AlignmentFlag.AlignTop)
        grid.setColumnStretch(column, 1)
    line.setLayout(grid)
    return line, figures
