"""Editor of a name in the place where it stands, as the list of chats has one."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent
from PySide6.QtWidgets import QLabel, QLineEdit, QWidget

from app.widgets.builders import show_text
from app.widgets.screen_reader import announce

_STAYS = (Qt.FocusReason.ActiveWindowFocusReason, Qt.FocusReason.PopupFocusReason, Qt.FocusReason.MenuBarFocusReason)


class NameEditor(QLineEdit):
    """entered: Enter was pressed. left: the focus went to another widget. Both bear the name. cancelled: Esc.

    Of a menu or another window that has the keyboard for a while nothing is said.
    """

    entered = Signal(str)
    left = Signal(str)
    cancelled = Signal()

    def __init__(self, title: str, problem: QLabel, parent: QWidget) -> None:
        """title: what is named, for screen readers. problem: shows what is wrong with the name, laid out by others."""
        super().__init__(parent)
        self.setAccessibleName(title)
        self.problem = problem
        self.textEdited.connect(lambda: self.refuse(""))

    @property
    def name(self) -> str:
        """What is written, without spaces around it."""
        return " ".join(self.text().split())

    def begin(self, name: str) -> None:
        """Have a name typed. name: what stands there at first, selected."""
        self.refuse("")
        self.setText(name)
        self.selectAll()
        self.setFocus()

    def refuse(self, sentence: str) -> None:
        """Say what is wrong with the name, which is still being edited; '' for nothing."""
        show_text(self.problem, sentence)
        self.setAccessibleDescription(sentence)
        if sentence:
            announce(self.problem, sentence, urgent=True)
            self.setFocus()

    def event(self, event: QEvent) -> bool:
        """Take Esc, which is a shortcut of the window otherwise."""
        if event.type() == QEvent.Type.ShortcutOverride and _is_escape(event):
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter and Esc end here: a page would press with Enter what has the focus next, and a dialog close."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.entered.emit(self.name)
        elif _is_escape(event):
            self.cancelled.emit()
        else:
            super().keyPressEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        if event.reason() not in _STAYS:
            self.left.emit(self.name)


def _is_escape(event: QEvent) -> bool:
    return isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape
