"""Measure this computer: cores, memory within its control group, the store's disk, graphics cards."""

from __future__ import annotations

import contextlib
import re
import shutil
import sys
from dataclasses import replace
from pathlib import Path
from statistics import median

import psutil

from engine import sandbox
from engine.hardware import compute_speed, control_groups, disk_speed, graphics
from engine.hardware.computer import on_battery
from engine.hardware.fingerprint import existing, fingerprint, keep, look
from engine.hardware.load import LoadWatch
from engine.hardware.machine import Machine, Memory
from engine.hardware.processor import processor
from engine.hardware.rates import Rates, changed, settled
from engine.native.memory import forget_code

RETURNING = 4  # one part in so many of the code that was let go of is used again (measured: 16 of 75 MB)
TYPICAL = 5 << 19  # bytes of an expert, where one figure has to stand for the disk

_served: psutil.Process | None = None  # the one whose memory counts together with ours


def probe(
    disk: Path, *, isa: str, memory_rate: float | None = None, disk_rate: float | None = None, kept: Path | None = None
) -> Machine:
    """This machine. disk: a file or folder on the disk that holds the store. kept: the folder where a full probe's
    rates are kept; those that hold for this computer, this disk and its power are taken.

    Memory's rate is measured in any case, if not given (about 0.1 s), and the disk's if `disk` is a large file (0.4 s):
    they change from hour to hour, and with what else runs. What is kept of them is corrected by that (see `settled`),
    and kept so where both were measured: looks add up to what they say together.
    """
    place, power = fingerprint(disk), on_battery()
    known = None if kept is None else look(kept, place, power).rates
    threads = cores() if known is None else known.threads
    watch = LoadWatch()
    now = disk_speed.quickly(disk) if disk_rate is None else None
    rate = memory_rate or _memory_now(threads, known)
    disturbed = watch.load.busy and known is not None and not known.busy
    if known is not None and memory_rate is None:
        # what was measured while nobody disturbed it says more than a look beside other programs
        slowed = disturbed and rate < known.memory_rate
        rate = known.memory_rate if slowed else settled(known.memory_rate, rate)
    if known is not None and now is not None and not disturbed:
        known = replace(known, disk_points=disk_speed.as_now(known.disk_points, now))
        if kept is not None and memory_rate is None:
            with contextlib.suppress(OSError):  # a folder that cannot be written to keeps what it has
                keep(kept, place, power, known.at(rate))
    points = () if known is None or disk_rate is not None else known.disk_points
    machine = Machine(
        cores=threads,
        memory=memory(),
        memory_rate=rate,
        disk_rate=disk_rate or (disk_speed.GUESS if now is None else now.rate),
        disk_free=shutil.disk_usage(existing(disk)).free,
        isa=isa,
        gpus=graphics.gpus(),
        os="windows" if sys.platform == "win32" else sys.platform,
        disk_points=points,
        on_battery=power,
    )
    return machine if known is None else with_rates(machine, known)


def _memory_now(threads: int, known: Rates | None) -> float:
    """Memory's rate; where it is far beside what is known, the middle of three looks: others read for moments, too."""
    rate = compute_speed.quickly(threads)
    if known is None or not changed(known.memory_rate, rate):
        return rate
    return median((rate, compute_speed.quickly(threads), compute_speed.quickly(threads)))


def with_rates(machine: Machine, known: Rates) -> Machine:
    """The machine with what a full probe says of it; memory's rate stays that of now."""
    cards = tuple(
        replace(card, pinned=rates[0], rate=rates[1] or card.rate) if (rates := known.cards.get(card.name)) else card
        for card in machine.gpus
    )
    found = replace(
        machine,
        cores=known.threads,
        gpus=cards,
        disk_points=known.disk_points,
        kernel_shares=known.shares_at(machine.memory_rate),
        products=known.products,
    )
    return replace(found, disk_rate=found.disk_rate_at(TYPICAL))


def cores() -> int:
    """Physical cores that this process may use; of two kinds, the fast ones."""
    return processor().performance


def memory() -> Memory:
    """What there is and what is free, within the control groups (v1 and v2) too; the smallest of all wins."""
    machine = psutil.virtual_memory()
    groups = control_groups.groups()
    limit = min([int(machine.total), *(group.limit for group in groups)])
    return Memory(limit, int(machine.available), min((group.free for group in groups), default=None))


def rss() -> int:
    """Resident bytes of this program now: of this process and of those that count with it."""
    return _own() + served()


def serve(pid: int) -> None:
    """From now on memory of this process counts together with that of another, for which it works."""
    global _served
    with contextlib.suppress(psutil.NoSuchProcess):
        _served = psutil.Process(pid)


def _own() -> int:
    return int(psutil.Process().memory_info().rss)


def served() -> int:
    """Resident bytes of the process that this one serves, if it serves one, and of those that read for this one."""
    return (_resident(_served) if _served is not None else 0) + sum(map(_resident, sandbox.pids()))


def _resident(process: psutil.Process | int) -> int:
    try:
        found = psutil.Process(process) if isinstance(process, int) else process
        return int(found.memory_info().rss)
    except psutil.NoSuchProcess:
        return 0


def program() -> int:
    """Resident bytes of this program before it opens a model: without code that was needed once, but with what of it
    may come back.
    """
    before = _own()
    forget_code()
    after = _own()
    return after + max(0, before - after) // RETURNING + served()


def peak_rss() -> int:
    """Most resident bytes this program has had; what the process that it serves has now stands for the most of that."""
    return _own_peak() + served()


def _own_peak() -> int:
    if sys.platform == "win32":
        return int(psutil.Process().memory_info().peak_wset)
    if sys.platform.startswith("linux"):  # getrusage would count what the parent had when it started this process
        status = Path("/proc/self/status").read_text(encoding="ascii")
        found = re.search(r"^VmHWM:\s+(\d+) kB$", status, re.MULTILINE)
        if found:
            return int(found[1]) * 1024
    import resource

    kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(kib if sys.platform == "darwin" else kib * 1024)
