"""Asked before the window closes on words that the disk did not take."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Slot
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QDialog, QHBoxLayout, QLabel, QPlainTextEdit, QPushButton, QVBoxLayout, QWidget

from app.i18n.translate import tr
from app.theme import sizes

_LINES = 9  # of the words, before they scroll


class UnsavedDialog(QDialog):
    """accepted: close all the same. rejected: stay.

    why: sentences. words: what would be lost, with the chats it belongs to; there may be none.
    """

    def __init__(self, why: Sequence[str], words: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Underhill")
        head = QLabel(tr("Not everything is saved."), self)
        head.setWordWrap(True)
        sizes.set_font(head, 1.2, head.font().Weight.DemiBold)
        column = QVBoxLayout(self)
        column.setContentsMargins(20, 18, 20, 16)
        column.setSpacing(10)
        column.addWidget(head)
        for sentence in why:
            column.addWidget(self._line(sentence))
        self.words = QPlainTextEdit(words, self)
        self.words.setObjectName("field")
        self.words.setReadOnly(True)
        self.words.setTabChangesFocus(True)
        self.words.setAccessibleName(tr("What is not saved"))
        sizes.follow(self.words, lambda box: box.setMinimumHeight(_LINES * box.fontMetrics().lineSpacing()))
        self.copy = QPushButton(tr("Copy"), self)
        self.copy.setAccessibleName(tr("Copy what is not saved"))
        self.copy.clicked.connect(self._copy)
        if words:
            column.addWidget(self._line(tr("This would be lost. Copy it, or stay and make room:")))
            column.addWidget(self.words, 1)
        self.words.setVisible(bool(words))
        self.copy.setVisible(bool(words))
        leave = QPushButton(tr("Quit all the same"), self)
        leave.clicked.connect(self.accept)
        stay = QPushButton(tr("Stay"), self)
        stay.setObjectName("primary")
        stay.clicked.connect(self.reject)
        for button in (self.copy, leave):
            button.setAutoDefault(False)
        stay.setDefault(True)
        row = QHBoxLayout()
        row.addWidget(self.copy)
        row.addStretch(1)
        row.addWidget(leave)
        row.addWidget(stay)
        column.addLayout(row)
        sizes.follow(self, lambda box: box.setMinimumWidth(48 * box.fontMetrics().averageCharWidth()))
        stay.setFocus()

    def _line(self, sentence: str) -> QLabel:
        label = QLabel(sentence, self)
        label.setWordWrap(True)
        return label

    @Slot()
    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self.words.toPlainText())
        self.copy.setText(tr("Copied"))
