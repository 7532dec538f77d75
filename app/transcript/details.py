"""How an answer was made: its figures, why it was as fast as it was, and both to take along."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt, Slot
from PySide6.QtGui import QGuiApplication, QPixmap
from PySide6.QtWidgets import (
    QDialog,
    QFileDialog,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from app.chats.records import StoredMessage
from app.language.words import say
from app.transcript import notes


class AnswerDetails(QDialog):
    """Figures of one answer. `save` writes them without asking where."""

    def __init__(self, message: StoredMessage, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle(say("How this answer was made"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._message = message
        self.card = QFrame(self)
        self.card.setObjectName("page")
        column = QVBoxLayout(self.card)
        column.setContentsMargins(20, 16, 20, 12)
        column.setSpacing(12)
        sentence = notes.why(message)
        if sentence:
            reason = _label(sentence, "")
            reason.setWordWrap(True)
            column.addWidget(reason)
        grid = QGridLayout()
        grid.setHorizontalSpacing(28)
        grid.setVerticalSpacing(6)
        for row, (name, value) in enumerate(notes.details(message)):
            grid.addWidget(_label(name, "muted"), row, 0)
            grid.addWidget(_label(value, ""), row, 1)
        grid.setColumnStretch(1, 1)
        column.addLayout(grid)
        self.trouble = _label("", "restart")
        self.trouble.setWordWrap(True)
        self.trouble.hide()
        copy = QPushButton(say("Copy"), self)
        copy.clicked.connect(self._copy)
        save = QPushButton(say("Save…"), self)
        save.setToolTip(say("As a table (.csv) or as a picture (.png)"))
        save.clicked.connect(self._ask)
        close = QPushButton(say("Close"), self)
        close.setObjectName("primary")
        close.setDefault(True)
        close.clicked.connect(self.accept)
        buttons = QHBoxLayout()
        buttons.addWidget(copy)
        buttons.addWidget(save)
        buttons.addStretch(1)
        buttons.addWidget(close)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 16)
        outer.addWidget(self.card, 1)
        for part in (self.trouble, buttons):
            row_ = QHBoxLayout()
            row_.setContentsMargins(20, 0, 20, 0)
            if isinstance(part, QWidget):
                row_.addWidget(part)
            else:
                row_.addLayout(part)
            outer.addLayout(row_)
        outer.addStrut(460)

    def picture(self) -> QPixmap:
        """The figures as they are shown."""
        return self.card.grab()

    def save(self, path: Path) -> None:
        """Write a picture where the name ends in .png, and a table otherwise. A disk that refuses is said below."""
        try:
            if path.suffix.lower() == ".png":
                if not self.picture().save(str(path), "PNG"):
                    raise OSError(say("the picture could not be written"))
            else:
                path.write_text(notes.as_csv(self._message), encoding="utf-8")
        except OSError as error:
            self.trouble.setText(
                say("{file} could not be saved: {error}. Choose another folder.", file=path.name, error=error)
            )
            self.trouble.show()
        else:
            self.trouble.hide()

    @Slot()
    def _copy(self) -> None:
        lines = [
            notes.why(self._message),
            *(say("{name}: {value}", name=name, value=value) for name, value in notes.details(self._message)),
        ]
        QGuiApplication.clipboard().setText("\n".join(line for line in lines if line))

    @Slot()
    def _ask(self) -> None:
        name, kind = QFileDialog.getSaveFileName(
            self, say("Save the figures"), "answer.csv", say("Table (*.csv);;Picture (*.png)")
        )
        if name:
            path = Path(name)
            self.save(path if path.suffix else path.with_suffix(".png" if "png" in kind else ".csv"))


def _label(text: str, style: str) -> QLabel:
    made = QLabel(text)
    made.setObjectName(style)
    made.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    return made
