"""Dialog for importing a model: its name, its precision and how much smaller to make it."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QComboBox, QDialog, QDialogButtonBox, QFormLayout, QLabel, QLineEdit, QPushButton, QWidget

from app.i18n.engine_texts import told
from app.i18n.translate import tr, tr_noop
from app.library.smaller_dialog import TOLERANCES
from app.widgets.builders import make_label
from app.widgets.layouts import fit, form_column
from engine import protocol

_NEVER = '<>:"/\\|?*'  # in the name of a folder
_WHOLE = 16
_TOPS = (
    (0, tr_noop("Automatic – 8 bits, or 4 where the model was stored with about 4")),
    (8, tr_noop("8 bits – practically the original")),
    (4, tr_noop("4 bits – nearly as good, half the size of 8 bits")),
    (_WHOLE, tr_noop("16 bits – as it is; for small models")),
)


class ImportDialog(QDialog):
    """Read name(), top() and tolerance() after it was accepted."""

    def __init__(self, path: str, parent: QWidget | None = None, name: str = "", taken: Collection[str] = ()) -> None:
        """path: of a folder or a file. name: to be offered; '' takes the path's. taken: names of other models."""
        super().__init__(parent)
        self.setWindowTitle(tr("Import a model"))
        head = make_label(tr("Import a model"), self, heading=1.3)
        text = QLabel(
            tr("Makes a converted copy; the original stays. It can take a while. You can keep chatting."), self,
        )  # fmt: skip
        text.setObjectName("muted")
        text.setWordWrap(True)
        place = make_label(path, self, wrap=True)
        self._taken = {other.casefold() for other in taken}
        self.name_field = QLineEdit(self._free(name or Path(path).name.removesuffix(".gguf")), self)
        self.name_field.setAccessibleName(tr("Name"))
        self.note = make_label("", self, "restart", wrap=True)
        self.note.hide()
        self.top_box = QComboBox(self)
        self.top_box.setAccessibleName(tr("Precision"))
        for bits, words in _TOPS:
            self.top_box.addItem(tr(words), bits)
        self.tolerance_box = QComboBox(self)
        self.tolerance_box.setAccessibleName(tr("Make smaller"))
        self.tolerance_box.addItem(tr("No"), 0.0)
        for tolerance, label in TOLERANCES:
            self.tolerance_box.addItem(tr("Most quality loss: {loss}", loss=tr(label)), tolerance)
        self.tolerance_box.setToolTip(
            tr("Experts that matter least keep 2 or 4 bits. Measured once the model is there.")
        )
        self.top_box.currentIndexChanged.connect(self._bits_chosen)
        form = QFormLayout()
        form.setVerticalSpacing(10)
        form.setRowWrapPolicy(QFormLayout.RowWrapPolicy.WrapLongRows)
        form.addRow(tr("From"), place)
        form.addRow(tr("Name"), self.name_field)
        form.addRow("", self.note)
        form.addRow(tr("Precision"), self.top_box)
        form.addRow(tr("Make smaller"), self.tolerance_box)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel, self)
        self.start = QPushButton(tr("Import"), self)
        self.start.setObjectName("primary")  # before it is in the row, which makes it look as what it is called then
        self.start.setDefault(True)
        buttons.addButton(self.start, QDialogButtonBox.ButtonRole.AcceptRole)
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        form_column(self, head, text, form, buttons)
        self.name_field.textChanged.connect(self._check)
        self._check()
        fit(self)

    def name(self) -> str:
        """Name for the library."""
        return self.name_field.text().strip()

    @Slot()
    def _check(self) -> None:
        """Show what would be refused after the dialog has gone."""
        wrong = ""
        try:
            protocol.checked_name(self.name())
            if self.name().casefold() in self._taken:
                wrong = tr("There is a model of this name already.")
        except protocol.UnderhillError as error:
            wrong = told(error.action) if self.name() else ""
        self.start.setEnabled(bool(self.name()) and not wrong)
        self.note.setText(wrong)
        if self.note.isHidden() == bool(wrong):
            self.note.setVisible(bool(wrong))
            fit(self)

    def _free(self, name: str) -> str:
        """The name, or the first of it with a number that no other model has."""
        name = "".join("-" if sign in _NEVER else sign for sign in name).strip(" .")
        found, number = name, 1
        while found.casefold() in self._taken:
            number += 1
            found = f"{name} {number}"
        return found

    @Slot()
    def _bits_chosen(self) -> None:
        """Disable the choice of fewer bits where experts are kept as they are."""
        self.tolerance_box.setEnabled(self.top() != _WHOLE)

    def tolerance(self) -> float:
        """Loss that may be added so that experts take fewer bits; 0: they keep all."""
        return float(self.tolerance_box.currentData()) if self.tolerance_box.isEnabled() else 0.0

    def top(self) -> int:
        """Bits of the finest tier that is kept; 0: what suits the model."""
        return int(self.top_box.currentData())
