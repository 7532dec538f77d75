"""What the header says of the model, and of the time that is left."""

from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from app.chat.header import _left
from tests.app.acts import Launch
from tests.app.conftest import engine_of


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (None, ""),
        (4.0, ""),
        (31.4, "31 s left"),
        (70.0, "about 1 min left"),
        (600.0, "10 min left"),
        (9000.0, "2.5 h left"),
    ],
)
def test_time_left_for_people(seconds: float | None, said: str) -> None:
    assert _left(seconds).strip(" ·") == said


def test_it_says_that_the_model_answers_in_whichever_chat(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch()
    engine, said = engine_of(underhill), underhill.window.header.state
    qtbot.waitUntil(lambda: said.text() == "Ready")
    engine.ends.clear()
    underhill.conversation.send("Hello")
    qtbot.waitUntil(lambda: said.text() == "Generating…")
    underhill.conversation.new()
    assert not underhill.conversation.busy
    assert said.text() == "Generating…"
    engine.ends.set()
    qtbot.waitUntil(lambda: said.text() == "Ready")
