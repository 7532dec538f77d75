"""Processes that are killed, halted or crowded at any moment."""

from __future__ import annotations

import os
import queue
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from engine import protocol
from engine.convert.importer import import_checkpoint
from engine.library import library, settings_file, trash
from engine.library.home import HOME
from engine.process.engine_process import EngineProcess
from engine.store.verify import verify
from tests.engine.formats.tiny_checkpoint import write_checkpoint
from tests.waiting import PROCESS

KILLS = int(os.environ.get("UNDERHILL_KILLS", "6"))  # fifty take half an hour
pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(900),
    pytest.mark.skipif(sys.platform == "win32", reason="there are no signals"),
]
SETTINGS = """
from engine.library import settings_file
n = int(str(settings_file.read()["proxy"]).rpartition("p")[2] or 0)
while True:
    n += 1
    settings_file.change({"proxy": f"http://p{n}"})
    print(n, flush=True)
"""
IMPORT = """
import sys
from engine.convert.importer import import_checkpoint
print("ready", flush=True)
import_checkpoint(sys.argv[1], sys.argv[2], top=8)
"""
START = """
from engine.library import library
print("ready", flush=True)
library.prepare("builtin")
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(HOME, str(tmp_path / "home"))
    return tmp_path / "home"


def begun(program: str, *arguments: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", program, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        encoding="utf-8",
    )


def killed(running: subprocess.Popen[str]) -> list[str]:
    """Kill it; what it had said by then."""
    running.kill()
    said, _ = running.communicate()
    return said.split()


def test_kills_while_settings_are_written(home: Path) -> None:
    rng, last = random.Random(1), 0
    for _ in range(KILLS):
        running = begun(SETTINGS)
        assert running.stdout is not None
        running.stdout.readline()
        time.sleep(rng.uniform(0, 0.05))
        last = int((killed(running) or [last + 1])[-1])
        now = int(str(settings_file.read()["proxy"]).removeprefix("http://p"))
        assert last <= now <= last + 1
        last = now
    assert len(list(home.iterdir())) < KILLS + 10  # what the killed left is removed in time


def test_kills_during_an_import(tmp_path: Path) -> None:
    rng = random.Random(2)
    checkpoint = write_checkpoint(tmp_path / "checkpoint", layers=8, experts=16)
    import_checkpoint(checkpoint, tmp_path / "reference", top=8)
    _many(rng, IMPORT, tmp_path / "store", checkpoint, tmp_path / "store")
    import_checkpoint(checkpoint, tmp_path / "store", top=8)
    assert verify(tmp_path / "store") == ()
    for file in (tmp_path / "reference").glob("*.safetensors"):
        assert (tmp_path / "store" / file.name).read_bytes() == file.read_bytes()


def test_kills_during_the_first_start(home: Path) -> None:
    _many(random.Random(3), START, home / "models" / "builtin")
    assert verify(library.prepare("builtin")) == ()


def _many(rng: random.Random, program: str, made: Path, *arguments: Path) -> None:
    """Kill it at KILLS moments of its work; begin anew where it was through before."""
    for _ in range(KILLS):
        if made.exists():
            assert verify(made) == ()
            shutil.rmtree(made)
        running = begun(program, *arguments)
        assert running.stdout is not None
        running.stdout.readline()
        time.sleep(rng.uniform(0, 1.0))
        killed(running)


def test_an_answer_goes_on_after_the_process_was_halted(home: Path) -> None:
    events: queue.Queue[protocol.Event] = queue.Queue()
    running = EngineProcess(events.put)
    try:
        running.send(protocol.LoadModel("load", "builtin"))
        assert isinstance(_last(events, "load"), protocol.Done)
        running.send(
            protocol.Generate(
                id="g", messages=(protocol.Message("user", "Tell me a long story."),), sampling={"max_tokens": 200}
            )
        )
        while not isinstance(events.get(timeout=PROCESS), protocol.TextDelta):
            continue
        os.kill(running.pid, signal.SIGSTOP)
        time.sleep(3.0)
        os.kill(running.pid, signal.SIGCONT)
        assert isinstance(_last(events, "g"), protocol.Done)
    finally:
        running.close()


def test_window_and_terminal_at_one_library(home: Path, tmp_path: Path) -> None:
    """Each either does what was asked or says in a sentence why not; nothing is lost."""
    library.add(write_checkpoint(tmp_path / "checkpoint"), "m")
    events: queue.Queue[protocol.Event] = queue.Queue()
    running = EngineProcess(events.put)
    try:
        for number in range(4):
            asked = (protocol.ListModels(f"l{number}"), protocol.VerifyModel(f"v{number}", "m"))
            for command in asked:
                running.send(command)
            done = subprocess.run(
                [sys.executable, "-m", "engine.cli", *(("rm", "m") if number % 2 == 0 else ("restore", "m"))],
                capture_output=True, text=True, timeout=PROCESS, check=False,
                encoding="utf-8",
            )  # fmt: skip
            assert "Traceback" not in done.stderr
            assert "Something went wrong" not in done.stderr
            for last in _both(events, {command.id for command in asked}):
                assert not isinstance(last, protocol.Failed) or last.kind is not protocol.Kind.INTERNAL
    finally:
        running.close()
    if not (home / "models" / "m").exists():
        trash.restore("m")
    assert verify(home / "models" / "m") == ()


def _last(events: queue.Queue[protocol.Event], of: str) -> protocol.Event:
    return _both(events, {of})[0]


def _both(events: queue.Queue[protocol.Event], waited: set[str]) -> list[protocol.Event]:
    """How each of these commands ended."""
    ended: list[protocol.Event] = []
    while waited:
        event = events.get(timeout=PROCESS)
        if event.id in waited and isinstance(event, protocol.Done | protocol.Failed | protocol.Cancelled):
            waited = waited - {event.id}
            ended.append(event)
    return ended
