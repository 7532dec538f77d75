"""Numbers and texts as widgets show them, and labels: elided, or stable while their text changes often."""

from __future__ import annotations

import re
from html import escape

from PySide6.QtCore import QSize
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

from app.i18n.translate import tr
from app.theme import sizes

FIRST_WIDE = "\u2e80"  # sign from which on lines may be broken between any two
_WIDE = re.compile(f"(?<=[{FIRST_WIDE}-\uffef])(?=\\S)|(?<=\\S)(?=[{FIRST_WIDE}-\uffef])")
_UNIT = re.compile(r"(?<=\d) (?:[A-Za-z]+|[\u4e00-\u9fff]{1,3})(?![\w])")


def plain_tip(text: str) -> str:
    """Escape the user's text for a tooltip: shown as it is, broken into lines where it is long."""
    return f"<p style='white-space:pre-wrap'>{escape(text)}</p>" if text else ""


def plain_entry(text: str) -> str:
    """Escape the user's text for a menu entry or a button: no letter of it is a key, nor a tab the beginning of one."""
    return text.replace("&", "&&").replace("\t", " ")


def held(words: str) -> str:
    """Have a line broken nowhere in these words, nor between their Chinese signs."""
    return _WIDE.sub("\u2060", words.replace(" ", "\u00a0"))


def units_held(line: str) -> str:
    """Have a line broken between no figure and its unit: '2.0 ms', '1.2 MB'."""
    return _UNIT.sub(lambda found: held(found[0]), line)


def size(count: float) -> str:
    """Format bytes in the largest unit that keeps the number at 1 or more: '512 B', '38 MB', '1.4 GB'."""
    for unit in ("B", "kB", "MB", "GB"):
        if abs(count) < 1000:
            return f"{count:.0f} {unit}" if unit in ("B", "kB") or count >= 100 else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.2f} TB"


def number(value: float) -> str:
    """Format a number to be read: whole ones whole and grouped, others in six digits at most: '1,048,576', '0.7'."""
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,g}"


def percent(share: float) -> str:
    """Format a share of 1: '64 %'."""
    return tr("{number:.0f}%", number=100 * share)


def time_left(seconds: float | None) -> str:
    """Format the time left for people; empty where not known."""
    if seconds is None:
        return ""
    minutes = seconds / 60
    if minutes < 1.5:
        if seconds > 45:
            return tr("about 1 min left")
        return tr("{seconds:.0f} s left", seconds=max(seconds, 1))
    if minutes < 90:
        return tr("{minutes:.0f} min left", minutes=minutes)
    return tr("{hours:.1f} h left", hours=minutes / 60)


class StableLabel(QWidget):
    """Holds a label. Setting the text of a label in a layout lays all of the layout out again."""

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
        """Set a minimum height of so many lines."""
        self.setMinimumHeight(lines * self._label.fontMetrics().lineSpacing() + 2)

    def text(self) -> str:
        """The label's text."""
        return self._label.text()

    def set_text(self, words: str) -> None:
        """Set the text."""
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
        """Measure again: the text has another size."""
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
