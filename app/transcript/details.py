"""How an answer was made: its figures, why it was as fast as it was, and both to take along."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QGuiApplication, QPixmap
from PySide6.QtWidgets import QFileDialog, QFrame, QGridLayout, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from app.chats.records import StoredMessage
from app.i18n.translate import tr
from app.transcript import notes
from app.widgets.plain import plain_tip

_NARROW = 460  # pixels wide until it is told how much room there is
_PERCENT = "\N{NO-BREAK SPACE}%"  # stays with its number
_TWO = 84  # characters of width from which on the figures stand in two columns


class AnswerDetails(QFrame):
    """Figures of one answer, for below it. `save` writes them without asking where. hidden: away with it.

    grew: it takes another height now.
    """

    hidden = Signal(object)
    grew = Signal()

    def __init__(self, message: StoredMessage, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("entry")
        self.setAccessibleName(tr("How this answer was made"))
        self.message = message
        self.card = QWidget(self)
        self._column = column = QVBoxLayout(self.card)
        column.setContentsMargins(16, 12, 16, 6)
        column.setSpacing(10)
        sentence = notes.why(message)
        if sentence:
            reason = _label(sentence, "")
            reason.setWordWrap(True)
            column.addWidget(reason)
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(20)
        self._grid.setVerticalSpacing(5)
        figures = notes.details(message)
        self._figures = [(_label(f.name, "muted"), _label(f.value.replace(" %", _PERCENT), "")) for f in figures]
        for figure, labels in zip(figures, self._figures):
            labels[1].setWordWrap(True)
            for label in labels:
                label.setToolTip(plain_tip(figure.meaning))
                label.setAccessibleDescription(figure.meaning)
        column.addLayout(self._grid)
        self.trouble = _label("", "restart")
        self.trouble.setWordWrap(True)
        self.trouble.hide()
        copy = QPushButton(tr("Copy"), self)
        copy.setAccessibleName(tr("Copy the figures"))
        copy.clicked.connect(self._copy)
        save = QPushButton(tr("Save…"), self)
        save.setAccessibleName(tr("Save the figures"))
        save.setToolTip(tr("As a table (.csv) or as a picture (.png)"))
        save.clicked.connect(self._ask)
        close = QPushButton(tr("Hide"), self)
        close.setAccessibleName(tr("Hide the figures"))
        close.clicked.connect(lambda: self.hidden.emit(message.id))
        buttons = QHBoxLayout()
        buttons.setContentsMargins(16, 0, 16, 0)
        for button in (copy, save):
            buttons.addWidget(button)
        buttons.addStretch(1)
        buttons.addWidget(close)
        trouble = QHBoxLayout()
        trouble.setContentsMargins(16, 0, 16, 0)
        trouble.addWidget(self.trouble)
        self._outer = outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 12)
        outer.setSpacing(6)
        outer.addWidget(self.card)
        outer.addLayout(trouble)
        outer.addLayout(buttons)
        self.fit(_NARROW)

    def fit(self, width: int) -> int:
        """Take this width: with two columns of figures where there is room. Returns the height."""
        self.setFixedWidth(width)
        columns = 2 if width >= _TWO * self.fontMetrics().averageCharWidth() else 1
        rows = -(-len(self._figures) // columns)
        for number, (name, value) in enumerate(self._figures):
            row, column = number % rows, 2 * (number // rows)
            self._grid.addWidget(name, row, column)
            self._grid.addWidget(value, row, column + 1)
        for column in (1, 3):
            self._grid.setColumnStretch(column, 1 if column < 2 * columns else 0)
        self._column.invalidate()
        self.card.updateGeometry()  # now: what is laid out around it knows the height of the other columns
        self.setFixedHeight(self._outer.totalHeightForWidth(width))
        return self.height()

    def picture(self) -> QPixmap:
        """The figures as they are shown."""
        return self.grab(self.card.geometry())

    def save(self, path: Path) -> None:
        """Write a picture where the name ends in .png, and a table otherwise. A disk that refuses is said below."""
        try:
            if path.suffix.lower() == ".png":
                if not self.picture().save(str(path), "PNG"):
                    raise OSError(tr("the picture could not be written"))
            else:
                path.write_text(notes.as_csv(self.message), encoding="utf-8")
        except OSError as error:
            self.trouble.setText(
                tr("{file} could not be saved: {error}. Choose another folder.", file=path.name, error=error)
            )
            self.trouble.show()
        else:
            self.trouble.hide()
        self.grew.emit()

    @Slot()
    def _copy(self) -> None:
        lines = [
            notes.why(self.message),
            *(tr("{name}: {value}", name=f.name, value=f.value) for f in notes.details(self.message)),
        ]
        QGuiApplication.clipboard().setText("\n".join(line for line in lines if line))

    @Slot()
    def _ask(self) -> None:
        name, kind = QFileDialog.getSaveFileName(
            self, tr("Save the figures"), str(Path.home() / "answer.csv"), tr("Table (*.csv);;Picture (*.png)")
        )
        if name:
            path = Path(name)
            self.save(path if path.suffix else path.with_suffix(".png" if "png" in kind else ".csv"))


def _label(text: str, style: str) -> QLabel:
    made = QLabel(text)
    made.setObjectName(style)
    made.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    return made
