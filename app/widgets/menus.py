"""Menus that leave nothing behind: what the mouse has left while one was open is not in its hover look afterwards."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QEvent, QPointF, Qt, QTimer
from PySide6.QtGui import QCursor, QHoverEvent
from PySide6.QtWidgets import QApplication, QMenu, QWidget


def make_menu(parent: QWidget, *, once: bool = False) -> QMenu:
    """An empty menu. once: it deletes itself when it closes."""
    menu = QMenu(parent)
    menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, once)
    end_hover_with(menu, parent)
    return menu


def end_hover_with(menu: QMenu, parent: QWidget) -> None:
    """Call `end_hover` for the parent's window whenever the menu has closed."""
    menu.aboutToHide.connect(lambda: QTimer.singleShot(0, parent, partial(end_hover, parent)))


def end_hover(widget: QWidget) -> None:
    """Take the hover look from everything in the widget's window that the mouse is not over.

    Qt tells widgets that the mouse has left them when it next moves over another one; after a menu it compares with
    what was under the mouse in the menu, and so what was under it before is told nothing.
    """
    at = QCursor.pos()
    under = QApplication.widgetAt(at)
    window = widget.window()
    for each in (window, *window.findChildren(QWidget)):
        if each.underMouse() and each is not under and (under is None or not each.isAncestorOf(under)):
            _leave(each, at.toPointF())


def _leave(widget: QWidget, at: QPointF) -> None:
    """As QApplication does when the mouse leaves a widget."""
    widget.setAttribute(Qt.WidgetAttribute.WA_UnderMouse, False)
    QApplication.sendEvent(widget, QEvent(QEvent.Type.Leave))
    if widget.testAttribute(Qt.WidgetAttribute.WA_Hover):
        nowhere = QPointF(-1, -1)
        QApplication.sendEvent(widget, QHoverEvent(QEvent.Type.HoverLeave, nowhere, at, nowhere))
