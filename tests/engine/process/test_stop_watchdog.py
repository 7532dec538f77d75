"""Stop comes to an end also where something holds the engine: it is ended, and whoever waits hears of it."""

from __future__ import annotations

import queue
import sys
import time
from collections.abc import Iterator

import psutil
import pytest

from engine import protocol
from engine.process import engine_process
from engine.process.engine_process import EngineProcess
from tests.waiting import PROCESS

Events = queue.Queue[protocol.Event]
# Opens anything. Generate goes on as its chat says: 'lock' and 'native' come to rest for ever, with Python's lock and
# without it; 'slow' takes its time, and comes further all along. Each answers to Stop where it can.
ENGINE = """
import ctypes, sys, threading, time
from engine import protocol, service
from engine.process import host
def rest(library):
    if sys.platform == "win32":
        library("kernel32").Sleep(ctypes.c_uint32(0xFFFFFFFF))
    else:
        library(None).pause()
class Engine:
    def __init__(self, tell):
        self.tell, self.life, self.stopped = tell, 0, threading.Event()
    def send(self, command):
        if isinstance(command, protocol.LoadModel):
            self.tell(protocol.Done(command.id))
        elif isinstance(command, protocol.Generate):
            threading.Thread(target=self.work, args=(command,), daemon=True).start()
        elif isinstance(command, protocol.Ping):
            self.tell(protocol.Done(command.id, self.life))
        else:
            self.stopped.set()
            self.tell(protocol.Done(command.id, True))
    def work(self, command):
        self.tell(protocol.TextDelta(command.id, "Once", (1,)))
        how = command.chat
        while how == "slow" and not (self.stopped.is_set() and self.life > 60):
            self.life += 1
            time.sleep(0.05)
        if how == "native":
            rest(ctypes.CDLL)
        if how == "lock":
            self.stopped.wait()
            rest(ctypes.PyDLL)
        self.tell(protocol.Cancelled(command.id))
    def close(self):
        pass
service.Service = Engine
host.main(int(sys.argv[1]))
"""
pytestmark = pytest.mark.alone("judges an engine by the time between its signs of life")


@pytest.fixture
def events() -> Events:
    return queue.Queue()


@pytest.fixture
def running(events: Events, monkeypatch: pytest.MonkeyPatch) -> Iterator[EngineProcess]:
    monkeypatch.setattr(engine_process, "STILL", 2.0)
    engine = EngineProcess(events.put, ("-c", ENGINE))
    engine.send(protocol.LoadModel("load", "any", {}))
    assert events.get(timeout=PROCESS) == protocol.Done("load")
    yield engine
    engine.close()
    assert not psutil.pid_exists(engine.pid)


def ended(events: Events, *commands: str) -> dict[str, protocol.Event]:
    """The terminal events of these; of any other there is none."""
    found: dict[str, protocol.Event] = {}
    while set(found) != set(commands):
        event = events.get(timeout=PROCESS)
        if isinstance(event, protocol.TERMINAL):
            assert event.id in commands
            found[event.id] = event
    return found


@pytest.mark.parametrize(("how", "why"), [("lock", "did not answer"), ("native", "did not come any further")])
def test_what_never_returns_is_ended_with_the_engine(
    running: EngineProcess, events: Events, how: str, why: str
) -> None:
    running.send(protocol.Generate(id="g", messages=(), sampling={}, chat=how))
    assert isinstance(events.get(timeout=PROCESS), protocol.TextDelta)
    running.send(protocol.Stop("s", "g"))
    found = ended(events, "g", "s")
    told = found["g"]
    assert isinstance(told, protocol.Failed)
    assert told.kind is protocol.Kind.HELD
    assert why in told.cause
    assert sys.platform == "win32" or "in work" in told.cause  # where it stood, of which only a signal has it tell
    running.send(protocol.ListModels("l"))
    after = ended(events, "l")["l"]
    assert isinstance(after, protocol.Failed)
    assert after.kind is protocol.Kind.HELD


@pytest.mark.parametrize("how", ["native", "slow"])
def test_a_stop_that_is_answered_before_anybody_watches_is_watched_all_the_same(
    running: EngineProcess, events: Events, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    begin = engine_process.StopWatchdog.start

    def late(one: engine_process.StopWatchdog) -> None:
        time.sleep(0.5)
        begin(one)

    monkeypatch.setattr(engine_process.StopWatchdog, "start", late)
    running.send(protocol.Generate(id="g", messages=(), sampling={}, chat=how))
    assert isinstance(events.get(timeout=PROCESS), protocol.TextDelta)
    running.send(protocol.Stop("s", "g"))
    found = ended(events, "g", "s")
    assert found["s"] == protocol.Done("s", True)
    assert isinstance(found["g"], protocol.Cancelled) is (how == "slow")


def test_a_process_that_stands_still_is_ended(running: EngineProcess, events: Events) -> None:
    running.send(protocol.Generate(id="g", messages=(), sampling={}, chat="slow"))
    assert isinstance(events.get(timeout=PROCESS), protocol.TextDelta)
    psutil.Process(running.pid).suspend()
    running.send(protocol.Stop("s", "g"))
    assert {event.kind for event in ended(events, "g", "s").values()} == {protocol.Kind.HELD}  # type: ignore[union-attr]


def test_what_is_only_slow_is_waited_for(running: EngineProcess, events: Events) -> None:
    running.send(protocol.Generate(id="g", messages=(), sampling={}, chat="slow"))
    running.send(protocol.Stop("s", "g"))
    begun = time.monotonic()
    assert ended(events, "s", "g") == {"s": protocol.Done("s", True), "g": protocol.Cancelled("g")}
    assert (
        time.monotonic() - begun > engine_process.SILENT + engine_process.TICK
    )  # the test would see nothing otherwise


def test_while_an_engine_begins_it_may_be_silent(events: Events, request: pytest.FixtureRequest) -> None:
    late = "import time; time.sleep(3)\n" + ENGINE
    engine = EngineProcess(events.put, ("-c", late))
    request.addfinalizer(engine.close)
    engine.send(protocol.Generate(id="g", messages=(), sampling={}, chat="plain"))
    engine.send(protocol.Stop("s", "g"))
    assert ended(events, "s", "g") == {"s": protocol.Done("s", True), "g": protocol.Cancelled("g")}
