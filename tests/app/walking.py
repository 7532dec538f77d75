"""Walks the widgets of a page: what each is called, where Tab goes, and whether its text has room."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from PySide6.QtCore import QEvent, QPoint, QRect, QSize, Qt
from PySide6.QtGui import QAccessible
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractScrollArea,
    QApplication,
    QComboBox,
    QLabel,
    QLineEdit,
    QStyle,
    QStyleOptionComboBox,
    QWidget,
)


def name_of(widget: QWidget) -> str:
    """What a screen reader says of a widget."""
    face = QAccessible.queryAccessibleInterface(widget)
    name = face.text(QAccessible.Text.Name) if face is not None else ""
    return str(widget.accessibleName() or ("" if isinstance(widget, QComboBox) else name)).replace("&", "").strip()


def reachable(root: QWidget) -> list[QWidget]:
    """What Tab should visit, in no particular order."""
    return [
        w for w in root.findChildren(QWidget)
        if w.isVisible() and w.isEnabled() and w.window() is root and w.focusProxy() is None
        and w.focusPolicy() & Qt.FocusPolicy.TabFocus
    ]  # fmt: skip


_NESTED = 12  # layouts in layouts, each of which hears of a change after the one inside it
_CJK = re.compile("[\u2e80-\uffef]")  # a line may break beside each of them


@dataclass(frozen=True)
class Step:
    """Where Tab went, and where that and the one before it were then: nothing is known of before the first."""

    widget: QWidget
    place: QRect
    before: QRect | None


def tabbed(root: QWidget) -> list[Step]:
    """Where Tab really goes, from the first widget on until it comes back to one it has been at."""
    first = root.nextInFocusChain()
    while first not in reachable(root):
        first = first.nextInFocusChain()
    first.setFocus(Qt.FocusReason.TabFocusReason)
    steps: list[Step] = []
    while (now := root.focusWidget()) is not None and all(now is not step.widget for step in steps):
        steps.append(Step(now, _place(now, root), _place(steps[-1].widget, root) if steps else None))
        QTest.keyClick(now, Qt.Key.Key_Tab)
    return steps


def unnamed(steps: list[Step]) -> Iterator[str]:
    """What has no name, and neighbours of one name."""
    before = ""
    for step in steps:
        name = name_of(step.widget)
        if not name:
            yield f"{told(step.widget)} has no name"
        elif name == before:
            yield f"{told(step.widget)} is called like the one before"
        before = name


def misplaced(root: QWidget, steps: list[Step]) -> Iterator[str]:
    """What Tab leaves out, and where it jumps back: up without going to the right, or left within a line."""
    visited = [step.widget for step in steps]
    yield from (f"Tab does not come to {told(w)}" for w in reachable(root) if w not in visited)
    for last, step in pairwise(steps):
        a, b = step.before or step.place, step.place
        above = b.bottom() < a.top() and b.left() < a.right()
        same_line = min(a.bottom(), b.bottom()) - max(a.top(), b.top()) > min(a.height(), b.height()) / 2
        if above or (same_line and b.right() < a.left()):
            yield f"Tab goes back from {told(last.widget)} to {told(step.widget)}"


def cut(root: QWidget) -> Iterator[str]:
    """Text that has less room than it takes, and what lies partly outside of what holds it."""
    for _ in range(_NESTED):  # a text that has just come is given its room once Qt gets round to it
        QApplication.sendPostedEvents(None, QEvent.Type.LayoutRequest.value)
    for widget in root.findChildren(QWidget):
        if widget.window() is not root or not widget.isVisible():
            continue
        text, lacks = _lacks(widget)
        if text and lacks and text not in widget.toolTip():
            yield f"{told(widget)} {text!r}: {lacks}"
        if isinstance(widget, QLabel | QAbstractButton | QLineEdit | QComboBox):
            yield from _outside(widget, root)
            yield from _covered(widget)


def _lacks(widget: QWidget) -> tuple[str, str]:
    """The text of a widget, and what it has too little of."""
    width, height = widget.width(), widget.height()
    if isinstance(widget, QLabel) and widget.text():
        if widget.wordWrap():
            needs, widest = widget.heightForWidth(width), _longest_word(widget)
            return widget.text(), _short(width, widest, height, needs)
        return widget.text(), _short(width, widget.sizeHint().width(), height, widget.minimumSizeHint().height())
    if isinstance(widget, QAbstractButton) and widget.text():
        hint = widget.sizeHint()
        if widget.hasHeightForWidth():  # its words wrap
            hint = QSize(widget.minimumSizeHint().width(), widget.heightForWidth(width))
        return widget.text(), _short(width, hint.width(), height, hint.height())
    if isinstance(widget, QComboBox) and widget.currentText():
        option = QStyleOptionComboBox()
        widget.initStyleOption(option)
        room = widget.style().subControlRect(
            QStyle.ComplexControl.CC_ComboBox, option, QStyle.SubControl.SC_ComboBoxEditField, widget
        )
        longest = max(range(widget.count()), key=lambda i: _wide(widget, widget.itemText(i)))
        text = widget.itemText(longest)
        if _wide(widget, text) > room.width() and widget.view().minimumWidth() > _wide(widget, text):
            text = widget.currentText()  # the list that opens has all of the others
        return text, _short(room.width(), _wide(widget, text), room.height(), widget.fontMetrics().height())
    if isinstance(widget, QLineEdit):
        text = widget.text() or widget.placeholderText()
        return text, _short(width - 16, _wide(widget, text) if not widget.text() else 0, height,
                            widget.fontMetrics().height())  # fmt: skip
    return "", ""


def _short(width: int, wanted_width: int, height: int, wanted_height: int) -> str:
    lacks = []
    if wanted_width > width + 1:
        lacks.append(f"{wanted_width - width} pixels of {wanted_width} in width")
    if wanted_height > height + 1:
        lacks.append(f"{wanted_height - height} pixels of {wanted_height} in height")
    return ", ".join(lacks)


def _outside(widget: QWidget, root: QWidget) -> Iterator[str]:
    """Along the ancestors: what can be scrolled to is no harm, except sideways where there is no bar for it."""
    holder = widget.parentWidget()
    while holder is not None and widget is not root:
        area = holder.parentWidget()
        scrolled = isinstance(area, QAbstractScrollArea) and area.viewport() is holder
        rect = QRect(widget.mapTo(holder, QPoint()), widget.size())
        over = max(rect.right() - holder.rect().right(), -rect.left())
        if not scrolled:
            over = max(over, rect.bottom() - holder.rect().bottom(), -rect.top())
        if over > 1:
            yield f"{told(widget)} reaches {over} pixels out of {told(holder)}"
            return
        if holder is root:
            return
        if scrolled:
            widget = area
        holder = widget.parentWidget() if scrolled else holder.parentWidget()


def _covered(widget: QWidget) -> Iterator[str]:
    """Others that it shares its place with, in what holds both."""
    holder = widget.parentWidget()
    for other in holder.findChildren(QWidget, options=Qt.FindChildOption.FindDirectChildrenOnly) if holder else ():
        if other is widget:  # each pair once
            return
        if isinstance(other, QLabel | QAbstractButton | QLineEdit | QComboBox) and other.isVisible():
            both = widget.geometry() & other.geometry()
            if min(both.width(), both.height()) > 1:
                yield f"{told(widget)} lies {both.width()} × {both.height()} pixels over {told(other)}"


def _longest_word(label: QLabel) -> int:
    if "<" in label.text():  # rich
        return 0
    margins = label.contentsMargins()
    return (
        max((_wide(label, w) for w in _CJK.sub(" ", label.text()).split()), default=0)
        + margins.left()
        + margins.right()
    )


def _wide(widget: QWidget, text: str) -> int:
    return widget.fontMetrics().horizontalAdvance(text)


def _place(widget: QWidget, root: QWidget) -> QRect:
    return QRect(widget.mapTo(root, QPoint()), widget.size())


def told(widget: QWidget) -> str:
    """A widget in words."""
    name = name_of(widget) or widget.objectName()
    return f"{type(widget).__name__}({name[:40]!r})"
