"""Asking for confirmation, and bringing a window to the front."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMessageBox, QWidget

from app.i18n.translate import tr


def confirm(parent: QWidget, question: str, consequence: str, action: str, do: Callable[[], object]) -> QMessageBox:
    """Ask, and call `do` if the button called `action` is pressed. Returns at once; the window is blocked meanwhile."""
    box = QMessageBox(QMessageBox.Icon.Question, "Underhill", question, parent=parent)
    box.setTextFormat(Qt.TextFormat.PlainText)  # a name in it may look like marks
    box.setInformativeText(consequence)
    box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    yes = box.addButton(action, QMessageBox.ButtonRole.DestructiveRole)
    no = box.addButton(tr("Keep it"), QMessageBox.ButtonRole.RejectRole)
    box.setDefaultButton(no)
    box.setEscapeButton(no)
    yes.clicked.connect(do)
    box.open()
    return box


def raise_window(window: QWidget) -> None:
    """Show a window, restore it if minimized, and raise it, as far as the desktop lets it."""
    window.setWindowState(window.windowState() & ~Qt.WindowState.WindowMinimized)
    window.show()
    window.raise_()
    window.activateWindow()
