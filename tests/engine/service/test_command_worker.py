"""One terminal event for every command, whatever happens to it."""

from __future__ import annotations

import errno
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch

from engine.errors import Kind, UnderhillError
from engine.protocol import Cancelled, Command, Done, Event, Failed, Generate
from engine.service.command_worker import CancelledWork, CommandWorker, EngineClosed
from engine.service.request_queue import RequestQueue
from engine.translatable import translated
from tests.waiting import LONGEST, until


class Harness:
    """A lane whose work is chosen by the command's id, and the events it gave."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.started = threading.Event()
        self.lane = CommandWorker("test", self.work, self.events.append)

    def work(self, command: Command, cancelled: Callable[[], bool]) -> Any:
        self.started.set()
        if command.id.startswith("wait"):
            while not cancelled():
                self.lane.run_urgent(Live)
                time.sleep(0.002)
            raise CancelledWork("half")
        match command.id:
            case "sentence":
                raise UnderhillError(Kind.BUSY, translated("No."), translated("Later.")) from ValueError("deep")
            case "cancelled kind":
                raise UnderhillError(Kind.CANCELLED, translated("Stopped."))
            case "defect":
                raise ZeroDivisionError("oops")
            case "memory":
                raise MemoryError
            case "torch memory":
                torch.empty(1 << 50)
            case "mapped memory":
                raise OSError(errno.ENOMEM, "Cannot allocate memory")
            case "full":
                raise OSError(errno.ENOSPC, "No space left on device")
            case "disk":
                raise OSError(errno.EIO, "Input/output error", "/some/file")
        return command.id.upper()

    def of(self, command: str) -> Event:
        """The one terminal event of a command."""
        until(lambda: any(e.id == command for e in self.events), f"no event for {command}")
        (found,) = [e for e in self.events if e.id == command]
        return found


class Live(Command):
    """A command that may overtake."""


@pytest.fixture
def harness() -> Iterator[Harness]:
    h = Harness()
    yield h
    h.lane.close()
    h.lane.join(LONGEST)


def test_done_carries_the_result(harness: Harness) -> None:
    harness.lane.put(Command("a"))
    assert harness.of("a") == Done("a", "A")


@pytest.mark.parametrize(
    ("command", "kind"),
    [
        ("sentence", Kind.BUSY),
        ("defect", Kind.INTERNAL),
        ("memory", Kind.OUT_OF_MEMORY),
        ("torch memory", Kind.OUT_OF_MEMORY),
        ("mapped memory", Kind.OUT_OF_MEMORY),
        ("full", Kind.DISK_FULL),
        ("disk", Kind.DISK_ERROR),
    ],
)
def test_every_failure_is_told_and_the_lane_goes_on(harness: Harness, command: str, kind: Kind) -> None:
    harness.lane.put(Command(command))
    event = harness.of(command)
    assert isinstance(event, Failed)
    assert event.kind is kind
    assert event.sentence
    assert event.action
    assert "Error" in event.cause
    harness.lane.put(Command("after"))
    assert harness.of("after") == Done("after", "AFTER")


def test_the_cause_of_a_cause_is_in_the_details(harness: Harness) -> None:
    harness.lane.put(Command("sentence"))
    event = harness.of("sentence")
    assert isinstance(event, Failed)
    assert "deep" in event.cause


def test_running_work_is_cancelled_with_what_there_is(harness: Harness) -> None:
    harness.lane.put(Command("wait"))
    assert harness.started.wait(LONGEST)
    assert harness.lane.cancel("wait")
    assert harness.of("wait") == Cancelled("wait", "half")
    assert not harness.lane.cancel("wait")


def test_waiting_work_is_cancelled_without_ever_starting(harness: Harness) -> None:
    harness.lane.put(Command("wait"))
    assert harness.started.wait(LONGEST)
    harness.lane.put(Command("b"))
    assert harness.lane.cancel("b")
    assert harness.of("b") == Cancelled("b")
    harness.lane.cancel("wait")
    harness.of("wait")
    assert [e.id for e in harness.events] == ["b", "wait"]


def test_a_cancel_does_not_reach_the_next_command(harness: Harness) -> None:
    harness.lane.put(Command("wait"))
    assert harness.started.wait(LONGEST)
    harness.lane.put(Command("c"))
    harness.lane.cancel("wait")
    assert harness.of("c") == Done("c", "C")


def test_live_commands_overtake_running_work_but_not_their_forerunners(harness: Harness) -> None:
    harness.lane.put(Command("wait"))
    assert harness.started.wait(LONGEST)
    harness.lane.put(Live("now"))
    assert harness.of("now") == Done("now", "NOW")
    harness.lane.put(Command("first"))
    harness.lane.put(Live("second"))
    time.sleep(0.05)
    assert [e.id for e in harness.events] == ["now"]
    harness.lane.cancel("wait")
    harness.of("second")
    assert [e.id for e in harness.events] == ["now", "wait", "first", "second"]


def test_closing_cancels_what_waits_and_takes_nothing_more(harness: Harness) -> None:
    harness.lane.put(Command("wait"))
    assert harness.started.wait(LONGEST)
    harness.lane.put(Command("never"))
    harness.lane.close()
    harness.lane.join(LONGEST)
    assert {e.id: type(e) for e in harness.events} == {"wait": Cancelled, "never": Cancelled}
    with pytest.raises(EngineClosed):
        harness.lane.put(Command("late"))


def test_a_lane_that_dies_fails_whatever_is_asked_of_it(capsys: pytest.CaptureFixture[str]) -> None:
    events: list[Event] = []
    asked, go = threading.Event(), threading.Event()

    def work(command: Command, cancelled: Callable[[], bool]) -> Any:
        asked.set()
        go.wait(LONGEST)
        raise SystemExit("torn down")

    lane = CommandWorker("dying", work, events.append)
    lane.put(Command("running"))
    assert asked.wait(LONGEST)
    lane.put(Command("waiting"))
    assert not lane.died
    go.set()
    lane.join(LONGEST)
    assert lane.died
    lane.put(Command("late"))
    assert [e.id for e in events] == ["running", "waiting", "late"]
    for event in events:
        assert isinstance(event, Failed)
        assert event.kind is Kind.STOPPED
        assert "torn down" in event.cause
    assert not lane.holds("late")
    assert "torn down" in capsys.readouterr().err


def test_a_panic_of_a_library_fails_one_command() -> None:
    events: list[Event] = []
    panic = type("PanicException", (BaseException,), {})  # as Rust's libraries have it

    def work(command: Command, cancelled: Callable[[], bool]) -> Any:
        if command.id == "bad":
            raise panic("index out of bounds")
        return 1

    lane = CommandWorker("panicking", work, events.append)
    lane.put(Command("bad"))
    lane.put(Command("good"))
    until(lambda: len(events) == 2)
    lane.close()
    failed, done = events
    assert isinstance(failed, Failed)
    assert failed.kind is Kind.INTERNAL
    assert "index out of bounds" in failed.cause
    assert done == Done("good", 1)


def test_a_defect_between_commands_is_told_with_the_next_one(capsys: pytest.CaptureFixture[str]) -> None:
    events: list[Event] = []

    def idle() -> None:
        raise ZeroDivisionError("idle hands")

    lane = CommandWorker("idle", lambda command, cancelled: None, events.append, idle=idle, pulse=0.001)
    lane.join(LONGEST)
    lane.put(Command("a"))
    assert isinstance(events[0], Failed)
    assert "idle hands" in events[0].cause
    assert "idle hands" in capsys.readouterr().err


def test_what_waits_for_the_others_is_overtaken_and_stopped_alone() -> None:
    """Behind them all stands what may; among itself it keeps its order. One that was let in has a Stop of its own."""
    order: list[str] = []
    begun, go_on = threading.Event(), threading.Event()

    def work(command: Command, cancelled: Callable[[], bool]) -> str:
        order.append(command.id)
        if command.id == "b1":
            begun.set()
            go_on.wait(LONGEST)
            lane.run_urgent(Command)
            return f"{cancelled()}"
        if command.id == "f2":
            lane.cancel("f2")
            return f"{cancelled()}"
        return ""

    events: list[Event] = []
    lane = CommandWorker("test", work, events.append, queue=RequestQueue())
    lane.put(Generate(id="b1", background=True, messages=()))
    begun.wait(LONGEST)
    for name in ("b2", "f1", "b3", "f2"):
        lane.put(Generate(id=name, background=name.startswith("b"), messages=()))
    waiting = lane.urgent()
    assert waiting is not None
    assert waiting.id == "f1"
    go_on.set()
    until(lambda: len(events) == 5, "not all are done")
    assert order == ["b1", "f1", "f2", "b2", "b3"]
    assert events[:3] == [Done("f1", ""), Done("f2", "True"), Done("b1", "False")]
    lane.close()
    lane.join(LONGEST)
