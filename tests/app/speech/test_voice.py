"""The system's voice, played by a program on PATH, and the action of answers that uses it."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QMenu
from pytestqt.qtbot import QtBot

from app.application import Application
from app.speech import voice
from app.speech.voice import Voice
from app.transcript.view import TranscriptView
from tests.app.acts import Launch, ask, button
from tests.app.conftest import close

# Notes its arguments and what it is given, as spd-say repeats it; "STAY" in a line has it read for ever.
SPD_SAY = """#!{python}
import json, sys, time
with open({log!r}, "a") as log:
    print(json.dumps(sys.argv[1:]), file=log, flush=True)
    if sys.argv[1:] != ["--cancel"]:
        for line in sys.stdin:
            print(json.dumps(line), file=log, flush=True)
            print(line, flush=True)
            if "STAY" in line:
                time.sleep(600)
            if "FAIL" in line:
                sys.exit("Failed to connect to Speech Dispatcher:\\nno server")
"""
ARGUMENTS = ["--cancel", "--pipe-mode", "--wait", "--language", "en"]

Said = Callable[[], list[object]]


class FakeVoice(QObject):
    """Notes what it would read, until it is stopped or `ended` is emitted."""

    ended = Signal(str)
    available = True

    def __init__(self) -> None:
        super().__init__()
        self.read: list[tuple[list[str], str]] = []
        self.speaking = False

    def speak(self, lines: Sequence[str], language: str) -> None:
        self.read.append((list(lines), language))
        self.speaking = True

    def stop(self) -> None:
        if self.speaking:
            self.speaking = False
            self.ended.emit("")


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> FakeVoice:
    made = FakeVoice()
    monkeypatch.setattr("app.controllers.reading_aloud.Voice", lambda _: made)
    return made


@pytest.fixture
def said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Said:
    """Have a spd-say on PATH; what it was called with and was given so far."""
    if sys.platform == "win32":
        pytest.skip("Windows speaks by PowerShell")
    log, folder = tmp_path / "said", tmp_path / "bin"
    folder.mkdir()
    program = folder / "spd-say"
    program.write_text(SPD_SAY.format(python=sys.executable, log=str(log)))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder), prepend=":")
    monkeypatch.setattr(voice, "speech_program", lambda: shutil.which("spd-say") or "")
    return lambda: [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []


# ---- the voice --------------------------------------------------------------------------------------------------


def test_lines_are_read_from_standard_input(qtbot: QtBot, said: Said) -> None:
    made = Voice()
    assert made.available
    with qtbot.waitSignal(made.ended) as told:
        made.speak(["One line.", "!-!SET all RATE 100", "Grüße 你好"], "en")
    assert told.args == [""]
    assert said() == [ARGUMENTS, "One line.\n", " SET all RATE 100\n", "Grüße 你好\n"]


def test_stopping_silences_what_is_read(qtbot: QtBot, said: Said) -> None:
    made = Voice()
    made.speak(["STAY", "never"], "en")
    qtbot.waitUntil(lambda: len(said()) == 2)
    with qtbot.waitSignal(made.ended):
        made.stop()
    qtbot.waitUntil(lambda: said() == [ARGUMENTS, "STAY\n", ["--cancel"]])
    made.stop()  # nothing is read any more
    assert len(said()) == 3


def test_another_text_takes_the_place_of_the_first(qtbot: QtBot, said: Said) -> None:
    made = Voice()
    made.speak(["STAY"], "en")
    qtbot.waitUntil(lambda: len(said()) == 2)
    with qtbot.waitSignal(made.ended):
        made.speak(["second"], "zh")
    assert said() == [ARGUMENTS, "STAY\n", [*ARGUMENTS[:-1], "zh"], "second\n"]


def test_a_failure_is_told_in_the_words_of_the_program(qtbot: QtBot, said: Said) -> None:
    made = Voice()
    with qtbot.waitSignal(made.ended) as told:
        made.speak(["FAIL"], "en")
    assert told.args == ["Failed to connect to Speech Dispatcher: no server"]


def test_a_program_that_is_gone_is_told_of(qtbot: QtBot, said: Said, tmp_path: Path) -> None:
    made = Voice()
    (tmp_path / "bin" / "spd-say").unlink()
    with qtbot.waitSignal(made.ended) as told:
        made.speak(["words"], "en")
    assert told.args[0]


def test_no_text_is_in_a_command_line_on_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    *_, script = voice.speech_arguments("zh")
    assert "-eq 'zh'" in script
    assert "OpenStandardInput" in script
    with pytest.raises(ValueError, match="no language"):
        voice.speech_arguments("en'; Remove-Item")


# ---- the window -------------------------------------------------------------------------------------------------


def _menu_texts(view: TranscriptView, index: int) -> list[str]:
    menu: QMenu = view.menu_of(view.items[index], "")
    texts = [action.text() for action in menu.actions()]
    menu.deleteLater()
    return texts


def _reads(view: TranscriptView, name: str) -> bool:
    """Whether the bar below the current message offers it."""
    found = [b for b in view.message_actions.findChildren(QObject) if getattr(b, "accessibleName", str)() == name]
    return any(not b.isHidden() for b in found)


def test_an_answer_is_read_and_stopped(qtbot: QtBot, fake: FakeVoice, launch: Launch) -> None:
    underhill = launch(script=lambda _: "It is **quiet**.")
    ask(qtbot, underhill, "Hello")
    view = underhill.window.transcript
    assert "Read aloud" not in _menu_texts(view, 0)  # a question
    assert "Read aloud" in _menu_texts(view, 1)
    qtbot.mouseClick(button(view.message_actions, "Read aloud"), Qt.MouseButton.LeftButton)
    assert fake.read == [(["It is quiet."], "en")]
    assert "Stop reading" in _menu_texts(view, 1)
    qtbot.mouseClick(button(view.message_actions, "Stop reading"), Qt.MouseButton.LeftButton)
    assert not fake.speaking
    assert _reads(view, "Read aloud")
    underhill.window.reading_aloud.toggle_last()
    fake.ended.emit("no server")
    assert "no server" in underhill.window.toast.label.text()
    assert _reads(view, "Read aloud")


def test_a_second_answer_another_chat_and_the_end_stop_it(qtbot: QtBot, fake: FakeVoice, launch: Launch) -> None:
    underhill = launch(script=lambda messages: f"Answer {len(messages)}.")
    ask(qtbot, underhill, "Hello")
    ask(qtbot, underhill, "Again")
    view, reading = underhill.window.transcript, underhill.window.reading_aloud
    first, second = (view.items[n].message.id for n in (1, 3))
    reading.toggle(first)
    reading.toggle(second)
    assert [lines for lines, _ in fake.read] == [["Answer 1."], ["Answer 3."]]
    assert reading.message_id == second
    underhill.window.navigator.new_chat()
    qtbot.waitUntil(lambda: not fake.speaking)
    assert reading.message_id == 0
    ask(qtbot, underhill, "Once more")
    qtbot.keyClick(
        underhill.window, Qt.Key.Key_L, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
    )
    assert fake.speaking
    close(underhill)
    assert not fake.speaking


def test_an_answer_that_is_deleted_is_read_no_more(qtbot: QtBot, fake: FakeVoice, launch: Launch) -> None:
    underhill = launch()
    ask(qtbot, underhill, "Hello")
    answer = underhill.window.transcript.items[1].message.id
    underhill.window.reading_aloud.toggle(answer)
    assert fake.speaking
    underhill.window.transcript.message_actions.delete_message.emit(answer)
    qtbot.waitUntil(lambda: not fake.speaking)


def test_without_a_voice_nothing_offers_it(qtbot: QtBot, launch: Launch) -> None:
    underhill: Application = launch()
    ask(qtbot, underhill, "Hello")
    view = underhill.window.transcript
    assert "Read aloud" not in _menu_texts(view, 1)
    assert not _reads(view, "Read aloud")
    underhill.window.reading_aloud.toggle_last()
    assert "speech-dispatcher" in underhill.window.toast.label.text()
