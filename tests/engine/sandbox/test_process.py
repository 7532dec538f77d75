"""A sandboxed function answers, and whatever it does wrong ends its process and not this one."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator

import psutil
import pytest

from engine.sandbox import (
    SandboxedFunction,
    SandboxFailure,
    SandboxMemory,
    SandboxStopped,
    SandboxTimeout,
    pids,
    process,
    stoppable,
)
from tests.waiting import until

pytestmark = pytest.mark.long

LONG = 60.0  # seconds; a busy machine starts a process in several
Make = Callable[..., SandboxedFunction]


@pytest.fixture
def make() -> Iterator[Make]:
    made: list[SandboxedFunction] = []

    def one(name: str, memory: int = 100_000_000) -> SandboxedFunction:
        made.append(SandboxedFunction(f"tests.engine.sandbox.functions:{name}", memory))
        return made[-1]

    yield one
    for function in made:
        function.close()


def test_values_come_back_as_they_were(make: Make) -> None:
    values = ["text, 文字, \ud800", 1, 2.5, None, True, {"a": [1, {"b": ""}]}, "x" * 3_000_000]
    echo = make("echo")
    assert list(echo.stream(*values, seconds=LONG)) == values
    assert echo.call("again", seconds=LONG) == "again"


def test_the_process_stays_for_the_next_call(make: Make) -> None:
    pid = make("pid")
    first = pid.call(seconds=LONG)
    assert first not in (os.getpid(), None)
    assert pid.call(seconds=LONG) == first


@pytest.mark.skipif(sys.platform != "linux", reason="limits of a shell, which Windows does not have")
def test_it_works_within_limits_that_the_whole_program_was_started_with() -> None:
    limits = "resource.RLIMIT_CPU, (1000, 1000)), (resource.RLIMIT_AS, (1 << 34, 1 << 34)"
    program = f"""if True:
        import resource
        from engine.sandbox import SandboxedFunction
        for limit in (({limits})):
            resource.setrlimit(*limit)
        echo = SandboxedFunction("tests.engine.sandbox.functions:echo", 1 << 36)
        print([echo.call(n, seconds={LONG}) for n in (1, 2)])
        echo.close()
    """
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.stdout == "[1, 2]\n", done.stderr


def test_what_takes_too_long_is_killed_and_the_next_call_works(make: Make) -> None:
    asleep = make("asleep")
    values = asleep.stream(3600, seconds=LONG)
    assert next(values) == "first"
    values.close()  # left in the middle
    with pytest.raises(SandboxTimeout):
        list(asleep.stream(3600, seconds=1.0))
    assert list(asleep.stream(0, seconds=LONG)) == ["first", "second"]


def test_another_thread_can_cancel(make: Make) -> None:
    asleep = make("asleep")
    failures: list[Exception] = []
    begun = threading.Event()

    def ask() -> None:
        try:
            for _ in asleep.stream(3600, seconds=3600):
                begun.set()
        except SandboxFailure as e:
            failures.append(e)

    thread = threading.Thread(target=ask)
    thread.start()
    assert begun.wait(LONG)
    asleep.cancel()
    thread.join(LONG)
    assert [type(e) for e in failures] == [SandboxTimeout]


@pytest.mark.skipif(sys.platform == "darwin", reason="the system keeps no such limit")
def test_more_memory_than_allowed_is_refused(make: Make) -> None:
    doubled = make("doubled", 200_000_000)
    assert doubled.call(20, seconds=LONG) == 1 << 20
    with pytest.raises(SandboxMemory):
        doubled.call(33, seconds=LONG)
    assert doubled.call(3, seconds=LONG) == 8


def test_a_library_that_says_something_else_of_it_deceives_nobody(make: Make) -> None:
    with pytest.raises(SandboxMemory):
        make("told_otherwise").call(1 << 40, seconds=LONG)


def test_an_answer_without_end_is_not_taken(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "MAX_ANSWER", 1000)
    flood = make("flood")
    assert flood.call(900, seconds=LONG) == "x" * 900
    with pytest.raises(SandboxMemory):
        flood.call(2000, seconds=LONG)


@pytest.mark.parametrize(("name", "said"), [("fault", "ended with code"), ("panic", "Panic: index out of range")])
def test_a_fault_is_the_process_own(make: Make, name: str, said: str) -> None:
    function = make(name)
    for _ in range(2):
        with pytest.raises(SandboxFailure, match=said):
            function.call(seconds=LONG)


def test_nothing_is_left_behind(make: Make) -> None:
    pid = make("pid")
    child = psutil.Process(pid.call(seconds=LONG))
    pid.close()
    until(lambda: not child.is_running())


def test_who_has_stopped_waits_no_longer(make: Make) -> None:
    asleep, stop = make("asleep"), threading.Event()
    values = asleep.stream(3600, seconds=3600)
    assert next(values) == "first"
    stop.set()
    with stoppable(stop.is_set), pytest.raises(SandboxStopped):
        next(values)
    assert list(asleep.stream(0, seconds=LONG)) == ["first", "second"]


def test_nor_for_the_call_of_another(make: Make) -> None:
    asleep, begun = make("asleep"), threading.Event()

    def ask() -> None:
        with contextlib.suppress(SandboxFailure):
            for _ in asleep.stream(3600, seconds=3600):
                begun.set()

    thread = threading.Thread(target=ask)
    thread.start()
    assert begun.wait(LONG)
    with stoppable(lambda: True), pytest.raises(SandboxStopped):
        asleep.call(0, seconds=LONG)
    asleep.cancel()
    thread.join(LONG)


@pytest.mark.skipif(sys.platform == "win32", reason="its job object ends it")
def test_one_whose_parent_was_killed_does_not_compute_for_ever() -> None:
    code = (
        "import sys; from engine.sandbox import SandboxedFunction\n"
        "f = SandboxedFunction('tests.engine.sandbox.functions:busy', 100_000_000)\n"
        "for pid in f.stream(seconds=0.1): print(pid, flush=True); sys.stdin.read()\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stdin=subprocess.PIPE)
    assert parent.stdout is not None
    child = psutil.Process(int(parent.stdout.readline()))
    parent.kill()
    parent.wait()
    until(lambda: not child.is_running())


def test_what_its_processes_hold_can_be_asked(make: Make) -> None:
    pid = make("pid")
    pid.warm()
    assert pid.pid in pids()
    assert pid.call(seconds=LONG) == pid.pid
    pid.close()
    assert pid.pid is None
