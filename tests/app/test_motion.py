"""Reduced motion: as the settings have it, or as the desktop does."""

from __future__ import annotations

import shutil
import sys
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QProgressBar
from pytestqt.qtbot import QtBot

from app.platform.notifications import BUS
from app.theme import motion
from app.theme.motion import Motion
from app.widgets.builders import set_progress
from tests.app.acts import Launch
from tests.app.platform.test_notifications import Bus

_PORTAL = "org.freedesktop.portal.Desktop"


def test_the_setting_stills_what_moves_by_itself(launch: Launch) -> None:
    underhill = launch()
    hints = QGuiApplication.styleHints()
    blinking = hints.cursorFlashTime()
    assert blinking > 0
    assert underhill.window.isAnimated()
    look = underhill.window.settings.open().look
    look.motion.setCurrentIndex(look.motion.findData("on"))
    assert hints.cursorFlashTime() == 0
    assert not underhill.window.isAnimated()
    bar = QProgressBar(underhill.window)
    set_progress(bar, 0, 0)
    assert bar.maximum() > bar.minimum()  # it does not move to and fro
    look.motion.setCurrentIndex(look.motion.findData("off"))
    assert hints.cursorFlashTime() == blinking
    assert underhill.window.isAnimated()
    set_progress(bar, 0, 0)
    assert bar.maximum() == bar.minimum()


class Portal:
    """A desktop with these settings, by (namespace, key) as (signature, value)."""

    def __init__(self, address: str, settings: dict[tuple[str, str], tuple[str, Any]]) -> None:
        from jeepney import message_bus
        from jeepney.io.blocking import Proxy, open_dbus_connection

        self._connection = open_dbus_connection(address)
        Proxy(message_bus, self._connection).RequestName(_PORTAL)
        self._settings, self._ended = settings, threading.Event()
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def _serve(self) -> None:
        from jeepney import HeaderFields, MessageType, new_error, new_method_return

        while not self._ended.is_set():
            try:
                asked = self._connection.receive(timeout=0.02)
            except TimeoutError:
                continue
            if asked.header.message_type is not MessageType.method_call:
                continue
            assert asked.header.fields[HeaderFields.member] == "ReadOne"
            if asked.body in self._settings:
                self._connection.send(new_method_return(asked, "v", (self._settings[asked.body],)))
            else:
                self._connection.send(new_error(asked, "org.freedesktop.portal.Error.NotFound", "s", ("none",)))

    def end(self) -> None:
        self._ended.set()
        self._thread.join()
        self._connection.close()


@pytest.fixture
def bus(monkeypatch: pytest.MonkeyPatch, nobodys_desk: None) -> Iterator[Bus]:
    made = Bus()
    monkeypatch.setenv(BUS, made.address)
    yield made
    made.end()


@pytest.mark.skipif(
    not sys.platform.startswith("linux") or shutil.which("dbus-daemon") is None, reason="D-Bus is not installed"
)
@pytest.mark.parametrize(
    ("settings", "reduces"),
    [
        ({("org.freedesktop.appearance", "reduced-motion"): ("u", 1)}, True),
        ({("org.gnome.desktop.interface", "enable-animations"): ("b", False)}, True),
        ({("org.kde.kdeglobals.KDE", "AnimationDurationFactor"): ("s", "0")}, True),
        ({("org.gnome.desktop.interface", "enable-animations"): ("b", True)}, False),
        ({}, False),
    ],
)
def test_the_desktop_is_asked(
    qtbot: QtBot, qapp: QApplication, bus: Bus, settings: dict[tuple[str, str], tuple[str, Any]], reduces: bool
) -> None:
    portal = Portal(bus.address, settings)
    try:
        assert motion.desktop_reduces() is reduces
        if reduces:
            made = Motion(qapp, "system")
            qtbot.waitUntil(motion.is_reduced)
            made.set_choice("off")
            assert not motion.is_reduced()
            made.close()
    finally:
        portal.end()


def test_a_computer_without_a_desktop_moves(monkeypatch: pytest.MonkeyPatch) -> None:
    if not sys.platform.startswith("linux"):
        pytest.skip("D-Bus is of Linux")
    monkeypatch.setenv(BUS, "unix:path=/nowhere/at/all")
    assert not motion.desktop_reduces()
