"""Stop comes to an end also where something holds the engine: it is ended, and whoever waits hears of it."""

from __future__ import annotations

import os
import queue
import signal
import sys
import time
from collections.abc import Iterator

import psutil
import pytest

from engine import api
from engine.apart import supervisor
from engine.apart.parent import Apart
from tests.waiting import PROCESS

Events = queue.Queue[api.Event]
# Opens anything. Generate goes on as its chat says: 'lock' and 'native' come to rest for ever, with Python's lock and
# without it; 'slow' takes its time, and comes further all along. Each answers to Stop where it can.
ENGINE = """
import ctypes, sys, threading, time
from engine import api
from engine.apart import child
class Engine:
    def __init__(self, tell):
        self.tell, self.life, self.stopped = tell, 0, threading.Event()
    def send(self, command):
        if isinstance(command, api.LoadModel):
            self.tell(api.Done(command.id))
        elif isinstance(command, api.Generate):
            threading.Thread(target=self.work, args=(command,), daemon=True).start()
        elif isinstance(command, api.Beat):
            self.tell(api.Done(command.id, self.life))
        else:
            self.stopped.set()
            self.tell(api.Done(command.id, True))
    def work(self, command):
        self.tell(api.TextDelta(command.id, "Once", (1,)))
        how = command.chat
        while how == "slow" and not (self.stopped.is_set() and self.life > 60):
            self.life += 1
            time.sleep(0.05)
        if how == "native":
            ctypes.CDLL(None).pause()
        if how == "lock":
            self.stopped.wait()
            ctypes.PyDLL(None).pause()
        self.tell(api.Cancelled(command.id))
    def close(self):
        pass
api.start = Engine
child.main(int(sys.argv[1]))
"""
pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="pause() is of POSIX"),
    pytest.mark.alone("judges an engine by the time between its signs of life"),
]


@pytest.fixture
def events() -> Events:
    return queue.Queue()


@pytest.fixture
def running(events: Events, monkeypatch: pytest.MonkeyPatch) -> Iterator[Apart]:
    monkeypatch.setattr(supervisor, "STILL", 2.0)
    engine = Apart(events.put, ("-c", ENGINE))
    engine.send(api.LoadModel("load", "any", {}))
    assert events.get(timeout=PROCESS) == api.Done("load")
    yield engine
    engine.close()
    assert not psutil.pid_exists(engine.pid)


def ended(events: Events, *commands: str) -> dict[str, api.Event]:
    """The terminal events of these; of any other there is none."""
    found: dict[str, api.Event] = {}
    while set(found) != set(commands):
        event = events.get(timeout=PROCESS)
        if isinstance(event, api.TERMINAL):
            assert event.id in commands
            found[event.id] = event
    return found


@pytest.mark.parametrize(("how", "why"), [("lock", "did not answer"), ("native", "did not come any further")])
def test_what_never_returns_is_ended_with_the_engine(running: Apart, events: Events, how: str, why: str) -> None:
    running.send(api.Generate("g", (), {}, chat=how))
    assert isinstance(events.get(timeout=PROCESS), api.TextDelta)
    running.send(api.Stop("s", "g"))
    found = ended(events, "g", "s")
    told = found["g"]
    assert isinstance(told, api.Failed)
    assert told.kind is api.Kind.HELD
    assert why in told.cause
    assert "in work" in told.cause  # where it stood
    running.send(api.ListModels("l"))
    after = ended(events, "l")["l"]
    assert isinstance(after, api.Failed)
    assert after.kind is api.Kind.HELD


@pytest.mark.parametrize("how", ["native", "slow"])
def test_a_stop_that_is_answered_before_anybody_watches_is_watched_all_the_same(
    running: Apart, events: Events, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    begin = supervisor.Supervisor.start

    def late(one: supervisor.Supervisor) -> None:
        time.sleep(0.5)
        begin(one)

    monkeypatch.setattr(supervisor.Supervisor, "start", late)
    running.send(api.Generate("g", (), {}, chat=how))
    assert isinstance(events.get(timeout=PROCESS), api.TextDelta)
    running.send(api.Stop("s", "g"))
    found = ended(events, "g", "s")
    assert found["s"] == api.Done("s", True)
    assert isinstance(found["g"], api.Cancelled) is (how == "slow")


def test_a_process_that_stands_still_is_ended(running: Apart, events: Events) -> None:
    running.send(api.Generate("g", (), {}, chat="slow"))
    assert isinstance(events.get(timeout=PROCESS), api.TextDelta)
    os.kill(running.pid, signal.SIGSTOP)
    running.send(api.Stop("s", "g"))
    assert {event.kind for event in ended(events, "g", "s").values()} == {api.Kind.HELD}  # type: ignore[union-attr]


def test_what_is_only_slow_is_waited_for(running: Apart, events: Events) -> None:
    running.send(api.Generate("g", (), {}, chat="slow"))
    running.send(api.Stop("s", "g"))
    begun = time.monotonic()
    assert ended(events, "s", "g") == {"s": api.Done("s", True), "g": api.Cancelled("g")}
    assert time.monotonic() - begun > supervisor.SILENT + supervisor.TICK  # the test would see nothing otherwise


def test_while_an_engine_begins_it_may_be_silent(events: Events, request: pytest.FixtureRequest) -> None:
    late = "import time; time.sleep(3)\n" + ENGINE
    engine = Apart(events.put, ("-c", late))
    request.addfinalizer(engine.close)
    engine.send(api.Generate("g", (), {}, chat="plain"))
    engine.send(api.Stop("s", "g"))
    assert ended(events, "s", "g") == {"s": api.Done("s", True), "g": api.Cancelled("g")}
