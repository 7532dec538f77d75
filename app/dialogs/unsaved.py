"""Dialog that asks before the window closes on texts that could not be saved."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Slot
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QDialog, QLabel, QPlainTextEdit, QWidget

from app.i18n.translate import tr
from app.theme import sizes
from app.widgets.builders import hbox, make_button, make_label, vbox

_LINES = 9  # of the words, before they scroll


class UnsavedDialog(QDialog):
    """Lists what is not saved. accepted: close all the same. rejected: stay.

    why: sentences. words: what would be lost, with the chats it belongs to; there may be none.
    """

    def __init__(self, why: Sequence[str], words: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Underhill")
        head = make_label(tr("Not everything is saved."), self, wrap=True, heading=1.2)
        column = vbox(head, parent=self, margins=(20, 18, 20, 16), spacing=10)
        for sentence in why:
            column.addWidget(self._line(sentence))
        self.words = QPlainTextEdit(words, self)
        self.words.setObjectName("field")
        self.words.setReadOnly(True)
        self.words.setTabChangesFocus(True)
        self.words.setAccessibleName(tr("What is not saved"))
        sizes.follow(self.words, lambda box: box.setMinimumHeight(_LINES * box.fontMetrics().lineSpacing()))
        self.copy = make_button(tr("Copy"), self, self._copy, name=tr("Copy what is not saved"))
        if words:
            column.addWidget(self._line(tr("This would be lost. Copy it, or stay and make room:")))
            column.addWidget(self.words, 1)
        self.words.setVisible(bool(words))
        self.copy.setVisible(bool(words))
        leave = make_button(tr("Quit all the same"), self, self.accept)
        stay = make_button(tr("Stay"), self, self.reject, "primary")
        for button in (self.copy, leave):
            button.setAutoDefault(False)
        stay.setDefault(True)
        row = hbox(self.copy, ..., leave, stay)
        column.addLayout(row)
        sizes.follow(self, lambda box: box.setMinimumWidth(48 * box.fontMetrics().averageCharWidth()))
        stay.setFocus()

    def _line(self, sentence: str) -> QLabel:
        label = make_label(sentence, self, wrap=True)
        return label

    @Slot()
    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self.words.toPlainText())
        self.copy.setText(tr("Copied"))
