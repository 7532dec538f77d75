"""Tests of a window that fail at their first try, each leaving something else behind. Run by test_second_try.py."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QTimer, qWarning
from PySide6.QtWidgets import QApplication, QDialog, QMenu, QWidget
from pytestqt.qtbot import QtBot

from tests.app import conftest
from tests.app.acts import Launch, ask, contents
from tests.quarantine import tries

_go = threading.Event()
_left: list[QWidget] = []


@pytest.fixture(scope="module", autouse=True)
def hasty() -> Iterator[None]:
    """What is left running here is left on purpose, and not waited for."""
    usual, conftest.ENDING = conftest.ENDING, 0.2
    yield
    conftest.ENDING = usual


@pytest.fixture
def first(request: pytest.FixtureRequest) -> bool:
    return tries(request.node) == 1


def alone() -> bool:
    """No window is there."""
    return not QApplication.topLevelWidgets()


def test_in_the_middle_of_an_answer(qtbot: QtBot, launch: Launch, first: bool) -> None:
    assert alone()
    underhill = launch(rate=50.0 if first else 0.0)
    assert underhill.window.sidebar.model.rowCount() == 0  # its home is new
    if first:
        underhill.conversation.send("hello")
        qtbot.waitUntil(lambda: underhill.conversation.busy)
        raise AssertionError("while it speaks")
    ask(qtbot, underhill, "hello")
    qtbot.waitUntil(lambda: len(contents(underhill)) == 2)
    qtbot.waitUntil(lambda: underhill.window.sidebar.model.rowCount() == 2)


def test_with_a_dialog_and_a_menu_open(qtbot: QtBot, launch: Launch, first: bool) -> None:
    assert alone()
    launch()
    if first:
        dialog, menu = QDialog(), QMenu()
        _left.extend((dialog, menu))
        dialog.open()
        menu.addAction("Copy")
        menu.popup(dialog.pos())
        raise AssertionError("while they are open")


def test_that_qt_warns_of(qtbot: QtBot, launch: Launch, first: bool) -> None:
    launch()
    if first:
        qWarning("something is amiss")


def test_with_a_defect_in_a_slot(qtbot: QtBot, launch: Launch, first: bool) -> None:
    launch()
    if first:
        QTimer.singleShot(0, lambda: 1 // 0)
        qtbot.wait(20)


def test_that_ends_with_a_thread_running(launch: Launch, first: bool) -> None:
    launch()
    if first:
        threading.Thread(target=_go.wait, daemon=True, name="left").start()


def test_that_warns_while_it_is_taken_apart(qtbot: QtBot, launch: Launch, first: bool) -> None:
    underhill = launch()
    if first:
        underhill.window.destroyed.connect(lambda: qWarning("too late"))


def test_that_reaches_its_limit_of_time_while_it_waits(qtbot: QtBot, launch: Launch, first: bool) -> None:
    launch()
    if first:
        signal.setitimer(signal.ITIMER_REAL, 0.2)  # the clock of pytest-timeout
        qtbot.waitUntil(lambda: False)


def test_after_them() -> None:
    assert alone()
    _go.set()
