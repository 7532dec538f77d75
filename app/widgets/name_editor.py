"""Editor of a name in the place where it stands, as the list of chats has one."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent
from PySide6.QtWidgets import QLineEdit, QWidget

_STAYS = (Qt.FocusReason.ActiveWindowFocusReason, Qt.FocusReason.PopupFocusReason, Qt.FocusReason.MenuBarFocusReason)


class NameEditor(QLineEdit):
    """entered: Enter was pressed. left: the focus went to another widget. Both bear what is written. cancelled: Esc.

    Of a menu or another window that has the keyboard for a while nothing is said.
    """

    entered = Signal(str)
    left = Signal(str)
    cancelled = Signal()

    def __init__(self, text: str, name: str, parent: QWidget) -> None:
        """name: for screen readers."""
        super().__init__(text, parent)
        self.setAccessibleName(name)
        self.selectAll()

    def event(self, event: QEvent) -> bool:
        """Take Esc, which is a shortcut of the window otherwise."""
        if event.type() == QEvent.Type.ShortcutOverride and _is_escape(event):
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter and Esc end here: the page would press with Enter what has the focus next."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.entered.emit(self.text())
        elif _is_escape(event):
            self.cancelled.emit()
        else:
            super().keyPressEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        if event.reason() not in _STAYS:
            self.left.emit(self.text())


def _is_escape(event: QEvent) -> bool:
    return isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape
