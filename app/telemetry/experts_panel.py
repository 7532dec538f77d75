"""The panel of experts: the heatmap, what its colours mean, and all that is known of the expert that was clicked."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QFrame, QGridLayout, QLabel, QWidget

from app.i18n.translate import tr
from app.telemetry.charts import swatches
from app.telemetry.heatmap import MEANINGS, PLACES, ExpertHeatmap, describe, legend
from app.telemetry.memory_bar import LEGEND, legend_label
from app.theme import sizes
from app.theme.theme import Theme
from app.widgets.builders import hbox, make_combo, make_label, vbox
from app.widgets.buttons import IconButton
from app.widgets.text import size
from engine import protocol


class ExpertInspector(QFrame):
    """Panel with the facts of one expert. closed: the user has closed it."""

    closed = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("inspector")
        self._title = make_label("", self, heading=1.0)
        close = IconButton(theme, "close", tr("Close what is said of this expert"), self, size=14)
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
            value.setAccessibleName(said)
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
        held = tr("{bits} bits, {place}", bits=facts.tier, place=tr(PLACES[facts.place]))
    else:
        held = tr("nothing; it lies on the disk")
    if facts.coming:
        held = tr("{held}; being read at {bits} bits", held=held, bits=facts.coming)
    gates = tr("{last} last, {mean} on average", last=f"{facts.gate:.3f}", mean=f"{facts.mean_gate:.3f}")
    return [
        (tr("Used"), tr("{answer:,} in this answer, {uses:,} since opened", answer=facts.answer, uses=facts.uses)),
        (tr("Ran coarse"), _of(facts.coarse, facts.uses)),
        (tr("Skipped"), _of(facts.skipped, facts.uses)),
        (tr("Gate weight"), gates if facts.uses else tr("none yet")),
        (tr("Held"), held),
        (tr("Bytes"), tr("{part} of {whole} in memory", part=size(facts.nbytes), whole=size(facts.stored))),
    ]


def _of(part: int, whole: int) -> str:
    if not part or not whole:
        return tr("never")
    return tr("{count:,} times, {share:.0f} % of its uses", count=part, share=100 * part / whole)


class ExpertsPanel(QWidget):
    """inspecting: another expert, or none, is looked at: see `inspected`. opened: what is said of it has appeared."""

    inspecting = Signal()
    opened = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._data: protocol.Telemetry | None = None
        self.inspected: tuple[int, int] | None = None  # layer, expert
        meanings = [(tr(words), meaning) for meaning, words in MEANINGS.items()]
        self.meanings = make_combo(self, tr("What the colours mean"), meanings)
        self.heatmap = ExpertHeatmap(theme, self)
        self.legend = legend_label(self)
        self._hint = make_label(
            tr("A row for each layer, a column for each expert. Click one to see more of it."), self, "muted"
        )
        sizes.set_font(self._hint, LEGEND)
        self._hint.setWordWrap(True)
        self.inspector = ExpertInspector(theme, self)
        vbox(
            (self.meanings, 0, Qt.AlignmentFlag.AlignLeft), (self.heatmap, 1), self.legend, self._hint,
            self.inspector, parent=self, margins=(16, 8, 16, 14), spacing=6,
        )  # fmt: skip
        self.meanings.currentIndexChanged.connect(self._meaning_chosen)
        self.heatmap.chosen.connect(self._chosen)
        self.heatmap.pointed.connect(self._pointed)
        self.inspector.closed.connect(self._closed)

    def show_data(self, data: protocol.Telemetry | None) -> None:
        """Show a snapshot."""
        self._data = data
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

    def show_meaning(self, meaning: str) -> None:
        """Switch to one of MEANINGS."""
        self.meanings.setCurrentIndex(self.meanings.findData(meaning))

    @Slot()
    def _meaning_chosen(self) -> None:
        self.heatmap.set_meaning(str(self.meanings.currentData()))
        self.show_data(self._data)

    @Slot(int, int)
    def _chosen(self, row: int, expert: int) -> None:
        if self._data is None:
            return
        self.inspected = self._data.layer_names[row], expert
        self.heatmap.mark(row, expert)
        self.inspecting.emit()

    @Slot(int, int)
    def _pointed(self, row: int, expert: int) -> None:
        if self._data is not None and self._data.activations:
            self._hint.setText(describe(self._data, row, expert).replace("\n", ", "))

    @Slot()
    def _closed(self) -> None:
        self.inspected = None
        self.heatmap.mark(-1, -1)
        self._hint.show()
        self.inspecting.emit()
