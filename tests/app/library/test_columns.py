"""Badges and buttons of the models to download stand below each other."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QPushButton, QWidget
from pytestqt.qtbot import QtBot

from app.library.discover import DiscoverModels
from engine import protocol
from tests.app.acts import Launch
from tests.app.conftest import engine_of
from tests.app.fake_hub import QWEN
from tests.app.places import ENGINE, settle

pytestmark = [pytest.mark.long, pytest.mark.usefixtures("normal_size")]


def column(discover: DiscoverModels, widgets: list[QWidget]) -> set[tuple[int, int]]:
    """Where they begin, and how wide they are."""
    return {(w.mapTo(discover, QPoint()).x(), w.width()) for w in widgets}


def columns(discover: DiscoverModels) -> list[set[tuple[int, int]]]:
    badges: list[QWidget] = [entry.badge for entry in discover.entries if entry.badge is not None]
    buttons: list[list[QWidget]] = [list(entry.buttons.values()) for entry in discover.entries]
    assert len(badges) == len(discover.entries)
    return [column(discover, badges), *(column(discover, list(below)) for below in zip(*buttons, strict=True))]


def test_they_stay_where_they_are_whatever_they_say(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch()
    page = underhill.window.library.show()
    page.show_section(1)
    discover = page.discover
    qtbot.waitUntil(lambda: len(discover.entries) > 3)
    settle(qtbot, underhill.window)
    before = columns(discover)
    assert [len(each) for each in before] == [1, 1, 1]
    underhill.library.pull(QWEN, 4)
    qtbot.waitUntil(lambda: "t1" in underhill.library.transfers)
    states = (protocol.RUNNING, "Downloading"), (protocol.PAUSED, "Resume"), (protocol.FAILED, "Try again")
    for state, words in states:
        engine_of(underhill).hub.tell("t1", state=state)
        qtbot.waitUntil(lambda words=words: any(words in entry.buttons for entry in discover.entries))
        settle(qtbot, underhill.window)
        assert columns(discover) == before
    underhill.theme.set_percent(150)
    settle(qtbot, underhill.window)
    assert [len(each) for each in columns(discover)] == [1, 1, 1]
    (badge,), _, (button,) = columns(discover)
    assert (badge[1], button[1]) > (next(iter(before[0]))[1], next(iter(before[2]))[1])


def test_installed_models_have_theirs_below_each_other(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch(**ENGINE)
    yours = underhill.window.library.show().yours
    qtbot.waitUntil(lambda: len(yours.entries) == 3)
    settle(qtbot, underhill.window)
    assert len({next(iter(entry.buttons)) for entry in yours.entries}) > 1
    badges: list[QWidget] = [entry.badge for entry in yours.entries if entry.badge is not None]
    deeds: list[QWidget] = [next(iter(entry.buttons.values())) for entry in yours.entries]
    where = [{(w.mapTo(yours, QPoint()).x(), w.width()) for w in group} for group in (badges, deeds)]
    assert [len(each) for each in where] == [1, 1]


def test_what_was_measured_by_is_never_seen(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch()
    page = underhill.window.library.show()
    for number in range(page.pages.count()):
        page.show_section(number)
        section = page.pages.currentWidget()
        own = section.findChildren(QPushButton, options=Qt.FindChildOption.FindDirectChildrenOnly)
        assert not [b.text() for b in own if b.isVisible() and b.pos() == QPoint(0, 0)]
