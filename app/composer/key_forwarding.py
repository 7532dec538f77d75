"""Forwards what is typed elsewhere in the window to the message field."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QPlainTextEdit, QWidget

_SHIFT = Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.KeypadModifier
_ALT_GR = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier  # as Windows has it


def types_text(event: QKeyEvent) -> bool:
    """Whether the key types text: no command, and no Space, which presses what has the focus."""
    held = event.modifiers() & ~_SHIFT & ~Qt.KeyboardModifier.GroupSwitchModifier
    plain = held in (Qt.KeyboardModifier.NoModifier, _ALT_GR)
    return plain and bool(event.text().strip()) and event.text().isprintable()


class KeyForwarder(QObject):
    """Event filter for keys of the window that no other widget used."""

    def __init__(self, window: QWidget, edit: QPlainTextEdit, conversation: QWidget) -> None:
        """conversation: where Alt with Up and Down chooses messages."""
        super().__init__(window)
        self._edit = edit
        self._conversation = conversation
        window.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if not isinstance(event, QKeyEvent) or event.type() != QEvent.Type.KeyPress or not self._edit.isVisible():
            return False
        if self._edit.hasFocus():
            return self._to_conversation(event)
        if event.matches(QKeySequence.StandardKey.Paste):
            self._edit.setFocus(Qt.FocusReason.ShortcutFocusReason)
            self._edit.paste()
            return True
        if not types_text(event):
            return False
        self._edit.setFocus(Qt.FocusReason.ShortcutFocusReason)
        QCoreApplication.sendEvent(self._edit, event)
        return True

    def _to_conversation(self, event: QKeyEvent) -> bool:
        alt = event.modifiers() & ~_SHIFT == Qt.KeyboardModifier.AltModifier
        if not alt or event.key() not in (Qt.Key.Key_Up, Qt.Key.Key_Down) or not self._conversation.isVisible():
            return False
        self._conversation.setFocus(Qt.FocusReason.ShortcutFocusReason)
        return True
