"""What layouts lack."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QAbstractButton, QLayout, QWidget


def empty(layout: QLayout) -> None:
    """Take every widget out of it, and away."""
    while (item := layout.takeAt(0)) is not None:
        widget = item.widget()
        if widget is not None:
            widget.hide()
            widget.deleteLater()


@contextmanager
def focus_kept(root: QWidget) -> Iterator[None]:
    """While buttons below `root` are made anew: the focus goes to the new one of the same name."""
    now = root.window().focusWidget()
    name = _name(now) if isinstance(now, QAbstractButton) and root.isAncestorOf(now) else ""
    yield

    def again() -> None:
        for button in root.findChildren(QAbstractButton):
            if button.isVisible() and button.isEnabled() and _name(button) == name:
                button.setFocus()
                return

    if name:
        QTimer.singleShot(0, root, again)  # a layout shows what is new in it a little later


def _name(button: QAbstractButton) -> str:
    return button.accessibleName() or button.text()


def fit(dialog: QWidget) -> None:
    """Make it as high as its wrapped texts need it to be, which Qt leaves out where the screen is small."""
    layout = dialog.layout()
    assert layout is not None
    width = dialog.sizeHint().width()
    room = dialog.screen().availableGeometry()
    dialog.resize(min(width, room.width() - 20), min(layout.totalHeightForWidth(width), room.height() - 40))
