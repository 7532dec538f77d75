"""The panel of experts: the heatmap, what its colours mean, and the expert that was clicked."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QComboBox, QWidget

from app.i18n.translate import tr
from app.telemetry.charts import swatches
from app.telemetry.expert_maps import MEANINGS, describe, legend
from app.telemetry.heatmap import ExpertHeatmap
from app.telemetry.inspector import ExpertInspector
from app.telemetry.memory_bar import LEGEND, legend_label
from app.theme import sizes
from app.theme.theme import Theme
from app.widgets.builders import make_label, vbox
from engine import protocol


class ExpertsPanel(QWidget):
    """inspecting: another expert, or none, is looked at: see `inspected`. opened: what is said of it has appeared."""

    inspecting = Signal()
    opened = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._data: protocol.Telemetry | None = None
        self.inspected: tuple[int, int] | None = None  # layer, expert
        self.meanings = QComboBox(self)
        self.meanings.setAccessibleName(tr("What the colours mean"))
        for meaning, words in MEANINGS.items():
            self.meanings.addItem(tr(words), meaning)
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
        """Another snapshot."""
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
        """One of MEANINGS."""
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
