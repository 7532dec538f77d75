"""The line above the message field while an earlier message is in it."""

from __future__ import annotations

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QWidget

from app.i18n.translate import tr
from app.theme import fonts
from app.theme.icons import pixmap
from app.theme.theme import Theme
from app.widgets.icon_button import IconButton


class EditStrip(QFrame):
    """ended: the message is to stay as it was. Hidden until one is edited."""

    ended = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("chip")
        self._theme = theme
        self._icon = QLabel(self)
        self._words = QLabel(self)
        self._words.setWordWrap(True)
        cross = IconButton(theme, "close", tr("Leave the message as it was"), self, "Esc", size=14)
        cross.clicked.connect(self.ended)
        row = QHBoxLayout(self)
        row.setContentsMargins(10, 4, 4, 4)
        row.setSpacing(8)
        row.addWidget(self._icon)
        row.addWidget(self._words, 1)
        row.addWidget(cross)
        self._tint()
        theme.changed.connect(self._tint)
        self.hide()

    def show_for(self, question: bool) -> None:
        """Say what becomes of what is edited."""
        self._words.setText(
            tr("You are editing an earlier message. Sending it starts a new version from there.")
            if question
            else tr("You are editing an answer. Enter keeps it as a new version; nothing is asked of the model.")
        )
        self.show()

    @Slot()
    def _tint(self) -> None:
        self._icon.setPixmap(pixmap("edit", self._theme.palette.muted, fonts.pixels(15), self.devicePixelRatioF()))
