"""A button whose words wrap: as high as they need at the width that there is."""

from __future__ import annotations

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import QPushButton, QSizePolicy, QStyle, QStyleOptionButton, QStylePainter, QWidget

_BESIDE, _ABOVE = 16, 12  # pixels around the words
_WRAP = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextWordWrap


class Example(QPushButton):
    """Its text is shown as it is: a & in it is no shortcut."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("example")
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)  # as tall as its neighbour
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        return self._words(width - 2 * _BESIDE).height() + 2 * _ABOVE

    def sizeHint(self) -> QSize:
        """In two lines, if it is long."""
        wide = self.fontMetrics().horizontalAdvance(self.text())
        least = 24 * self.fontMetrics().averageCharWidth()
        width = (wide if wide < least else max(least, round(0.6 * wide))) + 2 * _BESIDE + 2
        return QSize(width, self.heightForWidth(width))

    def minimumSizeHint(self) -> QSize:
        """The longest word has to fit."""
        wide = max((self.fontMetrics().horizontalAdvance(word) for word in self.text().split()), default=0)
        least = min(wide, 12 * self.fontMetrics().averageCharWidth())  # Chinese is one long word, which wraps anywhere
        return QSize(least + 2 * _BESIDE, self.fontMetrics().lineSpacing() + 2 * _ABOVE)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter, option = QStylePainter(self), QStyleOptionButton()
        self.initStyleOption(option)
        option.text = ""
        painter.drawControl(QStyle.ControlElement.CE_PushButton, option)
        painter.setPen(self.palette().buttonText().color())
        painter.drawText(self.rect().adjusted(_BESIDE, 0, -_BESIDE, 0), int(_WRAP), self.text())

    def _words(self, width: int) -> QRect:
        return self.fontMetrics().boundingRect(QRect(0, 0, max(1, width), 10_000), int(_WRAP), self.text())
