"""The window of recordings: make one, list them, compare cache policies on one, and look at its steps."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from PySide6.QtCore import QSignalBlocker, Qt, Signal, Slot
from PySide6.QtWidgets import (
    QAbstractItemView,
    QDialog,
    QHeaderView,
    QListWidget,
    QListWidgetItem,
    QSizePolicy,
    QStackedWidget,
    QTabBar,
    QTableWidget,
    QTableWidgetItem,
    QWidget,
)

from app.i18n import languages
from app.i18n.translate import plural, sentences, tr, tr_engine
from app.recordings.charts import PassChart, PassStrip, PolicyChart, policy_name
from app.telemetry.charts import legend_label, swatches
from app.theme import sizes
from app.theme.theme import Theme
from app.widgets.builders import (
    hbox,
    make_bar,
    make_button,
    make_combo,
    make_label,
    resize_on_screen,
    set_progress,
    set_style,
    show_text,
    vbox,
)
from app.widgets.text import size, units_held
from engine import protocol

_ROWS = 6  # lines of text that the table shows at least, however little room there is
RECORDED = "recorded"  # the quality that a recording was made at


class ReplayPage(QWidget):
    """Cache policies on a recording. replay_requested: at a quality, or RECORDED. stopped: it is to end."""

    replay_requested = Signal(str)
    stopped = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        dial = protocol.settings.ALL["dial"]
        qualities = [(tr_engine(dial.name_of(choice)), choice) for choice in dial.choices]
        self.quality = make_combo(self, tr("Quality"), [(tr("As recorded"), RECORDED), *qualities])
        self.measure = make_combo(self, tr("Shown"), [(tr("Hit rate"), False), (tr("Read from disk"), True)])
        self.measure.currentIndexChanged.connect(self._show)
        self.go = make_button(tr("Compare cache policies"), self, self._go, "primary", auto_default=False)
        self.note = make_label("", self, "muted", wrap=True)
        self.bar = make_bar(self, tr("Replaying"))
        self.bar.hide()
        self.chart = PolicyChart(theme, self)
        self.caption = make_label(tr("Experts kept in memory"), self, "muted")
        self.caption.setAlignment(Qt.AlignmentFlag.AlignRight)
        self.table = QTableWidget(self)
        self.table.setAccessibleName(tr("Cache policies by cache size"))
        self.table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.table.setTabKeyNavigation(False)
        self.table.setShowGrid(False)
        self.table.setObjectName("figures")
        self.table.setSizeAdjustPolicy(QAbstractItemView.SizeAdjustPolicy.AdjustToContents)
        self.table.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Maximum)
        sizes.follow(self.table, _fit_rows)
        vbox(
            hbox(self.quality, self.measure, ..., self.go, spacing=8), self.note, self.bar, (self.chart, 1000),
            vbox(self.caption, self.table, spacing=4), ..., parent=self, margins=(0, 10, 0, 0), spacing=8,
        )  # fmt: skip
        self._found: protocol.RecordingReplay | None = None
        self._running = False
        self.show_replay(None)

    def show_replay(self, found: protocol.RecordingReplay | None) -> None:
        """Show what was replayed; None before that."""
        self._found = found
        self.set_running(False)
        if found is None:
            self.note.setText(tr("Replays the recording with each cache policy at several cache sizes."))
        else:
            fitted = tr("HOBBIT uses the weights fitted to this model.") if found.fitted else ""
            self.note.setText(sentences(tr("{count:,} tokens replayed.", count=found.tokens), fitted))
        self._show()

    def show_problem(self, text: str) -> None:
        """Say why it could not be replayed."""
        self.show_replay(None)
        self.note.setText(text)

    def set_running(self, running: bool) -> None:
        """Show that it is being replayed, and offer to stop."""
        self._running = running
        self.bar.setVisible(running)
        self.go.setText(tr("Cancel") if running else tr("Compare cache policies"))

    def show_progress(self, done: int, total: int) -> None:
        """So many replays are done."""
        set_progress(self.bar, done, total)

    @Slot()
    def _go(self) -> None:
        if self._running:
            self.stopped.emit()
        else:
            self.replay_requested.emit(self.quality.currentData())

    @Slot()
    def _show(self) -> None:
        lines = self._found.lines if self._found is not None else ()
        reads = bool(self.measure.currentData())
        for widget in (self.chart, self.caption, self.table):
            widget.setVisible(bool(lines))
        self.measure.setVisible(bool(lines))
        self.chart.show_lines(lines, reads=reads)
        shown = [line for line in lines if self.chart.values(line)]
        shares = [point.share for point in shown[0].points] if shown else []
        self.table.setColumnCount(len(shares))
        self.table.setRowCount(len(shown))
        self.table.setHorizontalHeaderLabels([tr("{number:.1f}%", number=100 * share) for share in shares])
        self.table.setVerticalHeaderLabels([policy_name(line.policy) for line in shown])
        self.table.horizontalHeader().setDefaultAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.table.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
        for row, line in enumerate(shown):
            for column, (_, value) in enumerate(self.chart.values(line)):
                cell = QTableWidgetItem(tr("{number:.1f}%", number=100 * value))
                cell.setTextAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
                self.table.setItem(row, column, cell)


class TimelinePage(QWidget):
    """One forward pass after another. pass_requested: its number."""

    pass_requested = Signal(int)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.words = make_label("", self, wrap=True)
        self.caption = make_label(tr("Time per step"), self, "muted")
        self.strip = PassStrip(theme, self)
        self.strip.chosen.connect(self.pass_requested)
        self.chart = PassChart(theme, self)
        self._legend = legend_label(self)
        self._theme = theme
        self.before = make_button(tr("Previous"), self, lambda: self._step(-1), auto_default=False)
        self.after = make_button(tr("Next"), self, lambda: self._step(1), auto_default=False)
        row = hbox((self.words, 1), self.before, self.after, spacing=8)
        steps = vbox(self.caption, self.strip, spacing=4)
        vbox(steps, row, self.chart, self._legend, ..., parent=self, margins=(0, 10, 0, 0), spacing=8)
        theme.changed.connect(self._show_legend)
        self.show_pass(None)

    def show_pass(self, found: protocol.PassTimeline | None, problem: str = "") -> None:
        """Show one pass; None for none, with why."""
        for widget in (self.caption, self.strip, self.chart, self._legend, self.before, self.after):
            widget.setVisible(found is not None)
        self.chart.show_pass(found)
        if found is None:
            self.words.setText(problem)
            return
        self.strip.show_passes(found)
        self.before.setEnabled(found.number > 0)
        self.after.setEnabled(found.number < len(found.tokens) - 1)
        words = tr(
            "{step}. Attention {layers} ms, experts {experts} ms, waiting {waited} ms. Read: {read}",
            step=self.strip.words(found.number),
            layers=_ms(found.layers),
            experts=_ms(found.experts),
            waited=_ms(found.waited),
            read=size(found.read),
        )
        self.words.setText(units_held(words))
        self.chart.setAccessibleDescription(words)
        self._show_legend()

    @Slot()
    def _show_legend(self) -> None:
        self._legend.setText(swatches(self.chart.colours()))

    def _step(self, by: int) -> None:
        self.pass_requested.emit(self.strip.number + by)


def _fit_rows(table: QTableWidget) -> None:
    """Rows as high as their text, and room for some of them."""
    line = table.fontMetrics().lineSpacing()
    table.verticalHeader().setDefaultSectionSize(line + 12)
    table.setMinimumHeight(_ROWS * line)


def _ms(seconds: float) -> str:
    return f"{1000 * seconds:,.1f}"


class RecordingsDialog(QDialog):
    """record_toggled: recording is to begin, or end. delete_requested, folder_requested, chosen: of a recording."""

    record_toggled = Signal(bool)
    delete_requested = Signal(object)
    folder_requested = Signal(object)
    chosen = Signal(object)  # protocol.Recording; None for none

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Recordings"))
        resize_on_screen(self, 900, 680)
        self.intro = make_label(
            tr("Record answers to compare cache policies on them and to see what each step read, computed and waited "
               "for. Recordings contain the text of those chats."),
            self, "muted", wrap=True,
        )  # fmt: skip
        self.record = make_button(tr("Start recording"), self, self._toggle, "primary", auto_default=False)
        self.state = make_label("", self, wrap=True)
        self.list = QListWidget(self)
        self.list.setObjectName("rows")
        self.list.setAccessibleName(tr("Recordings"))
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.currentItemChanged.connect(self._chosen)
        sizes.follow(self.list, lambda rows: rows.setFixedWidth(30 * rows.fontMetrics().averageCharWidth()))
        self.folder = make_button(tr("Show folder"), self, lambda: self.folder_requested.emit(self.current))
        self.delete = make_button(tr("Delete…"), self, lambda: self.delete_requested.emit(self.current))
        self.empty = make_label(tr("No recordings yet. Start one and send a message."), self, "muted", wrap=True)
        self.empty.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.tabs = QTabBar(self)
        self.tabs.setAccessibleName(tr("View"))
        self.tabs.setDrawBase(False)
        self.tabs.setExpanding(False)
        for name in (tr("Cache policies"), tr("Timeline")):
            self.tabs.addTab(name)
        self.replay, self.timeline = ReplayPage(theme), TimelinePage(theme)
        self.pages = QStackedWidget(self)
        self.pages.addWidget(self.replay)
        self.pages.addWidget(self.timeline)
        self.tabs.currentChanged.connect(self.pages.setCurrentIndex)
        self._running = False
        left = vbox((self.list, 1), hbox(self.folder, self.delete, spacing=8), spacing=8)
        right = vbox(self.empty, self.tabs, (self.pages, 1), spacing=0)
        vbox(
            hbox((self.intro, 1), (self.record, 0, Qt.AlignmentFlag.AlignTop), spacing=16), self.state,
            hbox(left, (right, 1), spacing=20), parent=self, margins=(22, 18, 22, 18), spacing=12,
        )  # fmt: skip
        self.show_list(protocol.RecordingList(kept=()))

    @property
    def current(self) -> protocol.Recording | None:
        """The recording that is chosen."""
        item = self.list.currentItem()
        return item.data(Qt.ItemDataRole.UserRole) if item is not None else None

    def show_list(self, found: protocol.RecordingList) -> None:
        """Show what is kept, the chosen one staying so, and whether answers are recorded."""
        self._running = found.running
        self.record.setText(tr("Stop recording") if found.running else tr("Start recording"))
        if found.running:
            text = (
                tr("Recording: {count:,} tokens so far", count=found.tokens)
                if found.tokens
                else tr("Recording starts with the next answer")
            )
        else:
            text = tr_engine(found.problem)
        show_text(self.state, text)
        self._fill(found.kept)

    def _fill(self, kept: Sequence[protocol.Recording]) -> None:
        before = self.current
        if [self.list.item(row).data(Qt.ItemDataRole.UserRole) for row in range(self.list.count())] != list(kept):
            with QSignalBlocker(self.list):
                self.list.clear()
                for one in kept:
                    when = languages.moment(datetime.fromtimestamp(one.began))
                    count = plural("1 token", "%n tokens", one.tokens)
                    item = QListWidgetItem(f"{one.model}\n{when}\n{count}", self.list)
                    item.setData(Qt.ItemDataRole.UserRole, one)
                names = [one.name for one in kept]
                row = names.index(before.name) if before is not None and before.name in names else 0
                self.list.setCurrentRow(row if kept else -1)
            if self.current != before:
                self._chosen()
        for widget in (self.list, self.tabs, self.pages, self.folder, self.delete):
            widget.setVisible(bool(kept))
        self.empty.setVisible(not kept)
        set_style(self.record, "" if kept else "primary")  # a recording has a main button of its own

    def show_problem(self, text: str) -> None:
        """Say why recording cannot begin."""
        show_text(self.state, text)

    @Slot()
    def _toggle(self) -> None:
        self.record_toggled.emit(not self._running)

    @Slot()
    def _chosen(self) -> None:
        self.chosen.emit(self.current)
