"""A name that is typed in place, where what it belongs to is shown otherwise."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QLineEdit, QWidget

from app.i18n.translate import tr
from app.widgets.builders import hbox, make_button, make_label, show_text
from app.widgets.screen_reader import announce


class NameField(QWidget):
    """A line with Save and Cancel. named: by Save or Enter, without spaces around it. cancelled: by Cancel or Escape.

    problem: what is wrong with the name; whoever lays out the field puts it below.
    """

    named = Signal(str)
    cancelled = Signal()

    def __init__(self, title: str, parent: QWidget) -> None:
        """title: what is named, for screen readers."""
        super().__init__(parent)
        self.edit = QLineEdit(self)
        self.edit.setAccessibleName(title)
        self.edit.setPlaceholderText(title)
        self.edit.textEdited.connect(lambda: self.refuse(""))
        save = tr("{deed}: {title}", deed=tr("Save"), title=title)
        cancel = tr("{deed}: {title}", deed=tr("Cancel"), title=title)
        self.save = make_button(tr("Save"), self, self._name, name=save, auto_default=False)
        self.cancel = make_button(tr("Cancel"), self, self.cancelled, name=cancel, auto_default=False)
        hbox((self.edit, 1), self.save, self.cancel, parent=self, margins=0)
        self.problem = make_label("", parent, "restart", wrap=True)
        self.problem.hide()

    def begin(self, name: str) -> None:
        """Have a name typed. name: what stands there at first, selected."""
        self.refuse("")
        self.edit.setText(name)
        self.edit.selectAll()
        self.edit.setFocus()

    def refuse(self, sentence: str) -> None:
        """Say what is wrong with the name; '' for nothing."""
        show_text(self.problem, sentence)
        self.edit.setAccessibleDescription(sentence)
        if sentence:
            announce(self.edit, sentence)
            self.edit.setFocus()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Take Enter and Escape, which would close the dialog."""
        enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if enter and self.window().focusWidget() is self.edit:
            self._name()
        elif event.key() == Qt.Key.Key_Escape:
            self.cancelled.emit()
        else:
            super().keyPressEvent(event)

    @Slot()
    def _name(self) -> None:
        self.named.emit(" ".join(self.edit.text().split()))
