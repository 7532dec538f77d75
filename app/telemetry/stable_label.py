"""A label whose text changes several times a second, and has its panel laid out again only where it needs more room."""

from __future__ import annotations

from PySide6.QtCore import QSize
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

from app.theme import sizes


class StableLabel(QWidget):
    """Holds a label. A label in a layout has all of it laid out anew whenever its text is set."""

    def __init__(self, label: QLabel, parent: QWidget) -> None:
        super().__init__(parent)
        self._label = label
        self._height = -1  # of the words by now, for the width by now; where they may take several lines
        self._stale = False  # the layout may still know how high other words were at another width
        label.setParent(self)
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        policy.setHeightForWidth(label.wordWrap())
        self.setSizePolicy(policy)
        sizes.follow(self, StableLabel._grown)

    def reserve(self, lines: int) -> None:
        """Take room for so many lines at least."""
        self.setMinimumHeight(lines * self._label.fontMetrics().lineSpacing() + 2)

    def text(self) -> str:
        """What it says."""
        return self._label.text()

    def set_text(self, words: str) -> None:
        """Say this from now on."""
        if words == self._label.text():
            return
        self._label.setText(words)
        if self._label.wordWrap():
            high = self.heightForWidth(self.width())
            self._stale = high == self._height
            if not self._stale:
                self._height = high
                self.updateGeometry()
        elif self._label.sizeHint().width() > self.width():
            self.updateGeometry()

    def _grown(self) -> None:
        """The words have another size: they are measured anew."""
        self._height, self._stale = -1, False
        self.updateGeometry()

    def hasHeightForWidth(self) -> bool:
        return self._label.wordWrap()

    def heightForWidth(self, width: int) -> int:
        return max(self.minimumHeight(), self._label.heightForWidth(width))

    def sizeHint(self) -> QSize:
        return self._label.sizeHint()

    def minimumSizeHint(self) -> QSize:
        return self._label.minimumSizeHint()

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._label.resize(self.size())
        if self._stale and event.size().width() != event.oldSize().width():
            self._height, self._stale = self.heightForWidth(self.width()), False
            self.updateGeometry()
