"""Asks what an imported model is to be called and how finely it is to be kept."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtWidgets import QComboBox, QDialog, QDialogButtonBox, QFormLayout, QLabel, QLineEdit, QVBoxLayout, QWidget

from app.language.words import later, say
from app.theme import fonts
from app.widgets.layouts import fit

_TOPS = (
    (8, later("8 bits – practically the original, half of its size or less")),
    (4, later("4 bits – nearly as good, half the size of 8 bits")),
    (16, later("16 bits – as it is; for small models")),
)


class ImportDialog(QDialog):
    """name() and top() after it was accepted."""

    def __init__(self, path: str, parent: QWidget | None = None, name: str = "") -> None:
        """path: of a folder or a file. name: to be offered; '' takes the path's."""
        super().__init__(parent)
        self.setWindowTitle(say("Import a model"))
        head = QLabel(say("Import a model"), self)
        head.setFont(fonts.text(1.3, head.font().Weight.DemiBold))
        text = QLabel(
            say("Underhill makes its own copy of the model, cut into experts that can be read one by one. "
            "What is there is left as it is. This can take a while; you can go on chatting."), self,
        )  # fmt: skip
        text.setObjectName("muted")
        text.setWordWrap(True)
        place = QLabel(path, self)
        place.setWordWrap(True)
        self._name = QLineEdit(name or Path(path).name.removesuffix(".gguf"), self)
        self._name.setAccessibleName(say("Name"))
        self._top = QComboBox(self)
        self._top.setAccessibleName(say("Precision"))
        for bits, words in _TOPS:
            self._top.addItem(say(words), bits)
        form = QFormLayout()
        form.setVerticalSpacing(10)
        form.setRowWrapPolicy(QFormLayout.RowWrapPolicy.WrapLongRows)
        form.addRow(say("From"), place)
        form.addRow(say("Name"), self._name)
        form.addRow(say("Precision"), self._top)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel, self)
        start = buttons.addButton(say("Import"), QDialogButtonBox.ButtonRole.AcceptRole)
        start.setObjectName("primary")
        start.setDefault(True)
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        column = QVBoxLayout(self)
        column.setContentsMargins(24, 20, 24, 18)
        column.setSpacing(12)
        column.addStrut(432)
        column.addWidget(head)
        column.addWidget(text)
        column.addLayout(form)
        column.addWidget(buttons)
        fit(self)

    def name(self) -> str:
        """What the library will call it."""
        return self._name.text().strip()

    def top(self) -> int:
        """Bits of the finest tier that is kept."""
        return int(self._top.currentData())
