"""What covers the chat while files are dragged over it: that they can be dropped, and what becomes of them."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget

from app.i18n.translate import tr
from app.theme import sizes


class DropHint(QWidget):
    """Lies over its parent; the mouse goes through it."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        label = QLabel(tr("Drop the files here to attach them"), self)
        label.setObjectName("drop")
        sizes.letter(label, 1.15, label.font().Weight.DemiBold)
        label.setAlignment(Qt.AlignmentFlag.AlignCenter)
        column = QVBoxLayout(self)
        column.setContentsMargins(20, 20, 20, 20)
        column.addWidget(label)
        self.hide()

    def cover(self) -> None:
        """Show it over all of the parent."""
        parent = self.parentWidget()
        assert parent is not None
        self.setGeometry(parent.rect())
        self.show()
        self.raise_()
