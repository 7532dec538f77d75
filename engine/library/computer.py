"""This computer as plans use it: its probes with files of the library, at once on demand or in steps while idle."""

from __future__ import annotations

import logging
import shutil
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from engine.errors import UnderhillError
from engine.hardware import probe
from engine.hardware.computer import Computer, describe, on_battery
from engine.hardware.fingerprint import FILE, Fingerprint, disk_of, existing, fingerprint, keep, look
from engine.hardware.full_probe import Probe, Report, probe_fully
from engine.hardware.load import PATIENCE, LoadWatch, wait_for_quiet
from engine.hardware.machine import Machine
from engine.hardware.probe import with_rates
from engine.hardware.processor import processor
from engine.hardware.rates import Rates
from engine.library import folders, library
from engine.native.library import isas
from engine.planning.budget import ceiling
from engine.planning.fit import Recommended
from engine.store.output import writing
from engine.translatable import Translatable, msg

_log = logging.getLogger(__name__)

LARGE = 128 << 20  # bytes of a file from which on the disk can be told from it
MOST = 8  # files
HOLDS = 600.0  # seconds that a look at a disk holds
SEEN = 1.0  # seconds of the processor's load that spare time looks at before it measures


def recommended() -> Recommended:
    """The memory limit that Underhill chooses now, with no model open."""
    memory = probe.memory()
    return Recommended(ceiling(memory, None, probe.rss(), []), memory.limit)


def measure_computer(
    again: bool = False, report: Report = lambda text, done, total: None, cancelled: Callable[[], bool] = lambda: False
) -> Computer:
    """This computer and the disk that new models go to; what is known is not measured again but where `again`.

    A disk that is too full, or cannot be written to, takes the rest nothing: a sentence says what is missing. Raises
    UnderhillError: CANCELLED, DISK_ERROR where reading fails.
    """
    folder, place = library.home(), folders.paths()[0]
    now, power = fingerprint(place), on_battery()
    known = look(folder, now, power).rates
    if not again and _complete(known):
        return computer()
    _log.info("Measuring this computer")
    wait_for_quiet(PATIENCE, lambda: report(msg("Waiting for other apps to finish"), 0, 0), cancelled)
    rates = probe_fully(place, large_files(place), report, cancelled)
    if rates.busy and known is not None and known.disk_points and not known.busy:
        return _described(known, msg("The processor is busy; the previous result is kept."))
    if rates.unread and known is not None:
        rates = replace(rates, disk_points=known.disk_points)
    try:
        with writing(folder / "hardware"):
            keep(folder, now, power, rates)
    except UnderhillError as refused:
        why = msg(
            "{sentence} The result couldn't be saved.",
            sentence=refused.sentence,
        )
        return _described(rates, why)
    return computer()


def _described(rates: Rates, why: Translatable) -> Computer:
    machine = with_rates(probe.probe(existing(folders.paths()[0]), isa=isas()[-1]), rates)
    return describe(processor(), machine, rates, why)


def _complete(known: Rates | None) -> bool:
    """Whether nothing is left to measure."""
    return known is not None and bool(known.disk_points)


def computer() -> Computer:
    """This computer with what is known of it; memory's rate alone is measured, and the disk's guessed where unknown."""
    folder, place = library.home(), folders.paths()[0]
    known = look(folder, fingerprint(place), on_battery())
    machine = machine_at(place)
    return describe(processor(), machine, known.rates, known.why)


def machine_at(place: Path) -> Machine:
    """This computer with the disk of `place`, a file, or a folder that may not be there yet; as far as it is known.

    Every estimate is made with this, so that the library, the plan and the first run say the same. The disk is looked
    at once in HOLDS seconds, memory's rate once: an answer slows it down while it is made, and looking slows the
    answer. How much of both is free is asked every time. What a full probe finds holds at once.
    """
    place = existing(place)
    disk, power = fingerprint(place), on_battery()
    file = library.home() / FILE
    key = str(library.home()), disk, power, file.stat().st_mtime_ns if file.is_file() else 0
    with _looking:
        now = time.monotonic()
        found = looks.get(key)
        if found is None or now - found.when >= HOLDS or (not found.read and place.is_file()):
            _log.info(
                "This computer: %s, %d cores, %d threads, %.0f GB, %s; Underhill %s, torch %s", disk.processor,
                disk.physical, disk.logical, disk.ram / 1e9, disk.system, disk.underhill or "from source", disk.torch,
            )  # fmt: skip
            # Memory's rate is the computer's whatever the disk; measured once, it costs a second disk no 0.1 s of all
            # threads.
            same = next((look.machine for k, look in looks.items() if k[0] == key[0] and k[2:] == key[2:]), None)
            if same is None:
                machine = probe.probe(place, isa=isas()[-1], kept=library.home())
                # The probe has just written what it saw: under the old time the next look would find nothing.
                key = (*key[:3], file.stat().st_mtime_ns if file.is_file() else 0)  # a look is kept, too
            else:
                machine = probe.probe(place, isa=isas()[-1], memory_rate=same.memory_rate, kept=library.home())
            found = looks[key] = _Look(machine, now, place.is_file())
    free = shutil.disk_usage(place).free
    return replace(found.machine, memory=probe.memory(), disk_free=free)


class _Look(NamedTuple):
    """read: the disk was read from a file, not guessed."""

    machine: Machine
    when: float
    read: bool


looks: dict[tuple[str, Fingerprint, bool | None, int], _Look] = {}
_looking = threading.Lock()  # held while disk and memory are timed: two at once would halve each other's rates


def large_files(place: Path) -> tuple[Path, ...]:
    """Data files of the library on the disk of `place`, the largest first."""
    disk = disk_of(place)
    found: list[tuple[int, Path]] = []
    for model in library.models():
        with suppress(OSError):
            if disk_of(model) == disk:
                found += [(f.stat().st_size, f) for f in model.iterdir() if f.suffix == ".safetensors"]
    return tuple(f for size, f in sorted(found, reverse=True)[:MOST] if size >= LARGE)


class IdleProbe:
    """A full probe in small steps, of files that are there: nothing is written to the disk but its result."""

    def __init__(self, files: tuple[Path, ...]) -> None:
        """files: of one disk, which is the one that is measured."""
        self._files = files
        self._probe: Probe | None = None
        self.over = not files
        self.improved = False  # what is kept is better than before
        self._watch = LoadWatch()

    def ready(self) -> bool:
        """Whether there is anything to do and the processor is free for it."""
        if self.over or self._probe is not None or self._watch.seconds < SEEN:
            return not self.over and self._probe is not None
        load = self._watch.load
        self._watch.again()
        return not load.busy

    def use(self) -> None:
        """One step, if there is anything to do."""
        if self.over:
            return
        try:
            if self._probe is None:
                self._start()
            elif not self._probe.complete:
                self._probe.step()
            else:
                known = look(library.home(), self._now, self._power).rates
                if known is None or self._probe.rates.busy <= known.busy or not known.disk_points:
                    keep(library.home(), self._now, self._power, self._probe.rates)
                    self.improved = True
                self.over = True
        except (UnderhillError, OSError):  # what cannot be measured now is guessed, as it was before
            self.close()

    def close(self) -> None:
        """Let go of everything."""
        self.over = True
        if self._probe is not None:
            self._probe.close()

    @property
    def progress(self) -> tuple[int, int]:
        """Steps done, of all."""
        return (0, 0) if self._probe is None else (self._probe.done, self._probe.total)

    def _start(self) -> None:
        self._now, self._power = fingerprint(self._files[0]), on_battery()
        known = look(library.home(), self._now, self._power).rates
        if _complete(known) and known is not None and not known.busy:
            self.over = True
        else:
            self._probe = Probe(self._files[0].parent, self._files)
