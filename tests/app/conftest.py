"""Every test of the window: no display needed, no Qt warning allowed, no thread left behind."""

from __future__ import annotations

import os
import re
import sys
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack
from datetime import datetime, tzinfo
from pathlib import Path
from typing import Any

if sys.platform.startswith("linux") and not os.environ.get("DISPLAY") and not os.environ.get("WAYLAND_DISPLAY"):
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import pytest
from PySide6.QtCore import (
    SIGNAL,
    SLOT,
    QCoreApplication,
    QEvent,
    QEventLoop,
    QObject,
    QTimer,
    QtMsgType,
    qInstallMessageHandler,
)
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.application import Application
from app.i18n import languages
from app.main_window import MainWindow
from app.markdown.highlight import Highlighter
from app.platform import notifications
from app.platform.logs import AppPaths
from app.platform.main_thread import MainThreadQueue
from app.sidebar import sidebar
from app.speech import voice
from app.theme import fonts
from app.theme.theme import Theme
from app.transcript.view import TranscriptView
from engine import protocol
from engine.sandbox import watchdog
from tests.app.fake_engine import FakeEngine, scripted
from tests.app.homes import lived_in
from tests.quarantine import tries
from tests.waiting import LONGEST

HERE = Path(__file__).parent
_LONGEST = int(1000 * LONGEST)  # milliseconds
ENDING = LONGEST  # seconds
OFFSCREEN = "This plugin does not support propagateSizeHints()"  # of a platform without windows; nothing else may warn
LOCALE_C = re.compile(r"Detected locale .*?which is not UTF-8.*?for more information\.\n", re.DOTALL)  # nor there


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in Path(item.path).parents:
            item.add_marker(pytest.mark.qt_log_level_fail("WARNING"))
            item.add_marker(pytest.mark.qt_log_ignore(f"^{re.escape(OFFSCREEN)}$"))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None]:
    """pytest-qt hears what Qt says until a test has ended; here, while its window is taken apart."""
    said: list[str] = []

    def heard(kind: QtMsgType, _: object, text: str) -> None:
        if kind not in (QtMsgType.QtDebugMsg, QtMsgType.QtInfoMsg) and text != OFFSCREEN:
            said.append(text)

    before = qInstallMessageHandler(heard)
    try:
        yield
    finally:
        qInstallMessageHandler(before)
    assert not said, f"Qt warned while the test was taken apart: {said}"


@pytest.fixture(autouse=True)
def no_thread_left() -> Iterator[None]:
    before = set(threading.enumerate())
    yield
    for thread in set(threading.enumerate()) - before:
        if thread.name == watchdog.THREAD:
            continue  # it stays a while for the next wait, and ends by itself
        thread.join(ENDING)  # one that has been told to end may be about to
        assert not thread.is_alive(), f"left running: {thread}"


@pytest.fixture(autouse=True)
def empty_desk(request: pytest.FixtureRequest) -> None:
    """A second try sees no window, dialog or menu that the first one left open."""
    if tries(request.node) > 1:
        for widget in QApplication.topLevelWidgets():
            widget.close()
            widget.deleteLater()
        _delete_later_is_now()


@pytest.fixture(autouse=True)
def nobodys_desk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Notifications of tests are shown to nobody."""
    monkeypatch.delenv(notifications.BUS, raising=False)


@pytest.fixture(autouse=True)
def nobodys_ears(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests are silent, wherever they run."""
    monkeypatch.setattr(voice, "speech_program", lambda: "")


@pytest.fixture(autouse=True)
def one_day(monkeypatch: pytest.MonkeyPatch) -> None:
    """For the list of chats it is the day on which the test began: one that runs at midnight finds them under "Today"
    all the same, and not in two parts."""
    began = datetime.now()

    class Day(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]
            return began

    monkeypatch.setattr(sidebar, "datetime", Day)


def _delete_later_is_now() -> None:
    """Outside of an event loop, nobody else does it: a window would end, and warn, in some later test."""
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)


class Patient(QtBot):
    """Waits as long as a busy computer needs: what is waited for comes at once where nothing is wrong."""

    def wait(self, ms: int) -> None:
        """Nothing of Python ends it: when a test's limit of time is reached meanwhile, that is raised after the wait,
        and not in the very slot that would have ended it, which then would never end.
        """
        loop, timer = QEventLoop(), QTimer(singleShot=True, interval=ms)
        QObject.connect(timer, SIGNAL("timeout()"), loop, SLOT("quit()"))
        timer.start()
        loop.exec()

    def waitUntil(self, callback: Callable[[], bool | None], *, timeout: int = _LONGEST) -> None:
        super().waitUntil(callback, timeout=timeout)

    def waitSignal(self, signal: Any, *, timeout: int = _LONGEST, **more: Any) -> Any:
        return super().waitSignal(signal, timeout=timeout, **more)


languages.install(languages.ENGLISH)  # for tests that need no application: dates


@pytest.fixture(scope="session")
def qapp(qapp: QApplication) -> QApplication:
    """As the window's own start makes it, in English: how wide a text is does not hang on the tests before it."""
    languages.install(languages.ENGLISH)  # once more: there is a QApplication now, which has taken the system's letters
    fonts.load()
    qapp.setFont(fonts.text())
    return qapp


@pytest.fixture
def qtbot(qapp: QApplication, request: pytest.FixtureRequest) -> QtBot:
    return Patient(request)


@pytest.fixture
def theme(qapp: QApplication) -> Iterator[Theme]:
    made = Theme(qapp, "light")
    yield made
    made.deleteLater()


@pytest.fixture
def normal_size(qapp: QApplication) -> Iterator[None]:
    """For tests that choose another size of text."""
    yield
    fonts.set_percent(100)
    qapp.setFont(fonts.text())


@pytest.fixture
def view(qtbot: QtBot, theme: Theme) -> Iterator[TranscriptView]:
    """The page alone, without a window around it."""
    made = TranscriptView(theme)
    qtbot.addWidget(made)
    made.resize(900, 700)
    made.show()
    yield made
    made.builder.close()


@pytest.fixture
def raised(monkeypatch: pytest.MonkeyPatch) -> list[MainWindow]:
    """The windows that asked to be in front of others, which the platform without windows cannot do and warns of."""
    asked: list[MainWindow] = []
    monkeypatch.setattr(MainWindow, "raise_", lambda window: asked.append(window))
    return asked


@pytest.fixture
def main_queue(qapp: QApplication) -> Iterator[MainThreadQueue]:
    made = MainThreadQueue()
    yield made
    made.close()


@pytest.fixture
def launch_real(
    qapp: QApplication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[], Application]]:
    """launch_real(): the whole app with a real engine of its own, as it was left; one at a time."""
    for name in ("HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "UNDERHILL_HOME"):
        monkeypatch.setenv(name, str(tmp_path))
    running: list[Application] = []

    def make() -> Application:
        end()
        running.append(Application(qapp, lived_in(tmp_path / "window")))
        running[0].window.resize(1180, 760)
        running[0].open()
        return running[0]

    def end() -> None:
        while running:
            underhill = running.pop()
            underhill.window.close()
            underhill.close()

    yield make
    end()


@pytest.fixture
def launch(
    qtbot: QtBot, qapp: QApplication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[..., Application]]:
    """launch(**values of the fake engine): a window with its model open; it is closed after the test.

    new: it is the first run.
    """
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)  # or nothing could be downloaded; the engine sends nothing
    monkeypatch.setattr(protocol, "settle_garbage", lambda _: None)  # once a window, it would be a third of many a test
    monkeypatch.setattr(Highlighter, "prepare", lambda _: None)  # as would a process that may never be asked
    running: list[Application] = []

    def make(ready: bool = True, new: bool = False, **values: object) -> Application:
        paths = AppPaths(tmp_path) if new else lived_in(tmp_path)
        underhill = Application(qapp, paths, scripted(**values))
        running.append(underhill)
        underhill.window.resize(1180, 760)
        underhill.open()
        if ready:
            qtbot.waitUntil(lambda: underhill.models.state == "ready")
        return underhill

    yield make
    try:
        with ExitStack() as ending:
            for underhill in running:
                if underhill not in _closed:
                    ending.callback(close, underhill)
    finally:
        _closed.clear()
        _delete_later_is_now()


_closed: list[Application] = []


def close(underhill: Application) -> None:
    """Close the window and end its threads, before the test ends."""
    _closed.append(underhill)  # also where it fails: a window is closed once
    try:
        underhill.window.close()
    finally:
        underhill.close()


def engine_of(underhill: Application) -> FakeEngine:
    """The scripted engine behind a window."""
    engine = underhill.link.engine
    assert isinstance(engine, FakeEngine)
    return engine
