"""A short message at the bottom that goes by itself, with one thing to click."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QTimer, Signal, Slot
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QWidget

SHOWN_FOR = 10_000  # milliseconds


class Toast(QFrame):
    """over: its time has passed or another took its place, and the button was not clicked."""

    over = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("toast")
        self._label = QLabel(self)
        self._button = QPushButton(self)
        self._button.clicked.connect(self._clicked)
        self._what: Callable[[], object] | None = None
        row = QHBoxLayout(self)
        self._row = row
        row.addWidget(self._label)
        row.addWidget(self._button)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(SHOWN_FOR)
        self._timer.timeout.connect(self.end)
        self.hide()

    def say(self, text: str, button: str = "", what: Callable[[], object] | None = None) -> None:
        """Show the message; `what` is done if its button is clicked in time. Without one there is no button."""
        self.end()
        self._label.setText(text)
        self._button.setText(button)
        self._button.setVisible(bool(button))
        self._row.setContentsMargins(16, 8, 10 if button else 16, 8)
        self._what = what
        self.setAccessibleName(text)
        self.adjustSize()
        self.place()
        self.show()
        self.raise_()
        self._timer.start()

    def place(self) -> None:
        """Centre at the bottom of the parent."""
        parent = self.parentWidget()
        assert parent is not None
        self.move((parent.width() - self.width()) // 2, parent.height() - self.height() - 142)

    def undo(self) -> bool:
        """Click the button, if it is there to click."""
        if self._what is None:
            return False
        self._clicked()
        return True

    @Slot()
    def end(self) -> None:
        """The time to click is over."""
        self._timer.stop()
        self.hide()
        if self._what is not None:
            self._what = None
            self.over.emit()

    @Slot()
    def _clicked(self) -> None:
        what, self._what = self._what, None
        self._timer.stop()
        self.hide()
        if what is not None:
            what()
