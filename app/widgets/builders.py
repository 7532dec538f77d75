"""Labels, buttons and box layouts in one call each."""

from __future__ import annotations

from collections.abc import Callable
from types import EllipsisType
from typing import TypeVar

from PySide6.QtCore import Qt, SignalInstance
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QLabel, QLayout, QPushButton, QVBoxLayout, QWidget

from app.theme import sizes

Part = QWidget | QLayout
Item = Part | int | EllipsisType | tuple[Part, int] | tuple[QWidget, int, Qt.AlignmentFlag]
Margins = tuple[int, int, int, int] | int
B = TypeVar("B", bound=QBoxLayout)


def hbox(
    *items: Item, parent: QWidget | None = None, margins: Margins | None = None, spacing: int | None = None
) -> QHBoxLayout:
    """Lay out items from left to right: widgets or layouts, (item, stretch) or (widget, stretch, alignment).

    A number is so many pixels of space, and ... takes the space that is left. margins, spacing: None is Qt's default.
    """
    return _filled(QHBoxLayout() if parent is None else QHBoxLayout(parent), items, margins, spacing)


def vbox(
    *items: Item, parent: QWidget | None = None, margins: Margins | None = None, spacing: int | None = None
) -> QVBoxLayout:
    """Lay out items from top to bottom, as `hbox` does from left to right."""
    return _filled(QVBoxLayout() if parent is None else QVBoxLayout(parent), items, margins, spacing)


def _filled(box: B, items: tuple[Item, ...], margins: Margins | None, spacing: int | None) -> B:
    if margins is not None:
        box.setContentsMargins(*((margins,) * 4 if isinstance(margins, int) else margins))
    if spacing is not None:
        box.setSpacing(spacing)
    for item in items:
        if isinstance(item, int):
            box.addSpacing(item)
        elif isinstance(item, EllipsisType):
            box.addStretch(1)
        else:
            part, *rest = item if isinstance(item, tuple) else (item,)
            if isinstance(part, QLayout):
                box.addLayout(part, *rest[:1])
            else:
                box.addWidget(part, *rest)  # type: ignore[arg-type]
    return box


def make_label(
    text: str, parent: QWidget | None = None, style: str = "", *, wrap: bool = False, selectable: bool = False,
    heading: float = 0.0,
) -> QLabel:  # fmt: skip
    """A label. style: its object name in the style sheet. heading: bold, at so many times the size of text."""
    made = QLabel(text, parent)
    if style:
        made.setObjectName(style)
    if wrap:
        made.setWordWrap(True)
    if selectable:
        made.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    if heading:
        sizes.set_font(made, heading, QFont.Weight.DemiBold)
    return made


def make_button(
    text: str, parent: QWidget | None, act: Callable[..., object] | SignalInstance, style: str = "", *, name: str = "",
    tip: str = "", auto_default: bool = True,
) -> QPushButton:  # fmt: skip
    """A button that calls `act`, or emits it. style: its object name in the style sheet. name: for screen readers.

    auto_default: Enter presses it in a dialog while it has the focus.
    """
    made = QPushButton(text, parent)
    if style:
        made.setObjectName(style)
    if name:
        made.setAccessibleName(name)
    if tip:
        made.setToolTip(tip)
    if not auto_default:
        made.setAutoDefault(False)
    made.clicked.connect(act)
    return made
