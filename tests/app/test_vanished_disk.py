"""The disk that holds chats and models is pulled out in the middle of an answer, and plugged in again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.application import Application
from engine import client
from tests.app.acts import contents
from tests.app.conftest import close
from tests.app.homes import lived_in
from tests.vanishing_disk import VanishingDisk, vanishing_disk

pytestmark = [
    pytest.mark.slow,
    pytest.mark.usefixtures("raised"),
    pytest.mark.alone("shuts down a file system that it has mounted"),
]
FIRST, SECOND, THIRD = "What is seven plus five?", "Tell me a long story about a fox.", "And what of the hen?"


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[VanishingDisk]:
    with vanishing_disk(tmp_path) as disk:
        yield disk


@pytest.fixture
def opened(
    qapp: QApplication, disk: VanishingDisk, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[], Application]]:
    """Opens a window whose chats and models are on that disk; all but the last are closed before."""
    monkeypatch.setenv("UNDERHILL_HOME", str(disk.top / "data"))
    windows: list[Application] = []

    def make() -> Application:
        windows.append(Application(qapp, lived_in(disk.top), client.start_subprocess))
        windows[-1].open()
        return windows[-1]

    yield make
    close(windows[-1])


def ask(qtbot: QtBot, underhill: Application, text: str) -> None:
    qtbot.waitUntil(lambda: underhill.models.state == "ready")
    count = len(contents(underhill))
    underhill.conversation.send(text)
    qtbot.waitUntil(lambda: len(contents(underhill)) == count + 2 and bool(contents(underhill)[-1]))


def ask_and_pull(qtbot: QtBot, underhill: Application, disk: VanishingDisk, text: str) -> None:
    """The disk goes as the answer's first words are shown: behind the question in the queue of what is to be kept, and
    before the answer's end, however short it is."""

    def pull(_: object, more: str, status: str) -> None:
        if more:  # until then only how long it takes is shown
            underhill.conversation.text_added.disconnect(pull)
            underhill.database.submit(lambda store: disk.vanish())

    underhill.conversation.text_added.connect(pull)
    ask(qtbot, underhill, text)


def answered(qtbot: QtBot, underhill: Application) -> None:
    qtbot.waitUntil(lambda: not underhill.conversation.working)


def test_nothing_that_was_kept_is_lost(qtbot: QtBot, disk: VanishingDisk, opened: Callable[[], Application]) -> None:
    underhill = opened()
    ask(qtbot, underhill, FIRST)
    answered(qtbot, underhill)
    first = contents(underhill)
    ask_and_pull(qtbot, underhill, disk, SECOND)
    answered(qtbot, underhill)
    assert contents(underhill)[:3] == [*first, SECOND]
    underhill.window.close()  # asks, since the answer is nowhere but here
    assert underhill.window.isVisible()
    dialog = underhill.window.closing.dialog
    assert dialog is not None
    assert contents(underhill)[3] in dialog.words.toPlainText()
    dialog.accept()
    close(underhill)

    disk.come()
    again = opened()
    qtbot.waitUntil(lambda: len(contents(again)) >= 3)
    assert contents(again)[:3] == [*first, SECOND]


def test_what_was_said_meanwhile_is_kept_once_it_is_back(
    qtbot: QtBot, disk: VanishingDisk, opened: Callable[[], Application]
) -> None:
    underhill = opened()
    ask_and_pull(qtbot, underhill, disk, SECOND)
    answered(qtbot, underhill)
    shown = contents(underhill)
    disk.come()
    underhill.conversation.send(THIRD)
    qtbot.waitUntil(lambda: THIRD in contents(underhill))
    answered(qtbot, underhill)
    close(underhill)

    again = opened()
    qtbot.waitUntil(lambda: len(contents(again)) >= 3)
    assert contents(again)[:3] == [*shown[:2], THIRD]
