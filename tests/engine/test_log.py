"""Lines of the log: what they say, what they never say, and that they come whole from another process."""

from __future__ import annotations

import io
import logging
import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine import log
from engine.errors import Kind, UnderhillError
from engine.translatable import translated

SECRET = "the words of a chat"


@pytest.fixture
def lines() -> Iterator[io.StringIO]:
    """What is logged from DEBUG on."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(log.Lines())
    log.begin(handler, logging.DEBUG)
    yield stream
    log.end(handler)


def raised(error: Exception) -> Exception:
    try:
        raise error
    except Exception as caught:
        return caught


def test_a_line_says_when_how_bad_who_and_what(lines: io.StringIO) -> None:
    logging.getLogger("engine.some.module").warning("%d of %s\nand more", 3, "four")
    first, second = lines.getvalue().splitlines()
    assert first[10] == " "
    assert first.endswith(" WARNING engine.some.module [MainThread] 3 of four")
    assert second == "    and more"


def test_what_libraries_log_is_left_out(lines: io.StringIO) -> None:
    logging.getLogger("httpx2").warning("GET /?token=%s", SECRET)
    assert lines.getvalue() == ""


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (ValueError(SECRET), "ValueError"),
        (KeyError(SECRET), "KeyError"),
        (TypeError(SECRET), "TypeError"),
        (UnderhillError(Kind.BROKEN_FILE, translated(SECRET)), "UnderhillError (broken_file)"),
        (sqlite3.OperationalError(SECRET), "OperationalError"),
        (AttributeError("no attribute 'x'"), "AttributeError: no attribute 'x'"),
        (OSError(28, "No space left on device", "/models/x"), "No space left on device (errno 28) /models/x"),
    ],
)
def test_of_an_exception_its_stack_and_kind_are_told_and_no_words_of_a_person(
    lines: io.StringIO, error: Exception, says: str
) -> None:
    logging.getLogger("engine.x").error("It failed", exc_info=raised(error))
    text = lines.getvalue()
    assert says in text
    assert "in raised" in text
    assert SECRET not in text


def test_causes_are_told_and_those_that_were_hidden_are_not(lines: io.StringIO) -> None:
    def fail(hidden: bool) -> None:
        try:
            raise PermissionError(13, "Permission denied")
        except OSError as cause:
            if hidden:
                raise RuntimeError(SECRET) from None
            raise RuntimeError(SECRET) from cause

    for hidden in (False, True):
        with pytest.raises(RuntimeError) as caught:
            fail(hidden)
        logging.getLogger("app.x").error("It failed", exc_info=caught.value)
    assert lines.getvalue().count("PermissionError: Permission denied") == 1
    assert SECRET not in lines.getvalue()


def test_a_name_cannot_write_lines_of_its_own(lines: io.StringIO) -> None:
    logging.getLogger("engine.x").info("Opened %s", "a\x1b[2Jb" + "c" * 5000)
    (line,) = lines.getvalue().splitlines()
    assert "\x1b" not in line
    assert len(line) < 1200


def test_the_name_of_the_home_folder_is_left_out(lines: io.StringIO, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/alice")
    monkeypatch.setenv("USERPROFILE", "/home/alice")
    error = OSError(5, "Input/output error", os.path.join("/home/alice", "models", "x"))
    logging.getLogger("engine.x").error("A file of %s", os.path.join("/home/alice", "y"), exc_info=error)
    assert "alice" not in lines.getvalue()
    assert os.path.join("~", "models", "x") in lines.getvalue()


def test_lines_of_another_process_come_whole_among_what_it_prints(lines: io.StringIO) -> None:
    code = (
        "import logging, os\nfrom engine import log\nlog.to_parent()\nprint('printed', file=__import__('sys').stderr)\n"
        "logging.getLogger('engine.there').info('one %s', 'line')\n"
        "try: raise ValueError('the words of a chat')\n"
        "except ValueError as e: logging.getLogger('engine.there').error('two', exc_info=e)\n"
        "logging.getLogger('engine.there').debug('too fine')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=Path(__file__).parents[2], encoding="utf-8"
    )
    left = [line for line in done.stderr.splitlines(keepends=True) if not log.relay(line)]
    assert left == ["printed\n"]
    text = lines.getvalue()
    assert "INFO engine.there [MainThread] one line\n" in text
    assert "ERROR engine.there [MainThread] two\n    " in text
    assert "ValueError" in text
    assert SECRET not in text
    assert "too fine" not in text


@pytest.mark.parametrize(
    "line",
    [
        "printed",
        log.MARK,
        f"{log.MARK}[1]",
        f"{log.MARK}nothing",
        f"{log.MARK}" + "[" * 40,
        f"{log.MARK}[null,1,2,3,4]",
    ],
)
def test_what_is_no_line_is_left_to_who_prints_it(lines: io.StringIO, line: str) -> None:
    assert not log.relay(line)
    assert lines.getvalue() == ""


def test_no_other_logger_is_reached_from_the_other_process(lines: io.StringIO) -> None:
    assert log.relay(f'{log.MARK}[40, "root", 1.0, "t", "x"]')
    assert lines.getvalue() == ""


@pytest.mark.parametrize(("said", "least"), [("debug", 10), ("WARNING", 30), ("", 20), ("loud", 20)])
def test_the_variable_chooses_the_level(monkeypatch: pytest.MonkeyPatch, said: str, least: int) -> None:
    monkeypatch.setenv(log.VARIABLE, said)
    assert log.level() == least
