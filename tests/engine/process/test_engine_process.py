"""An engine in a process of its own answers, ends with the window, and is missed where it ends by itself."""

from __future__ import annotations

import logging
import os
import queue
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from engine import client, protocol, resources
from engine.process.engine_process import EngineProcess
from tests.waiting import PROCESS, until

pytestmark = pytest.mark.long

Events = queue.Queue[protocol.Event]
STARTS_ONE = """
import sys, time
from engine import client, protocol
running = client.start_subprocess(lambda event: print(event.id, flush=True))
print(running.pid, flush=True)
running.send(protocol.Watch("watched", protocol.Look()))
time.sleep(60)
"""
SPEAKS_SLOWLY = """
import sys, time
from engine import protocol, service
from engine.process import host
class Engine:
    def __init__(self, tell):
        self.tell = tell
    def send(self, command):
        for number in range(30 if isinstance(command, protocol.Generate) else 0):
            self.tell(protocol.TextDelta(command.id, f"{number} ", (number,)))
            time.sleep(0.02)
        self.tell(protocol.Done(command.id))
    def close(self, timeout):
        pass
service.Service = Engine
host.main(int(sys.argv[1]))
"""


@pytest.fixture
def events() -> Events:
    return queue.Queue()


@pytest.fixture
def make(events: Events, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., EngineProcess]]:
    """make(*program): one with a data folder of its own, closed after the test."""
    monkeypatch.setenv("UNDERHILL_HOME", str(tmp_path / "data"))
    made: list[EngineProcess] = []

    def start(*program: str) -> EngineProcess:
        made.append(EngineProcess(events.put, program) if program else EngineProcess(events.put))
        return made[-1]

    yield start
    for each in made:
        each.close()
        assert not psutil.pid_exists(each.pid)


def test_it_answers_in_another_process(make: Callable[..., EngineProcess], events: Events) -> None:
    running = make()
    running.send(protocol.Watch("a", protocol.Look()))
    running.send(protocol.CountTokens("b", ("no model is open",)))
    first, second = events.get(timeout=PROCESS), events.get(timeout=PROCESS)
    assert first == protocol.Done("a")
    assert isinstance(second, protocol.Failed)
    assert second.id == "b"
    assert running.pid != os.getpid()


def test_what_may_wait_leaves_at_the_pace_of_who_looks(make: Callable[..., EngineProcess], events: Events) -> None:
    running = make("-c", SPEAKS_SLOWLY)
    running.send(protocol.Watch("a", protocol.Look(pause=3600.0)))
    running.send(protocol.Generate(id="b", messages=(), sampling={}))
    told = [events.get(timeout=PROCESS) for _ in range(4)]
    assert (told[0], told[3]) == (protocol.Done("a"), protocol.Done("b"))
    # What is said leaves at once; on a busy machine some more has been said by then.
    deltas = [event for event in told if isinstance(event, protocol.TextDelta)]
    assert "".join(delta.text for delta in deltas) == "".join(f"{number} " for number in range(30))
    assert [number for delta in deltas for number in delta.token_ids] == list(range(30))


def test_what_the_window_holds_counts_as_its_memory() -> None:
    program = "import sys; from engine.hardware import probe; probe.serve(int(sys.argv[1])); print(probe.rss())"
    done = subprocess.run(
        [sys.executable, "-c", program, str(os.getpid())],
        capture_output=True,
        text=True,
        check=True,
        timeout=PROCESS,
        encoding="utf-8",
    )
    assert int(done.stdout) > psutil.Process().memory_info().rss


@pytest.mark.skipif(sys.platform == "win32", reason="there are no signals")
def test_killed_in_the_middle(
    make: Callable[..., EngineProcess], events: Events, caplog: pytest.LogCaptureFixture
) -> None:
    """Memory ran out, say: what waited hears of it, what comes later, too, and cause and log say what it was."""
    caplog.set_level(logging.INFO, "engine")
    running = make("-c", "import time; time.sleep(60)")  # answers nothing
    running.send(protocol.ListModels("a"))
    running.send(protocol.ListModels("b"))
    os.kill(running.pid, signal.SIGKILL)
    told = [events.get(timeout=PROCESS), events.get(timeout=PROCESS)]
    running.send(protocol.ListModels("c"))
    told.append(events.get(timeout=PROCESS))
    assert [event.id for event in told] == ["a", "b", "c"]
    for event in told:
        assert isinstance(event, protocol.Failed)
        assert event.kind is protocol.Kind.STOPPED
        assert "SIGKILL" in event.cause
    (line,) = (record.getMessage() for record in caplog.records if record.levelname == "ERROR")
    assert f"{running.pid} ended by itself" in line
    assert "SIGKILL" in line


@pytest.mark.skipif(sys.platform == "win32", reason="there are no signals")
def test_of_a_crash_in_mid_answer_nothing_is_kept_that_was_said(
    make: Callable[..., EngineProcess], events: Events, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_" + "neverwrittendown")
    running = make()
    running.send(protocol.LoadModel("load", "builtin"))
    question = "My name is Quetzalcoatlus. Tell me a long story about me."
    running.send(
        protocol.Generate(
            id="ask", messages=(protocol.Message("user", question),), sampling={"max_tokens": 2000, "temperature": 0.0}
        )
    )
    said = ""
    while not said:
        event = events.get(timeout=PROCESS)
        said = event.text if isinstance(event, protocol.TextDelta) else ""
    os.kill(running.pid, signal.SIGSEGV)
    while not isinstance(event, protocol.Failed):
        event = events.get(timeout=PROCESS)
        said += event.text if isinstance(event, protocol.TextDelta) else ""
    assert event.kind is protocol.Kind.STOPPED
    assert "Segmentation fault" in event.cause  # this is what the crash log gets
    kept = event.cause.lower()
    longer = said if len(said) > 30 else question  # a word alone may stand in a path, too
    assert not [word for word in ("quetzalcoatlus", "neverwrittendown", longer.lower().strip()) if word in kept]


def test_it_ends_by_itself_while_nobody_waits(make: Callable[..., EngineProcess], events: Events) -> None:
    make("-c", "import sys; print('the last words', file=sys.stderr); sys.exit(7)")
    told = events.get(timeout=PROCESS)
    assert isinstance(told, protocol.Failed)
    assert told.kind is protocol.Kind.STOPPED
    assert not told.id
    assert "exit code 7" in told.cause
    assert "the last words" in told.cause


def test_a_fault_of_its_own_says_where(make: Callable[..., EngineProcess], events: Events) -> None:
    make("-c", "import faulthandler; faulthandler.enable(); faulthandler._sigsegv()")
    told = events.get(timeout=PROCESS)
    assert isinstance(told, protocol.Failed)
    assert "<string>" in told.cause  # the stack that faulthandler prints


def test_closing_says_nothing_of_an_end(make: Callable[..., EngineProcess], events: Events) -> None:
    running = make()
    running.send(protocol.Watch("a", protocol.Look()))
    assert events.get(timeout=PROCESS) == protocol.Done("a")
    running.close()
    assert not any(isinstance(event, protocol.Failed) for event in events.queue)


def test_one_that_does_not_end_is_killed(make: Callable[..., EngineProcess], events: Events) -> None:
    running = make("-c", "import time; time.sleep(60)")
    running.close(timeout=0.2)
    assert not psutil.pid_exists(running.pid)
    assert events.empty()


@pytest.mark.skipif(sys.platform == "win32", reason="there are no signals")
def test_it_ends_when_the_window_is_killed() -> None:
    window = subprocess.Popen([sys.executable, "-c", STARTS_ONE], stdout=subprocess.PIPE, text=True, encoding="utf-8")
    assert window.stdout is not None
    pid = int(window.stdout.readline())
    assert window.stdout.readline() == "watched\n"
    running = psutil.Process(pid)
    window.kill()
    window.wait()
    until(lambda: not running.is_running() or running.status() == psutil.STATUS_ZOMBIE)


@pytest.mark.slow
@pytest.mark.skipif(not resources.path("builtin", "model").is_dir(), reason="no built-in model here")
def test_an_answer_is_the_same_as_in_this_process(
    make: Callable[..., EngineProcess], events: Events, tmp_path: Path
) -> None:
    said = []
    for start in (make, lambda: client.start(events.put)):
        running = start()
        running.send(protocol.LoadModel("load", "builtin", {"dial": "exact"}))
        running.send(
            protocol.Generate(
                id="say",
                messages=(protocol.Message("user", "Hello!"),),
                sampling={"temperature": 0.0, "max_tokens": 20},
            )
        )
        text, event = "", events.get(timeout=PROCESS)
        while not (isinstance(event, protocol.Done) and event.id == "say"):
            assert not isinstance(event, protocol.Failed), event
            text += event.text if isinstance(event, protocol.TextDelta) else ""
            event = events.get(timeout=PROCESS)
        assert isinstance(event.result, protocol.Stats)
        assert text == event.result.text
        said.append(event.result.token_ids)
        running.close()
        while not events.empty():
            events.get()
    assert said[0] == said[1]


def test_words_that_cannot_be_printed_hold_nothing_up(
    make: Callable[..., EngineProcess], events: Events, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Closed:
        def write(self, _: str) -> None:
            raise BrokenPipeError

    monkeypatch.setattr(sys, "stderr", Closed())
    make("-c", "import sys; [print('x' * 1000, file=sys.stderr) for _ in range(500)]; sys.exit(7)")
    told = events.get(timeout=PROCESS)
    assert isinstance(told, protocol.Failed)
    assert "exit code 7" in told.cause
