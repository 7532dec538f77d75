"""Notifications over a session bus of the test's own, with a desk that answers as one does."""

from __future__ import annotations

import os
import queue
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pytestqt.qtbot import QtBot

from app.controllers.tray import TrayController
from app.platform.notifications import BUS, TOKEN, Notifications, available

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux") or shutil.which("dbus-daemon") is None, reason="D-Bus is not installed"
)
NAME, PATH = "org.freedesktop.Notifications", "/org/freedesktop/Notifications"


class Bus:
    """A session bus that nobody else speaks on."""

    def __init__(self) -> None:
        command = ["dbus-daemon", "--session", "--nofork", "--print-address=1"]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        self.address = self._process.stdout.readline().strip()

    def end(self) -> None:
        self._process.kill()
        self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()


class Desk:
    """Shows nothing, keeps what it is asked to show, and says what it is told to say."""

    def __init__(self, address: str, *capabilities: str) -> None:
        from jeepney import message_bus
        from jeepney.io.blocking import Proxy, open_dbus_connection

        self._connection = open_dbus_connection(address)
        Proxy(message_bus, self._connection).RequestName(NAME)
        self._can = list(capabilities)
        self.shown: queue.Queue[tuple[Any, ...]] = queue.Queue()
        self._said: queue.Queue[tuple[str, str, tuple[Any, ...]]] = queue.Queue()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def say(self, what: str, signature: str, *body: Any) -> None:
        self._said.put((what, signature, body))

    def end(self) -> None:
        self._ended.set()
        self._thread.join()
        self._connection.close()

    def _serve(self) -> None:
        from jeepney import DBusAddress, HeaderFields, new_method_return, new_signal

        number = 6
        while not self._ended.is_set():
            while not self._said.empty():
                what, signature, body = self._said.get()
                self._connection.send(new_signal(DBusAddress(PATH, NAME, NAME), what, signature, body))
            try:
                asked = self._connection.receive(timeout=0.02)
            except TimeoutError:
                continue
            except OSError:
                return
            called = asked.header.fields.get(HeaderFields.member)
            if called == "GetCapabilities":
                self._connection.send(new_method_return(asked, "as", (self._can,)))
            elif called == "Notify":
                number += 1
                self._connection.send(new_method_return(asked, "u", (number,)))
                self.shown.put((number, *asked.body))


@pytest.fixture
def bus(monkeypatch: pytest.MonkeyPatch, nobodys_desk: None) -> Iterator[Bus]:
    made = Bus()
    monkeypatch.setenv(BUS, made.address)
    yield made
    made.end()


@pytest.fixture
def notices(bus: Bus) -> Iterator[Notifications]:
    made = Notifications()
    yield made
    made.close()


@pytest.fixture
def desk(bus: Bus) -> Iterator[Desk]:
    made = Desk(bus.address, "actions", "body", "body-markup")
    yield made
    made.end()


def test_without_a_bus_nobody_is_asked(nobodys_desk: None) -> None:
    assert not available()


def test_a_click_on_it_is_heard_with_what_lets_the_window_come_forward(
    qtbot: QtBot, notices: Notifications, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(TOKEN, "of the start")
    notices.show("Answer ready", "a < b & c", "Show")
    number, program, replaced, sign, title, words, actions, hints, lasting = desk.shown.get(timeout=60)
    assert (program, replaced, title, lasting) == ("Underhill", 0, "Answer ready", -1)
    assert words == "a &lt; b &amp; c"
    assert actions == ["default", "Show"]
    assert hints["desktop-entry"] == ("s", "underhill")
    assert Path(sign.removeprefix("file://")).is_file()
    with qtbot.waitSignal(notices.clicked, timeout=60_000):
        desk.say("ActionInvoked", "us", number + 1, "default")  # another program's
        desk.say("ActivationToken", "us", number, "a token")
        desk.say("ActionInvoked", "us", number, "default")
    assert os.environ[TOKEN] == "a token"


def test_clicks_on_others_and_on_one_that_is_gone_are_not_ours(
    qtbot: QtBot, notices: Notifications, desk: Desk
) -> None:
    heard: list[bool] = []
    notices.clicked.connect(lambda: heard.append(True))
    notices.show("one", "", "Show")
    first = desk.shown.get(timeout=60)[0]
    desk.say("ActionInvoked", "us", first + 5, "default")
    desk.say("NotificationClosed", "uu", first, 2)
    desk.say("ActionInvoked", "us", first, "default")
    notices.show("two", "", "Show")
    second = desk.shown.get(timeout=60)[0]
    with qtbot.waitSignal(notices.clicked, timeout=60_000):
        desk.say("ActionInvoked", "us", second, "default")
    assert heard == [True]


def test_a_desk_that_knows_no_markup_gets_the_words_as_they_are(bus: Bus, notices: Notifications) -> None:
    desk = Desk(bus.address, "body")
    notices.show("", "a < b & c", "Show")
    assert desk.shown.get(timeout=60)[5] == "a < b & c"
    desk.end()


def test_where_nobody_shows_them_it_is_told_and_tried_anew(qtbot: QtBot, bus: Bus, notices: Notifications) -> None:
    with qtbot.waitSignal(notices.missed, timeout=60_000) as missed:
        notices.show("title", "words", "Show")
    assert missed.args == ["title", "words"]
    desk = Desk(bus.address)
    notices.show("title", "again", "Show")
    assert desk.shown.get(timeout=60)[5] == "again"
    desk.end()


def test_a_bus_that_is_gone_is_told_of_and_another_is_found(
    qtbot: QtBot, bus: Bus, notices: Notifications, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = Desk(bus.address)
    notices.show("title", "words", "Show")
    desk.shown.get(timeout=60)
    bus.end()
    with qtbot.waitSignal(notices.missed, timeout=60_000):
        notices.show("title", "lost", "Show")
    desk.end()
    other = Bus()
    monkeypatch.setenv(BUS, other.address)
    desk = Desk(other.address)
    notices.show("title", "found", "Show")
    assert desk.shown.get(timeout=60)[5] == "found"
    desk.end()
    other.end()


def test_closing_twice_and_without_a_notification_is_harmless(bus: Bus) -> None:
    notices = Notifications()
    notices.close()
    notices.close()


def test_the_window_is_told_of_by_the_desk_and_comes_forward(
    qtbot: QtBot, launch: Any, bus: Bus, desk: Desk, raised: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    underhill = launch()
    attention: TrayController = underhill.tray_controller
    assert attention.notices is not None
    monkeypatch.setattr("PySide6.QtWidgets.QApplication.activeWindow", staticmethod(lambda: None))
    attention._notify("Underhill", "olmoe imported")
    number = desk.shown.get(timeout=60)[0]
    desk.say("ActionInvoked", "us", number, "default")
    qtbot.waitUntil(lambda: raised == [underhill.window], timeout=60_000)
