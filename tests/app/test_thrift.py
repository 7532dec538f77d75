"""What the window does while it waits, and while an answer streams: as little as can be."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QTimer
from pytestqt.qtbot import QtBot

from app.application import Application
from app.chat import running_answers
from tests.app.acts import Launch, ask
from tests.app.fake_engine import SENTENCE


def running(underhill: Application) -> list[QTimer]:
    """The timers that would wake it."""
    return [
        timer
        for owner in (underhill.window, underhill.main_queue)
        for timer in owner.findChildren(QTimer)
        if timer.isActive()
    ]


def test_an_idle_window_runs_no_timer(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch(script=lambda messages: f"```python\nx = 1\n```\n{SENTENCE}")
    ask(qtbot, underhill, "hello")
    qtbot.waitUntil(lambda: not running(underhill))


def test_words_that_come_faster_than_they_are_painted_are_painted_together(
    qtbot: QtBot, launch: Launch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running_answers, "SHOW_INTERVAL", 60_000)
    underhill = launch(script=lambda messages: SENTENCE * 20)
    shown: list[str] = []
    underhill.conversation.text_added.connect(lambda _, text, status: shown.append(text))
    ask(qtbot, underhill, "hello")
    assert len([text for text in shown if text]) <= 2
    assert "".join(shown) == SENTENCE * 20


def test_a_word_that_comes_after_a_while_is_shown_as_it_comes(
    qtbot: QtBot, launch: Launch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running_answers, "SHOW_INTERVAL", 0)
    monkeypatch.setattr(running_answers, "STATUS_INTERVAL", 60_000)  # nothing but the words has it shown
    underhill = launch(rate=50.0, script=lambda messages: SENTENCE * 500)
    shown: list[str] = []
    underhill.conversation.text_added.connect(lambda _, text, status: shown.append(text))
    underhill.conversation.send("hello")
    qtbot.waitUntil(lambda: len([text for text in shown if text]) > 5)
    underhill.conversation.stop()
    qtbot.waitUntil(lambda: not underhill.conversation.working)
