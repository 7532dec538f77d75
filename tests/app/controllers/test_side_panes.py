"""The list of chats and the live panels: both where there is room, in turns where there is not."""

from __future__ import annotations

from dataclasses import replace

import pytest
from pytestqt.qtbot import QtBot

from app.main_window import MainWindow
from tests.app.acts import Launch
from tests.app.conftest import close
from tests.app.fake_engine import SENTENCE
from tests.app.telemetry.samples import FACTS

pytestmark = pytest.mark.long


def seen(window: MainWindow) -> tuple[bool, bool]:
    """Which of the two is there; their buttons say the same."""
    found = (window.sidebar.isVisible(), window.live.shown)
    assert found == (window.header.sidebar.isChecked(), window.header.live.isChecked())
    return found


def test_live_panels_leave_a_narrow_window_and_come_back(qtbot: QtBot, launch: Launch) -> None:
    window = launch().window
    assert seen(window) == (True, True)
    wide = window.live.docks[0].width()
    window.resize(900, 600)
    qtbot.waitUntil(lambda: seen(window) == (True, False) and window.pages.width() > 600)
    window.resize(1180, 760)
    qtbot.waitUntil(lambda: seen(window) == (True, True) and window.live.docks[0].width() == wide)


def test_in_a_narrow_window_one_opens_in_the_place_of_the_other(qtbot: QtBot, launch: Launch) -> None:
    window = launch().window
    window.resize(900, 600)
    window.header.live.click()
    assert seen(window) == (False, True)
    window.header.sidebar.click()
    assert seen(window) == (True, False)
    window.header.sidebar.click()
    assert seen(window) == (False, False)  # closing one does not bring the other
    window.resize(1180, 760)
    qtbot.waitUntil(lambda: seen(window) == (False, True))


def test_what_was_closed_by_hand_stays_closed(qtbot: QtBot, launch: Launch) -> None:
    window = launch().window
    window.live.docks[1].close()
    window.resize(900, 600)
    qtbot.waitUntil(lambda: seen(window) == (True, False))
    window.resize(1180, 760)
    qtbot.waitUntil(lambda: seen(window) == (True, True))
    assert [dock.isVisible() for dock in window.live.docks] == [True, False]
    window.live.docks[0].close()
    assert seen(window) == (True, False)
    window.resize(1280, 760)
    assert seen(window) == (True, False)


@pytest.mark.parametrize("wide", [900, 1180])
def test_what_is_wished_for_outlives_a_narrow_window(qtbot: QtBot, launch: Launch, wide: int) -> None:
    underhill = launch()
    underhill.window.resize(900, 600)
    qtbot.waitUntil(lambda: seen(underhill.window) == (True, False))
    close(underhill)
    again = launch().window
    again.resize(wide, 600)
    qtbot.waitUntil(lambda: seen(again) == (True, wide > 900))


@pytest.mark.qt_log_ignore("This plugin does not support")  # to raise a window
def test_a_panel_in_a_window_of_its_own_takes_no_room(qtbot: QtBot, launch: Launch) -> None:
    window = launch().window
    for dock in window.live.docks:
        dock.setFloating(True)
    window.resize(900, 600)
    assert seen(window) == (True, True)


def test_both_panels_get_their_share_of_the_height_after_the_tour(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch(new=True)
    window = underhill.window
    window.navigator.show_chat()
    qtbot.waitUntil(lambda: all(dock.isVisible() for dock in window.live.docks))
    figures, experts = window.live.docks
    qtbot.waitUntil(lambda: experts.height() > 0.3 * (figures.height() + experts.height()))


def test_what_is_said_of_an_expert_comes_into_sight(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch(script=lambda messages: SENTENCE * 30, rate=100.0)
    underhill.conversation.send("Hello", ())
    experts = underhill.window.live.experts
    qtbot.waitUntil(lambda: experts.heatmap.data is not None)
    underhill.conversation.stop()
    qtbot.waitUntil(lambda: not underhill.conversation.working)
    experts.heatmap.chosen.emit(3, 1)
    assert experts.data is not None
    experts.show_data(replace(experts.data, expert=FACTS))
    inspector = experts.inspector
    qtbot.waitUntil(lambda: inspector.visibleRegion().boundingRect().height() > 0.9 * inspector.height())
