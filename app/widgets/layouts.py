"""What layouts lack."""

from __future__ import annotations

from PySide6.QtWidgets import QLayout, QWidget


def empty(layout: QLayout) -> None:
    """Take every widget out of it, and away."""
    while (item := layout.takeAt(0)) is not None:
        widget = item.widget()
        if widget is not None:
            widget.hide()
            widget.deleteLater()


def fit(dialog: QWidget) -> None:
    """Make it as high as its wrapped texts need it to be, which Qt leaves out where the screen is small."""
    layout = dialog.layout()
    assert layout is not None
    width = dialog.sizeHint().width()
    room = dialog.screen().availableGeometry()
    dialog.resize(min(width, room.width() - 20), min(layout.totalHeightForWidth(width), room.height() - 40))
