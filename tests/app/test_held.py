"""A stopped answer is left soon, whatever the engine does; an engine that something holds is ended and started anew."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.application import Application
from app.transcript import notes
from engine import client
from engine.process.engine_process import EngineProcess
from tests.app.acts import Launch, ask, contents
from tests.app.conftest import close, engine_of
from tests.app.fake_engine import SENTENCE
from tests.app.homes import lived_in
from tests.waiting import PROCESS

pytestmark = pytest.mark.long

STORY = "Tell me a long story about a fox."


@pytest.fixture
def real(qapp: QApplication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Application]:
    """A window with an engine of its own, and the built-in model open."""
    monkeypatch.setenv("UNDERHILL_HOME", str(tmp_path / "data"))
    underhill = Application(qapp, lived_in(tmp_path), client.start_subprocess)
    underhill.open()
    yield underhill
    close(underhill)


def apart(underhill: Application) -> EngineProcess:
    found = underhill.link.engine
    assert isinstance(found, EngineProcess)
    return found


def test_a_stopped_answer_is_left_soon_though_it_does_not_end(
    qtbot: QtBot, launch: Launch, monkeypatch: pytest.MonkeyPatch
) -> None:
    underhill = launch(rate=60.0, script=lambda messages: SENTENCE * 50)
    underhill.conversation.send("go")
    qtbot.waitUntil(lambda: len(contents(underhill)) == 2 and len(contents(underhill)[1]) > 20)
    monkeypatch.setattr(underhill.link, "stop", lambda target: None)  # as if it did not hear
    underhill.conversation.stop()
    qtbot.waitUntil(lambda: not underhill.conversation.working)
    message = underhill.conversation.messages[1]
    assert message.finish == "cancelled"
    assert (SENTENCE * 50).startswith(message.content)
    assert message.content


def test_what_an_answer_took_is_told_though_it_ended_late(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch(rate=60.0, script=lambda messages: SENTENCE * 50)
    underhill.conversation.send("go")
    qtbot.waitUntil(lambda: len(contents(underhill)) == 2 and len(contents(underhill)[1]) > 20)
    underhill.conversation.stop()
    underhill.conversation.stop()  # left at once
    qtbot.waitUntil(lambda: bool(underhill.conversation.messages[1].stats))
    message = underhill.conversation.messages[1]
    assert (message.finish, message.unfinished) == ("cancelled", True)
    assert contents(underhill)[1] == message.content


def test_other_answers_are_not_touched_by_what_comes_late(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch(rate=60.0, script=lambda messages: SENTENCE * 50)
    underhill.conversation.send("go")
    qtbot.waitUntil(lambda: len(contents(underhill)) == 2 and len(contents(underhill)[1]) > 20)
    underhill.conversation.stop()
    underhill.conversation.stop()
    engine_of(underhill).rate = 0.0
    underhill.conversation.continue_answer(underhill.conversation.messages[1].id)
    qtbot.waitUntil(lambda: not underhill.conversation.working)
    assert contents(underhill)[1].endswith(SENTENCE * 50)
    assert underhill.conversation.messages[1].finish == "stop"


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there are no signals")
def test_an_engine_that_stands_still_is_started_again_and_the_chat_says_so(qtbot: QtBot, real: Application) -> None:
    qtbot.waitUntil(lambda: real.models.state == "ready", timeout=int(PROCESS * 1000))
    before = apart(real)
    halt_in_an_answer(qtbot, real)
    real.conversation.stop()
    qtbot.waitUntil(lambda: not real.conversation.working)
    said = contents(real)[-1]
    qtbot.waitUntil(lambda: real.conversation.messages[-1].finish == "held")
    assert "was restarted" in notes.after(real.conversation.messages[-1])[0]
    assert contents(real)[-1] == said
    assert not psutil.pid_exists(before.pid)
    qtbot.waitUntil(lambda: apart(real) is not before and real.models.state == "ready", timeout=int(PROCESS * 1000))
    assert not real.window.banners.banners
    real.conversation.sampling = {"max_tokens": 5}
    ask(qtbot, real, "Hello.")
    assert contents(real)[0] == STORY
    assert contents(real)[-1]


def halt_in_an_answer(qtbot: QtBot, real: Application) -> None:
    """The engine's process stands still, and an answer is not at its end. Each token ends one by chance, so another is
    asked for where that was quicker.
    """
    real.conversation.sampling = {"max_tokens": 4000, "temperature": 5.0, "min_p": 0.0}
    for begun in range(0, 20, 2):
        real.conversation.send(STORY)
        qtbot.waitUntil(lambda: len(contents(real)) == begun + 2 and len(contents(real)[-1]) > 20)  # noqa: B023
        os.kill(apart(real).pid, signal.SIGSTOP)
        qtbot.wait(500)  # what it had said before arrives
        if real.conversation.working:
            return
        os.kill(apart(real).pid, signal.SIGCONT)
    pytest.fail("No answer was long enough.")
