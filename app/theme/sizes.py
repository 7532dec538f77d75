"""Sizes that follow the size of text: set when a widget is made, and again whenever another size is chosen."""

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
    """Call put(widget) now, and each time that the text has another size. put is kept as long as the widget is."""
    put(widget)
    _followers.setdefault(widget, []).append(put)


def set_font(widget: QWidget, scale: float, weight: QFont.Weight = QFont.Weight.Normal) -> None:
    """Set the typeface for prose, at `scale` times the size that text has, whichever that is."""
    follow(widget, lambda written: written.setFont(fonts.text(scale, weight)))


def set_lines(widget: QWidget, count: float) -> None:
    """Fix a widget's height to so many lines of its text."""
    follow(widget, lambda written: written.setFixedHeight(round(count * written.fontMetrics().lineSpacing())))


def set_least_lines(widget: QWidget, count: float) -> None:
    """Set the least height of a widget to so many lines of its text."""
    follow(widget, lambda written: written.setMinimumHeight(round(count * written.fontMetrics().lineSpacing())))


def set_widest(widget: QWidget, side: int, beside: int = 0) -> None:
    """Let a widget be no wider than so many pixels beside text of the base size, and as many more as `beside` says."""
    follow(widget, lambda column: column.setMaximumWidth(fonts.pixels(side) + beside))


def set_square(widget: QWidget, side: int) -> None:
    """Fix a button to a square of this side, in pixels beside text of the base size."""
    follow(widget, lambda button: button.setFixedSize(fonts.touchable(side), fonts.touchable(side)))


def show_logo(label: QLabel, side: int) -> None:
    """Show Underhill's logo, so many pixels wide beside text of the base size."""
    follow(label, lambda m: m.setPixmap(pixmap("underhill", "", fonts.pixels(side), m.devicePixelRatioF())))


def refit_all() -> None:
    """Call everything registered by `follow`, in its order: the text has another size."""
    for widget, puts in list(_followers.items()):
        if isValid(widget):
            for put in puts:
                put(widget)
