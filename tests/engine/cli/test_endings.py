"""Killed, interrupted, or held: however a command ends, nothing is broken."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.waiting import PROCESS

ROOT = Path(__file__).resolve().parents[3]


def start(home: Path, *args: str) -> subprocess.Popen[str]:
    env = {**os.environ, "UNDERHILL_HOME": str(home), "PYTHONUNBUFFERED": "1"}
    command = [sys.executable, "-m", "engine.cli", *args]
    return subprocess.Popen(
        command, env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT, encoding="utf-8"
    )


ONCE = ("chat", "builtin", "--prompt", "Hello!", "--greedy", "--max-tokens", "8", "--threads", "1", "--json")


@pytest.mark.slow
def test_killed_at_any_moment_of_its_first_start_it_starts_whole_the_next_time(tmp_path: Path) -> None:
    for delay in (0.3, 1.5, 2.5, 3.5, 4.5):
        process = start(tmp_path, *ONCE)
        time.sleep(delay)
        process.kill()
        process.communicate()
    out, err = start(tmp_path, *ONCE).communicate(timeout=PROCESS)
    assert json.loads(out)["text"], err
    listed, _ = start(tmp_path, "list", "--json").communicate(timeout=PROCESS)
    assert [m["name"] for m in json.loads(listed)] == ["builtin"]


@pytest.mark.slow
def test_killed_while_answering_nothing_is_broken(home: Path) -> None:
    store = home / "models" / "builtin"
    start(home, *ONCE).communicate(timeout=PROCESS)  # what is learnt of a model at its first opening is written now
    before = {p.name: p.read_bytes() for p in store.iterdir()}
    args = ("chat", "builtin", "--prompt", "Tell me a story.", "--max-tokens", "2000", "--cache-fraction", "0")
    process = start(home, *args, "--threads", "1")
    assert process.stdout is not None
    assert process.stdout.read(20)
    process.kill()
    process.communicate()
    assert {p.name: p.read_bytes() for p in store.iterdir()} == before
    out, err = start(home, *ONCE).communicate(timeout=PROCESS)
    assert json.loads(out)["text"], err


@pytest.mark.slow
def test_ctrl_c_stops_the_answer_and_keeps_what_was_said(home: Path) -> None:
    args = ("chat", "builtin", "--prompt", "Tell me a story.", "--max-tokens", "100000", "--min-p", "0.5")
    process = start(home, *args, "--temperature", "5", "--threads", "1")
    assert process.stdout is not None
    first = process.stdout.read(5)
    process.send_signal(signal.SIGINT)
    rest, err = process.communicate(timeout=PROCESS)
    assert process.returncode in (0, 130)
    assert first + rest
    assert "Traceback" not in err


HELD = """
import ctypes, sys
from engine.cli.main import main
from engine.session import Session
def generate(session, messages, sampling, stop, listener, **more):
    listener.text("Once", (1,))
    mutex = ctypes.create_string_buffer(64)
    for _ in range(2):  # the second time never comes back, whatever signals there are
        ctypes.CDLL(None).pthread_mutex_lock(mutex)
Session.generate = generate
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="pthread_mutex_lock is of POSIX")
def test_a_second_ctrl_c_ends_the_program_whatever_holds_it(home: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", HELD, "chat", "builtin", "--prompt", "Hello.", "--threads", "1"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, "UNDERHILL_HOME": str(home)},
        encoding="utf-8",
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdout.read(4) == "Once"
    process.send_signal(signal.SIGINT)
    with pytest.raises(subprocess.TimeoutExpired):  # the first only asks, and nobody hears it
        process.wait(1.0)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=PROCESS)
    assert process.returncode == 130
    assert "could not be stopped" in err
