"""The window's thread is never away for long while an answer streams fast with the live panel open."""

from __future__ import annotations

import gc
from collections.abc import Callable
from statistics import quantiles

import pytest
from pytestqt.qtbot import QtBot

from app.application import Application
from tests.app.samples import LONG_ANSWER
from tests.app.smoothness import Watchdog

pytestmark = pytest.mark.long


def test_streaming_leaves_the_window_alive(qtbot: QtBot, launch: Callable[..., Application]) -> None:
    """Milliseconds that it computed itself between two turns: how long it had to wait meanwhile is up to whatever
    else the computer does. The bound is wide; docs/benchmarks has the figures, and those by the clock.
    """
    underhill = launch(rate=200.0, script=lambda messages: LONG_ANSWER * 20)
    assert underhill.window.live.shown
    underhill.conversation.send("go")
    qtbot.waitUntil(lambda: len(underhill.conversation.messages) == 2)
    dog = Watchdog()
    dog.start()
    painted = underhill.window.live.painted
    qtbot.waitUntil(lambda: len(underhill.window.transcript.items[-1].message.content) > 4000)
    dog.stop()
    assert underhill.window.live.painted > painted
    assert len(dog.computed) > 20
    assert quantiles(dog.computed, n=20)[-1] < 50
    assert sum(ms for ms in dog.computed if ms > 50) < 0.25 * sum(dog.computed) + 500


def test_full_collections_are_cheap_once_a_model_is_open(launch: Callable[..., Application]) -> None:
    launch()
    assert gc.get_freeze_count() > 1000


def test_the_engine_never_waits_for_the_window(qtbot: QtBot, launch: Callable[..., Application]) -> None:
    """A flood of tokens is taken without loss, in bounded turns."""
    underhill = launch(rate=0.0, script=lambda messages: LONG_ANSWER * 30)
    underhill.conversation.send("go")
    qtbot.waitUntil(lambda: bool(underhill.conversation.messages) and not underhill.conversation.working)
    assert underhill.conversation.messages[-1].content == LONG_ANSWER * 30
    assert underhill.window.transcript.items[-1].message.content == LONG_ANSWER * 30
