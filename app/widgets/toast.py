"""Toast: a short message at the bottom that goes by itself, with one button."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QWidget

from app.theme import sizes

SHOWN_FOR = 10_000  # milliseconds
_GAP = 8
_BESIDE = 180  # pixels of the page that are left of it and right of it, its button among them


class Toast(QFrame):
    """over: its time has passed or another took its place, and the button was not clicked.
    covers: pixels that it takes at the bottom of its parent now, 0 when it has gone.
    """

    over = Signal()
    covers = Signal(int)

    def __init__(self, parent: QWidget, foot: QWidget) -> None:
        """foot: what it stands above, where that shows."""
        super().__init__(parent)
        self._foot = foot
        foot.installEventFilter(self)
        self.setObjectName("toast")
        self.label = QLabel(self)
        self.label.setTextFormat(Qt.TextFormat.PlainText)
        self._button = QPushButton(self)
        self._button.clicked.connect(self._clicked)
        self._what: Callable[[], object] | None = None
        row = QHBoxLayout(self)
        self._row = row
        row.addWidget(self.label)
        row.addWidget(self._button)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(SHOWN_FOR)
        self._timer.timeout.connect(self.end)
        self.hide()
        sizes.follow(self, Toast._grown)

    def _grown(self) -> None:
        if self.isVisible():
            self.place()

    def say(self, text: str, button: str = "", what: Callable[[], object] | None = None) -> None:
        """Show the message; `what` is done if its button is clicked in time. Without one there is no button."""
        self.end()
        self.label.setText(text.replace("/", "/\u200b"))  # so that a path, too, can be broken into lines
        self._button.setText(button)
        self._button.setVisible(bool(button))
        self._row.setContentsMargins(16, 8, 10 if button else 16, 8)
        self._what = what
        self.setAccessibleName(text)
        self.place()
        self.show()
        self.raise_()
        self._timer.start()

    def place(self) -> None:
        """Centre at the bottom of the parent, above its foot."""
        parent = self.parentWidget()
        assert parent is not None
        self.label.setWordWrap(False)
        wide = self.label.fontMetrics().horizontalAdvance(self.label.text()) + 8
        self.label.setFixedWidth(min(wide, max(160, parent.width() - _BESIDE)))
        self.label.setWordWrap(True)
        self._row.invalidate()
        self.adjustSize()
        bottom = self._foot.y() if self._foot.isVisible() else parent.height() - _GAP
        self.move((parent.width() - self.width()) // 2, bottom - self.height() - _GAP)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Follow the foot as it comes, goes, or grows."""
        if event.type() in (QEvent.Type.Move, QEvent.Type.Show, QEvent.Type.Hide) and self.isVisible():
            self.place()
        return False

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.covers.emit(self.height() + 2 * _GAP)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.covers.emit(0)

    def undo(self) -> bool:
        """Click the button, if it is there to click."""
        if self._what is None:
            return False
        self._clicked()
        return True

    @Slot()
    def end(self) -> None:
        """Hide it: the time to click is over."""
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
