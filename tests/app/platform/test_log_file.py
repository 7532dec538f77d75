"""The window's log file: private, bounded, written by nobody else, and never with a word of a chat in it."""

from __future__ import annotations

import itertools
import logging
import os
import stat
import sys
import threading
from logging.handlers import RotatingFileHandler
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.application import Application
from app.platform import logs
from app.platform.logs import NAME, AppPaths, LogFile
from engine import log, resources

pytestmark = pytest.mark.long

_log = logging.getLogger("app.tests")
QUESTION = "Hello zebrafish! Who are you?"
ATTACHED = "My quokka lives in Ulaanbaatar."
NAMED = "numbat"  # by which the system prompt calls itself


def test_lines_are_written_in_order_and_for_this_user_alone(tmp_path: Path) -> None:
    mask = os.umask(0)
    try:
        file = LogFile(tmp_path / "logs")
        for number in range(100):
            _log.info("Line %d", number)
        file.close()
    finally:
        os.umask(mask)
    path = tmp_path / "logs" / NAME
    lines = path.read_text().splitlines()
    assert [line.split("] ")[1] for line in lines] == [f"Line {number}" for number in range(100)]
    if sys.platform != "win32":
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(path.parent.stat().st_mode) & 0o077 == 0
    _log.error("After its end")
    assert "After" not in path.read_text()


def test_it_grows_no_further_and_keeps_a_few_older_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logs, "MAX_BYTES", 2000)
    file = LogFile(tmp_path)
    for number in range(400):
        _log.info("Line %d", number)
    file.close()
    found = sorted(path.name for path in tmp_path.iterdir())
    assert found == [NAME, *(f"{NAME}.{number}" for number in range(1, logs.BACKUPS + 1))]
    assert all(path.stat().st_size <= 2000 for path in tmp_path.iterdir())
    assert "Line 399" in (tmp_path / NAME).read_text()
    if sys.platform != "win32":
        assert {stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()} == {0o600}


def test_what_nobody_caught_is_logged_and_shown_as_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []
    monkeypatch.setattr(sys, "excepthook", lambda kind, error, stack: shown.append(kind.__name__))
    monkeypatch.setattr(threading, "excepthook", lambda found: shown.append(found.exc_type.__name__))
    before = sys.excepthook, threading.excepthook
    file = LogFile(tmp_path)
    sys.excepthook(KeyError, KeyError(QUESTION), None)
    thread = threading.Thread(target=lambda: {}[QUESTION], name="poor")
    thread.start()
    thread.join()
    file.close()
    assert (sys.excepthook, threading.excepthook) == before
    assert shown == ["KeyError", "KeyError"]
    text = (tmp_path / NAME).read_text()
    assert text.count("An exception that nobody caught") == 2
    assert "on thread poor" in text
    assert "zebrafish" not in text


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no named pipes among files")
def test_without_a_file_to_write_to_there_is_no_log_and_no_fault(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / NAME)
    (tmp_path / "file").write_text("")
    for folder in (tmp_path, tmp_path / "file"):
        file = LogFile(folder)  # opening the pipe would wait for ever
        _log.error("Nowhere")
        file.close()


def test_a_disk_that_refuses_a_line_takes_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def shall(handler: RotatingFileHandler, record: logging.LogRecord) -> bool:
        if "first" in record.getMessage():
            raise OSError(28, "No space left on device")
        return False

    monkeypatch.setattr(RotatingFileHandler, "shouldRollover", shall)
    file = LogFile(tmp_path)
    _log.info("The first")
    _log.info("The second")
    file.close()
    (line,) = (tmp_path / NAME).read_text().splitlines()
    assert line.endswith("] The second")
    assert "Traceback" not in capfd.readouterr().err


def test_logs_are_beside_the_data_where_these_are_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert AppPaths(tmp_path).logs == tmp_path / "logs"
    assert AppPaths(tmp_path).crash_log.parent == AppPaths(tmp_path).engine_log.parent == tmp_path / "logs"
    monkeypatch.setattr("platformdirs.user_data_dir", lambda name, appauthor: str(tmp_path / name))
    monkeypatch.setattr("platformdirs.user_log_dir", lambda name, appauthor: str(tmp_path / "state" / name))
    assert AppPaths(tmp_path / "underhill").logs == tmp_path / "state" / "underhill"


@pytest.mark.slow
@pytest.mark.skipif(not resources.path("builtin", "model").is_dir(), reason="no built-in model here")
def test_a_chat_with_the_real_engine_leaves_no_word_of_it_in_the_log(
    qtbot: QtBot, qapp: QApplication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(tmp_path))
    monkeypatch.setenv("UNDERHILL_HOME", str(tmp_path / "data"))
    monkeypatch.setenv(log.VARIABLE, "debug")
    file = LogFile(tmp_path / "logs")
    underhill = Application(qapp, AppPaths(tmp_path / "window"))
    conversation = underhill.conversation
    conversation.sampling = {"temperature": 0.0, "max_tokens": 24}
    underhill.open()
    try:
        qtbot.waitUntil(lambda: underhill.models.state in ("ready", "failed"), timeout=120_000)
        conversation.send(f"{QUESTION} {ATTACHED} My name is {NAMED}.")
        qtbot.waitUntil(lambda: not conversation.working)
        answer = conversation.messages[-1].content
        underhill.window.close()
    finally:
        underhill.close()
        file.close()
    text = (tmp_path / "logs" / NAME).read_text()
    assert len(answer.split()) > 2
    words = f"{QUESTION} {answer}".split()
    pairs = [f"{one} {two}" for one, two in itertools.pairwise(words)]
    assert not [each for each in (*pairs, "zebrafish", "quokka", "Ulaanbaatar", NAMED) if each in text]
    for event in (
        "The engine begins", "This computer: ", "Opened builtin: family qwen3_moe", "Its plan: ",
        "Calibration of builtin is done",
        "Import of builtin is done", "Generate w", "Answered: ", "The engine ends", "ended, exit code 0",
    ):  # fmt: skip
        assert event in text, event
    assert "DEBUG engine.service.command_worker" in text
    assert text.count("\n") < 200  # nothing that comes with every token
