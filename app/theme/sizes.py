"""What is made to the size of text: done when a widget is made, and again whenever another size is chosen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from PySide6.QtGui import QFont
from PySide6.QtWidgets import QLabel, QWidget
from shiboken6 import isValid

from app.theme import fonts
from app.theme.icons import pixmap

W = TypeVar("W", bound=QWidget)
_followers: WeakKeyDictionary[QWidget, list[Callable[[Any], object]]] = WeakKeyDictionary()


def follow(widget: W, put: Callable[[W], object]) -> None:
    """Do put(widget) now, and each time that the text has another size. put is kept with the widget: it holds none."""
    put(widget)
    _followers.setdefault(widget, []).append(put)


def letter(widget: QWidget, scale: float, weight: QFont.Weight = QFont.Weight.Normal) -> None:
    """Write it in the face for prose, at `scale` times the size that text has, whichever that is."""
    follow(widget, lambda written: written.setFont(fonts.text(scale, weight)))


def lines(widget: QWidget, count: float) -> None:
    """Give it the height of so many lines of its text."""
    follow(widget, lambda written: written.setFixedHeight(round(count * written.fontMetrics().lineSpacing())))


def square(widget: QWidget, side: int) -> None:
    """Give it this side, in pixels beside text of the base size."""
    follow(widget, lambda button: button.setFixedSize(fonts.pixels(side), fonts.pixels(side)))


def mark(label: QLabel, side: int) -> None:
    """Show Underhill's own mark, so many pixels wide beside text of the base size."""
    follow(label, lambda m: m.setPixmap(pixmap("underhill", "", fonts.pixels(side), m.devicePixelRatioF())))


def again() -> None:
    """The text has another size: all that follows it, in the order in which it was made."""
    for widget, puts in list(_followers.items()):
        if isValid(widget):
            for put in puts:
                put(widget)
