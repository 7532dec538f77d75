"""Enter presses the button that has the focus, as Space does. Qt does so in dialogs alone."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QAbstractButton, QWidget


def pressed(root: QWidget, event: QKeyEvent) -> bool:
    """Whether this key was Enter and pressed a button somewhere in `root`."""
    now = root.window().focusWidget()
    if event.key() not in (Qt.Key.Key_Return, Qt.Key.Key_Enter) or not isinstance(now, QAbstractButton):
        return False
    if not root.isAncestorOf(now):
        return False
    now.click()
    return True
