"""Whether the system runs short of memory, and how large the expert cache should be then. The decision is pure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from engine.hardware import control_groups, probe

# Free memory of the machine below which it is short, and up to which it is brought back. A part of all there is, for
# on a small machine the usual figures would never be reached.
LOW, HIGH = 500_000_000, 1_000_000_000
LOW_PART, HIGH_PART = 32, 16  # of all memory: one part in so many
# The same within a control group, whose limit a plan goes much nearer to (budget.GROUP_MARGIN).
GROUP_LOW, GROUP_HIGH = 16_000_000, 32_000_000
STALLED = 10.0  # percent of the last ten seconds in which somebody waited for memory (Linux, PSI)
CALM = 20.0  # seconds without shortage before the cache grows again
STEPS, PAUSE = 8, 2.0  # it grows back by a part of what was planned, and so many seconds later by another
LEAST_STEPS = 64  # smaller parts than such are not worth growing by
PERIOD, IN_PROMPT = 0.5, 0.2  # seconds between two looks; while a prompt is computed, which takes memory by layers


@dataclass(frozen=True)
class Reading:
    """Bytes. group_free: of the control groups, the least; None: no group limits. stalled: percent, see STALLED.

    own: resident memory of this process; 0: not looked at.
    """

    limit: int
    free: int
    group_free: int | None = None
    stalled: float = 0.0
    own: int = 0


@dataclass(frozen=True)
class Pressure:
    """Where things stand. limit: most bytes of cache that the system has room for; None: as planned.

    since: when there was last too little to grow, in seconds of a steady clock.
    """

    limit: int | None = None
    since: float = float("-inf")


def read(files: tuple[Path, ...] | None = None) -> Reading:
    """How things are now. files: of control_groups.pressure_files, to spare looking for them every time."""
    memory = probe.memory()
    found = tuple(control_groups.pressure_files()) if files is None else files
    return Reading(memory.limit, memory.free, memory.group_free, max(map(_stalled, found), default=0.0), probe.rss())


def decide(before: Pressure, seen: Reading, held: int, planned: int, smallest: int, now: float) -> Pressure:
    """What follows. held: bytes of cache now, with what it has lent. planned: what the plan gives it; smallest: below
    which it cannot work. What this process itself takes is another matter (see own_use).

    Too little free: down at once, by all that is missing. Grows again only where a step of it would leave memory well
    above the marks, and that for CALM seconds, step by step: what lies between changes nothing. Where there is room for
    less than a step, by half of that room.
    """
    missing = _missing(seen)
    if missing > 0:
        limit = max(smallest, min(planned, held) - missing)
        if limit >= min(planned, planned if before.limit is None else before.limit):
            return replace(before, since=now)
        return Pressure(limit, now)
    if before.limit is None:
        return before
    if before.limit >= planned:
        return Pressure()
    lacking, room = planned - before.limit, spare(seen)
    step = min(planned // STEPS, lacking)
    if room < step:
        step = room // 2
    if step < min(planned // LEAST_STEPS, lacking):
        return replace(before, since=now)
    if now - before.since < CALM:
        return before
    limit = before.limit + step
    # As if it had been calm for all but PAUSE: the next step comes then, unless memory gets short before.
    return Pressure() if limit >= planned else Pressure(limit, now - CALM + PAUSE)


def refused(held: int, smallest: int, now: float) -> Pressure:
    """What follows where the system gave no memory for experts, whatever it says is free: no more than is held now. It
    grows again as `decide` says. The arguments are as there."""
    return Pressure(max(smallest, held), now)


def _marks(limit: int) -> tuple[int, int]:
    return min(LOW, limit // LOW_PART), min(HIGH, limit // HIGH_PART)


def _missing(seen: Reading) -> int:
    """Bytes to give back now; 0: none."""
    low, high = _marks(seen.limit)
    missing = 0
    if seen.free < low or (seen.free < high and seen.stalled >= STALLED):
        missing = high - seen.free
    if seen.group_free is not None and seen.group_free < GROUP_LOW:
        missing = max(missing, GROUP_HIGH - seen.group_free)
    return missing


def spare(seen: Reading) -> int:
    """Bytes that could be taken and memory would still be well above the mark to which it is brought back."""
    found = seen.free - 2 * _marks(seen.limit)[1]
    if seen.group_free is not None:
        found = min(found, seen.group_free - GROUP_HIGH)
    return found


def _stalled(file: Path) -> float:
    """avg10 of the line 'some' of a pressure file; 0 where it cannot be read."""
    try:
        some = file.read_text(encoding="utf-8").partition("\n")[0].split()
    except OSError:  # built without it, or switched off
        return 0.0
    # 'some avg10=0.00 avg60=0.00 avg300=0.00 total=0' (kernel: Documentation/accounting/psi.rst).
    told = dict(field.split("=", 1) for field in some if "=" in field)
    return float(told.get("avg10", 0.0))
