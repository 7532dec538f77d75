"""Fingers: they scroll what scrolls, press what they tap, and find large enough controls from the first touch on."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QPoint
from PySide6.QtGui import QPointingDevice
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QScroller, QWidget
from pytestqt.qtbot import QtBot

from app.application import Application
from app.theme import fonts
from app.widgets.touch import FirstTouch
from tests.app.acts import Launch, ask


@pytest.fixture(scope="module")
def screen() -> QPointingDevice:
    return QTest.createTouchDevice()


@pytest.fixture(autouse=True)
def mouse_again() -> Iterator[None]:
    yield
    fonts.set_touched(False)


def tap(screen: QPointingDevice, widget: QWidget, at: QPoint) -> None:
    QTest.touchEvent(widget, screen).press(0, at, widget).commit()
    QTest.touchEvent(widget, screen).release(0, at, widget).commit()


def small(underhill: Application) -> list[str]:
    """Buttons in sight that a finger may miss."""
    return [
        f"{button.accessibleName() or button.text()}: {button.width()} x {button.height()}"
        for button in underhill.window.findChildren(QAbstractButton)
        if button.isVisible() and min(button.width(), button.height()) < fonts.FINGER
    ]


def test_the_first_touch_makes_room_for_fingers(qtbot: QtBot, launch: Launch, screen: QPointingDevice) -> None:
    underhill = launch()
    ask(qtbot, underhill, "Hello")
    window, view = underhill.window, underhill.window.transcript
    before = view.items[-1].height
    assert small(underhill)
    attach = window.composer.attach
    FirstTouch(window.windowHandle(), underhill.theme)
    pressed: list[bool] = []
    attach.clicked.disconnect()
    attach.clicked.connect(lambda: pressed.append(True))
    tap(screen, attach, attach.rect().center())
    assert len(pressed) == 1  # a tap is a click
    qtbot.waitUntil(fonts.is_touched)
    qtbot.waitUntil(lambda: not small(underhill))
    assert view.items[-1].height > before  # its buttons have room
    chats = window.sidebar.list
    rows = range(chats.model().rowCount())
    assert max(chats.visualRect(chats.model().index(row, 0)).height() for row in rows) >= fonts.FINGER


def test_a_finger_scrolls_the_conversation(qtbot: QtBot, launch: Launch, screen: QPointingDevice) -> None:
    underhill = launch()
    underhill.link.engine.script = lambda messages: "\n\n".join(f"Paragraph {n}." for n in range(200))  # type: ignore[attr-defined]
    ask(qtbot, underhill, "Hello")
    view = underhill.window.transcript
    page, bar = view.viewport(), view.verticalScrollBar()
    before = bar.value()
    assert before > 500
    QTest.touchEvent(page, screen).press(0, QPoint(200, 100), page).commit()
    for y in range(110, 400, 10):
        QTest.touchEvent(page, screen).move(0, QPoint(200, y), page).commit()
        qtbot.wait(1)
    assert bar.value() <= before - 100  # of 280, less what it takes to be no tap
    QTest.touchEvent(page, screen).release(0, QPoint(200, 390), page).commit()
    QScroller.scroller(page).stop()
    assert view.selection.empty  # it did not mark text
