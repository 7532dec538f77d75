"""Who looks elsewhere hears of a long answer, and sees in the tray what goes on."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QApplication, QSystemTrayIcon
from pytestqt.qtbot import QtBot

from app import backend
from app.application import Application
from app.controllers import tray
from app.controllers.tray import TrayController
from app.main_window import MainWindow
from engine import protocol

pytestmark = pytest.mark.long

Launch = Callable[..., Application]


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def messages(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A tray, wherever this runs, and what is said there."""
    said: list[str] = []
    monkeypatch.setattr(QSystemTrayIcon, "isSystemTrayAvailable", staticmethod(lambda: True))
    monkeypatch.setattr(QSystemTrayIcon, "supportsMessages", staticmethod(lambda: True))
    monkeypatch.setattr(QSystemTrayIcon, "show", lambda self: None)
    monkeypatch.setattr(QSystemTrayIcon, "showMessage", lambda self, title, text, icon: said.append(f"{title}: {text}"))
    return said


def beside(underhill: Application, clock: Clock) -> TrayController:
    return TrayController(
        underhill.window, underhill.window.navigator, underhill.conversation, known=underhill.models,
        view_model=underhill.library, theme=underhill.theme, clock=clock,
    )  # fmt: skip


def answer(qtbot: QtBot, underhill: Application, clock: Clock, seconds: float) -> None:
    underhill.conversation.send("tell me")
    clock.now += seconds
    qtbot.waitUntil(lambda: not underhill.conversation.working)


@pytest.mark.parametrize(("seconds", "active", "told"), [(60.0, False, True), (2.0, False, False), (60.0, True, False)])
def test_a_long_answer_is_told_of_to_who_looks_elsewhere(
    qtbot: QtBot, launch: Launch, messages: list[str], monkeypatch: pytest.MonkeyPatch,
    seconds: float, active: bool, told: bool,
) -> None:  # fmt: skip
    underhill = launch(script=lambda _: "Once\nupon a time " + "there was a hill " * 20)
    clock = Clock()
    made = beside(underhill, clock)
    monkeypatch.setattr(QApplication, "activeWindow", staticmethod(lambda: underhill.window if active else None))
    underhill.tray_controller.end()
    underhill.conversation.finished.disconnect(underhill.tray_controller._finished)
    answer(qtbot, underhill, clock, seconds)
    assert len(messages) == told
    if told:
        assert messages[0].startswith("Answer ready: Once upon a time there")
        assert len(messages[0]) <= len("Answer ready: ") + tray._SHOWN
    made.end()


def test_without_a_tray_the_task_bar_blinks(qtbot: QtBot, launch: Launch, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(QSystemTrayIcon, "isSystemTrayAvailable", staticmethod(lambda: False))
    alerts: list[object] = []
    monkeypatch.setattr(QApplication, "alert", staticmethod(alerts.append))
    monkeypatch.setattr(QApplication, "activeWindow", staticmethod(lambda: None))
    underhill = launch()
    clock = Clock()
    assert beside(underhill, clock).tray is None
    answer(qtbot, underhill, clock, 60.0)
    assert alerts == [underhill.window]


def test_the_tray_shows_progress(qtbot: QtBot, launch: Launch, messages: list[str]) -> None:
    underhill = launch()
    made = beside(underhill, Clock())
    assert made.tray is not None
    assert made.tray.toolTip() == "Underhill"
    still = made.tray.icon()
    underhill.models.importing = protocol.Progress(id="7", text="Reading the experts", done=30, total=60)
    underhill.models.import_changed.emit()
    assert made.tray.toolTip() == "Underhill – Reading the experts, 50%"
    assert picture(made.tray.icon()) != picture(still)
    underhill.models.importing = None
    underhill.models.import_changed.emit()
    assert picture(made.tray.icon()) == picture(still)
    assert underhill.models.state == backend.READY


def test_its_menu_works(qtbot: QtBot, launch: Launch, messages: list[str], raised: list[MainWindow]) -> None:
    underhill = launch()
    answer(qtbot, underhill, Clock(), 0)
    made = beside(underhill, Clock())
    underhill.window.showMinimized()
    actions = {action.text(): action for action in made._menu.actions()}
    actions["New chat"].trigger()
    assert not underhill.window.isMinimized()
    assert raised == [underhill.window]
    assert underhill.conversation.chat is None
    actions["Quit"].trigger()
    assert not underhill.window.isVisible()


def picture(icon: QIcon) -> bytes:
    return bytes(icon.pixmap(64, 64).toImage().constBits())
