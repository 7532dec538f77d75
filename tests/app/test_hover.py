"""After a menu closes, nothing stays in its hover look that the mouse has left."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QModelIndex, QPoint, QPointF, Qt, QTimer
from PySide6.QtGui import QContextMenuEvent, QCursor, QEnterEvent, QHoverEvent, QPainter
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu, QStyle, QStyleOptionViewItem, QWidget
from pytestqt.qtbot import QtBot

from app.application import Application
from app.main_window import MainWindow
from app.sidebar.chat_model import ChatDelegate
from tests.app import places
from tests.app.acts import Launch, button

APP = Path(__file__).resolve().parents[2] / "app"
OTHERS = {"widgets/menus.py", "controllers/tray.py", "spelling/menu.py"}  # of the system; and one that is never shown


def escape(menu: QMenu) -> None:
    QTest.keyClick(menu, Qt.Key.Key_Escape)


def click_outside(menu: QMenu) -> None:
    QTest.mouseClick(menu, Qt.MouseButton.LeftButton, pos=QPoint(-40, menu.height() + 40))


def choose(menu: QMenu) -> None:
    action = next(a for a in menu.actions() if a.isEnabled() and not a.isSeparator() and a.menu() is None)
    action.blockSignals(True)
    menu.setActiveAction(action)
    QTest.keyClick(menu, Qt.Key.Key_Return)
    action.blockSignals(False)


def enter(widget: QWidget, at: QPoint) -> None:
    """As Qt tells a widget, and those that it is in, that the mouse is over it."""
    each: QWidget | None = widget
    while each is not None:
        local, scene, screen = (
            each.mapFrom(widget, at) if each is widget else each.mapFromGlobal(widget.mapToGlobal(at)),
            widget.mapTo(widget.window(), at),
            widget.mapToGlobal(at),
        )
        QApplication.sendEvent(each, QEnterEvent(QPointF(local), QPointF(scene), QPointF(screen)))
        if each.testAttribute(Qt.WidgetAttribute.WA_Hover):
            hover = QHoverEvent(QHoverEvent.Type.HoverEnter, QPointF(local), QPointF(screen), QPointF(-1, -1))
            QApplication.sendEvent(each, hover)
        each = None if each.isWindow() else each.parentWidget()


def hovered(window: MainWindow, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of what is in its hover look though the mouse is elsewhere, and the rows of chats that are drawn so."""
    at = QCursor.pos()
    found = [w for w in window.findChildren(QWidget) if w.underMouse()]
    names = [w.accessibleName() or w.objectName() for w in found if not w.rect().contains(w.mapFromGlobal(at))]
    drawn: list[str] = []
    paint = ChatDelegate.paint

    def noted(self: ChatDelegate, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex) -> None:
        if option.state & QStyle.StateFlag.State_MouseOver:
            drawn.append("a row")
        paint(self, painter, option, index)

    with monkeypatch.context() as patch:
        patch.setattr(ChatDelegate, "paint", noted)
        window.sidebar.list.viewport().grab()
    return [*names, *drawn]


def openers(qtbot: QtBot, underhill: Application) -> list[tuple[str, QWidget, QPoint]]:
    """What a click, or a right click, opens a menu of, and where."""
    window = underhill.window
    chats, header = window.sidebar.list, window.header
    rows = [(f"row {n}", chats.viewport(), chats.visualRect(chats.model().index(n, 0)).center()) for n in range(2)]
    buttons = [
        (b.accessibleName(), b, b.rect().center())
        for b in (header.more, header.model, header.thinking, window.sidebar.more, window.composer.tools)
    ]
    return [
        *rows, *buttons, ("message", window.transcript.viewport(), QPoint(300, 80)),
        ("draft", window.composer.edit.viewport(), QPoint(20, 10)),
    ]  # fmt: skip


def open_and_close(qtbot: QtBot, widget: QWidget, at: QPoint, close: Callable[[QMenu], None]) -> None:
    """Open the menu of a widget as the mouse does, and close it."""
    closed: list[bool] = []

    def shut() -> None:
        menu = QApplication.activePopupWidget()
        if isinstance(menu, QMenu):
            closed.append(True)
            close(menu)
        else:
            QTimer.singleShot(5, shut)

    QTimer.singleShot(0, shut)
    if widget.objectName() == "qt_scrollarea_viewport":
        event = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, at, widget.mapToGlobal(at))
        QApplication.sendEvent(widget, event)
    else:
        QTest.mouseClick(widget, Qt.MouseButton.LeftButton, pos=at)
    qtbot.waitUntil(lambda: bool(closed) and QApplication.activePopupWidget() is None)
    QApplication.processEvents()


@pytest.mark.qt_log_ignore("This plugin does not support", "occurs outside target window")
@pytest.mark.parametrize("close", [escape, click_outside, choose])
def test_nothing_stays_in_its_hover_look_after_a_menu(
    qtbot: QtBot, launch: Launch, monkeypatch: pytest.MonkeyPatch, close: Callable[[QMenu], None]
) -> None:
    cards = tuple(replace(card, calls_tools=True) for card in places.ENGINE["cards"])
    underhill = launch(**places.ENGINE | {"cards": cards})
    window = underhill.window
    for name, _ in places.pages(qtbot, underhill):
        if name == "a chat":
            break
    for name, widget, at in openers(qtbot, underhill):
        QCursor.setPos(window.mapToGlobal(QPoint(window.width() - 4, window.height() // 2)))
        QApplication.processEvents()
        enter(widget, at)  # and while the menu is open the mouse goes elsewhere, of which Qt tells nothing on X11
        assert hovered(window, monkeypatch), name
        open_and_close(qtbot, widget, at, close)
        assert hovered(window, monkeypatch) == [], name


@pytest.mark.qt_log_ignore("This plugin does not support")
def test_what_the_mouse_is_over_keeps_its_hover_look(qtbot: QtBot, launch: Launch) -> None:
    window = launch().window
    new = button(window.sidebar, "New chat")
    QCursor.setPos(new.mapToGlobal(new.rect().center()))
    qtbot.waitUntil(new.underMouse)
    open_and_close(qtbot, window.sidebar.more, window.sidebar.more.rect().center(), escape)
    assert new.underMouse()


def test_every_menu_is_made_so() -> None:
    made = {path.relative_to(APP).as_posix() for path in APP.rglob("*.py") if "QMenu(" in path.read_text("utf-8")}
    assert made == OTHERS
