"""Hours of use leave nothing behind: a shorter day than that of `python -m tests.app.long_run`, and one with a leak."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QObject
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from app.application import Application
from app.widgets import touch
from tests.app.census import Census, growing, memory_growth
from tests.app.long_run import ANSWER, Person, fill

pytestmark = pytest.mark.long
ROUNDS, SWITCHES, WARM = 6, 4, 2


@pytest.fixture(autouse=True)
def no_touch_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    """With one, Python keeps a member of an enumeration for each area that was ever opened; other tests make one."""
    monkeypatch.setattr(touch, "has_touch_screen", lambda: False)


def use(qapp: QApplication, underhill: Application) -> list[Census]:
    """What is there after each round."""
    person = Person(underhill, qapp.processEvents)
    person.until(lambda: underhill.window.sidebar.model.rows)
    person.use(ROUNDS, SWITCHES, WARM)
    return person.counts


def test_nothing_grows(qtbot: QtBot, qapp: QApplication, launch: Callable[..., Application], tmp_path: Path) -> None:
    fill(tmp_path, chats=6)
    underhill = launch(script=lambda messages: ANSWER)
    assert growing(use(qapp, underhill)) == {}


class Forgotten(QObject):
    """Left behind, once for each chat that is opened."""


def test_one_object_for_each_chat_is_noticed(
    qtbot: QtBot, qapp: QApplication, launch: Callable[..., Application], tmp_path: Path
) -> None:
    fill(tmp_path, chats=6)
    underhill = launch(script=lambda messages: ANSWER)
    kept: list[Forgotten] = []

    def leak(*_: object) -> None:
        kept.append(Forgotten())
        for _ in range(4):  # more than what comes and goes by itself
            label = QWidget(underhill.window)
            underhill.theme.changed.connect(label.update)

    underhill.conversation.opened.connect(leak)
    found = growing(use(qapp, underhill))
    assert {f"{__name__}.Forgotten", "PySide6.QtWidgets.QWidget", "Qt QWidget", "listeners of the theme"} <= set(found)


def test_what_comes_once_does_not_count() -> None:
    def census(switches: int, things: int, rss: float) -> Census:
        return Census(switches, Counter(thing=things), Counter(), 0, int(rss))

    once = [census(n, 100 if n > 40 else 0, 50e6) for n in range(0, 100, 10)]
    always = [census(n, n, 50e6 + 1e6 * n) for n in range(0, 100, 10)]
    assert growing(once) == {}
    assert growing(always) == {"thing": 90}
    assert memory_growth(once) == 0
    assert 50e6 < memory_growth(always) < 70e6
