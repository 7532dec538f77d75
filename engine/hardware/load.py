"""What other programs, or the host of a virtual machine, take of the processor; and turns that they did not disturb."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import psutil

BUSY = 0.1  # of the processor, from which on what others take is seen in what is measured
STALLED = 0.2  # of the time, that something waited for a processor (Linux, PSI)
PRESENT = 0.9  # of a turn, that all threads must have computed for it to count as undisturbed
ENOUGH = 3  # undisturbed turns
SEARCH = 0.5  # seconds that undisturbed ones are searched for
PAUSE = 0.01  # seconds between two such: a thread that has slept is let run at once, and for a few milliseconds
LOOK, PATIENCE = 0.5, 10.0  # seconds of a look for quiet, and that quiet is waited for
PRESSURE = Path("/proc/pressure/cpu")


@dataclass(frozen=True)
class Load:
    """others: share of all processors that other programs took, and the host (steal). stalled: share of the time that
    something waited for a processor; 0 where the system does not tell."""

    others: float = 0.0
    stalled: float = 0.0

    @property
    def busy(self) -> bool:
        """Whether what is measured meanwhile says less than it should."""
        return self.others >= BUSY or self.stalled >= STALLED


class LoadWatch:
    """Looks at the load from its making on, or from the last `again`."""

    def __init__(self) -> None:
        self.again()

    def again(self) -> None:
        """From now on."""
        self._at = _counters()

    @property
    def seconds(self) -> float:
        """Since it began."""
        return time.monotonic() - self._at[0]

    @property
    def load(self) -> Load:
        """Of the time since it began. Processors are counted in ticks of 10 ms: of less than that it says nothing."""
        passed, total, idle, own, stalled = (now - was for now, was in zip(_counters(), self._at, strict=True))
        if total <= 0 or passed <= 0:
            return Load()
        return Load(min(1.0, max(0.0, (total - idle - own) / total)), min(1.0, max(0.0, stalled / passed)))


def _counters() -> tuple[float, float, float, float, float]:
    """Seconds: the clock, all processors together, of these idle ones and this process's, and stalled ones."""
    times, own = psutil.cpu_times(), psutil.Process().cpu_times()
    # guests are in user and nice already (proc(5)); Windows has other names and neither of these
    total = sum(times) - getattr(times, "guest", 0.0) - getattr(times, "guest_nice", 0.0)
    # A processor whose programs wait for a disk is free to compute.
    idle = times.idle + getattr(times, "iowait", 0.0)
    return time.monotonic(), total, idle, own.user + own.system, _stalled()


def _stalled() -> float:
    """Seconds since the start in which something waited for a processor; 0 where the system does not tell."""
    try:
        some = PRESSURE.read_text(encoding="ascii").partition("\n")[0]
        return float(some.rpartition("total=")[2]) / 1e6
    except (OSError, ValueError):
        return 0.0


def wait_for_quiet(
    patience: float = PATIENCE,
    waiting: Callable[[], None] = lambda: None,
    cancelled: Callable[[], bool] = lambda: False,
) -> Load:
    """Until other programs leave the processor alone, or patience ends; how it was in the last look.

    waiting: called before every look but the first.
    """
    end = time.monotonic() + patience
    while True:
        watch = LoadWatch()
        time.sleep(LOOK)
        load = watch.load
        if not load.busy or time.monotonic() >= end or cancelled():
            return load
        waiting()


@dataclass(frozen=True)
class StepTime:
    """Seconds: of the clock, and of the processors that computed."""

    wall: float
    cpu: float

    def undisturbed(self, threads: int) -> bool:
        """Whether all threads computed all the time."""
        return self.cpu >= PRESENT * threads * self.wall


def turn(call: Callable[[], object]) -> StepTime:
    """How long it took."""
    wall, cpu = time.perf_counter(), time.process_time()
    call()
    return StepTime(time.perf_counter() - wall, time.process_time() - cpu)


def turns(calls: Sequence[Callable[[], object]], threads: int, count: int) -> float:
    """Seconds that one of these calls takes by itself, the middle of `count`, which follow each other in a circle.

    Where most were disturbed, more are tried, with pauses in between, and the undisturbed ones alone count. Without
    any, the fastest does.
    """
    found = [turn(calls[at % len(calls)]) for at in range(count)]
    calm = [one.wall for one in found if one.undisturbed(threads)]
    if 2 * len(calm) >= count:
        return median(calm)
    end = time.monotonic() + SEARCH
    # The pause lets a thread be chosen at once when it wakes: Linux' scheduler favours one that has slept, so a short
    # turn after a sleep is the least disturbed one to be had on a busy computer.
    for at in itertools.count(count):
        if len(calm) >= ENOUGH or time.monotonic() >= end:
            break
        time.sleep(PAUSE)
        found.append(turn(calls[at % len(calls)]))
        if found[-1].undisturbed(threads):
            calm.append(found[-1].wall)
    return median(calm) if calm else min(one.wall for one in found)


def working(call: Callable[[], object], threads: int, count: int) -> float:
    """Seconds that computing takes where memory does not matter, the least of `count`: what `threads` would take that
    compute all the time, for the work is the same whoever is kept from it for a while."""
    return min(min(one.wall, max(one.cpu / threads, one.wall / threads)) for one in (turn(call) for _ in range(count)))
