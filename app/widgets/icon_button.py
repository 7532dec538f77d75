"""Buttons and labels: icon buttons, and texts that are elided where there is no room for them."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Slot
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QLabel,
    QPushButton,
    QSizePolicy,
    QStyle,
    QStyleOptionButton,
    QStylePainter,
    QToolButton,
    QWidget,
)

from app.storage.titles import numbered
from app.theme import fonts, sizes
from app.theme.icons import icon
from app.theme.theme import Theme


class IconButton(QToolButton):
    """name: of the icon. label: accessible name and tooltip. shortcut: written into the tooltip.

    size: in pixels, beside text of the base size.
    """

    def __init__(
        self, theme: Theme, name: str, label: str, parent: QWidget | None = None, shortcut: str = "", size: int = 18
    ) -> None:
        super().__init__(parent)
        self._theme = theme
        self._name = name
        sizes.follow(self, lambda button: button.setIconSize(QSize(fonts.pixels(size), fonts.pixels(size))))
        self.set_label(label, shortcut)
        self._tint()
        theme.changed.connect(self._tint)

    def set_label(self, label: str, shortcut: str = "") -> None:
        """Set the accessible name and the tooltip."""
        self.setAccessibleName(label)
        self.setToolTip(f"{label}  ({shortcut})" if shortcut else label)

    def set_icon(self, name: str) -> None:
        """Set another icon."""
        self._name = name
        self._tint()

    @Slot()
    def _tint(self) -> None:
        colour = self._theme.palette.on_accent if self.objectName() == "send" else self._theme.palette.muted
        self.setIcon(icon(self._name, colour))


_LEAST = 8  # average letters of a button


def elided_title(title: str, metrics: QFontMetrics, width: int) -> str:
    """A chat's title in so many pixels: 'A long ti… (2)' keeps the number that tells it from the one it came from."""
    words, number = numbered(title)
    room = width - metrics.horizontalAdvance(number)
    if not number or metrics.horizontalAdvance(title) <= width or room <= 0:
        return metrics.elidedText(title, Qt.TextElideMode.ElideRight, width)
    return metrics.elidedText(words, Qt.TextElideMode.ElideRight, room) + number


class ElidedButton(QPushButton):
    """Button that elides its text before others are pushed out."""

    def __init__(self, text: str = "", parent: QWidget | None = None) -> None:
        super().__init__(text, parent)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)

    def minimumSizeHint(self) -> QSize:
        """Room for some letters."""
        hint, metrics = self.sizeHint(), self.fontMetrics()
        spare = metrics.horizontalAdvance(self.text()) - _LEAST * metrics.averageCharWidth()
        return QSize(hint.width() - max(0, spare), hint.height())

    def paintEvent(self, event: QPaintEvent) -> None:
        painter, option = QStylePainter(self), QStyleOptionButton()
        self.initStyleOption(option)
        lacking = self.sizeHint().width() - self.width()
        if lacking > 0:
            wide = self.fontMetrics().horizontalAdvance(self.text()) - lacking
            option.text = self.fontMetrics().elidedText(self.text(), Qt.TextElideMode.ElideRight, wide)
        painter.drawControl(QStyle.ControlElement.CE_PushButton, option)


class ElidedLabel(QLabel):
    """Label that takes what room is left, and is hidden where only some letters would fit."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)

    def paintEvent(self, event: QPaintEvent) -> None:
        room, metrics = self.contentsRect(), self.fontMetrics()
        if room.width() < min(metrics.horizontalAdvance(self.text()), _LEAST * metrics.averageCharWidth()):
            return
        painter = QPainter(self)
        painter.setFont(self.font())
        painter.setPen(self.palette().windowText().color())
        words = metrics.elidedText(self.text(), Qt.TextElideMode.ElideRight, room.width())
        painter.drawText(room, int(self.alignment() | Qt.TextFlag.TextSingleLine), words)
