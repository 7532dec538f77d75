"""Measuring this computer with what lies on it: at once when somebody asks, or bit by bit while nobody does."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from engine.errors import UnderhillError
from engine.hardware import probe
from engine.hardware.battery import on_battery
from engine.hardware.computer import Computer, describe
from engine.hardware.fingerprint import disk_of, existing, fingerprint
from engine.hardware.kept import keep, look
from engine.hardware.machine import Machine
from engine.hardware.measuring import Probe, Report, probe_fully
from engine.hardware.probe import with_rates
from engine.hardware.processor import processor
from engine.hardware.rates import Rates
from engine.hub import folders, library
from engine.kernels.choice import available
from engine.store.output import writing

LARGE = 128 << 20  # bytes of a file from which on the disk can be told from it
MOST = 8  # files


def measure_computer(
    again: bool = False,
    report: Report = lambda text, done, total: None,
    cancelled: Callable[[], bool] = lambda: False,
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
    rates = probe_fully(place, large_files(place), report, cancelled)
    if rates.unread and known is not None:
        rates = replace(rates, disk_points=known.disk_points)
    try:
        with writing(folder / "hardware"):
            keep(folder, now, power, rates)
    except UnderhillError as refused:
        machine = with_rates(probe.probe(existing(place), isa=available().isa), rates)
        why = f"{refused.sentence} What was measured could not be kept, and will have to be measured again."
        return describe(processor(), machine, rates, why)
    return computer()


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
    """This computer with the disk of `place`, a file, or a folder that may not be there yet; as far as it is known."""
    return probe.probe(existing(place), isa=available().isa, kept=library.home())


def large_files(place: Path) -> tuple[Path, ...]:
    """Data files of the library on the disk of `place`, the largest first."""
    disk = disk_of(place)
    found: list[tuple[int, Path]] = []
    for model in library.models():
        with suppress(OSError):
            if disk_of(model) == disk:
                found += [(f.stat().st_size, f) for f in model.iterdir() if f.suffix == ".safetensors"]
    return tuple(f for size, f in sorted(found, reverse=True)[:MOST] if size >= LARGE)


class SpareProbe:
    """A full probe in small steps, of files that are there: nothing is written to the disk but its result."""

    def __init__(self, files: tuple[Path, ...]) -> None:
        """files: of one disk, which is the one that is measured."""
        self._files = files
        self._probe: Probe | None = None
        self.over = not files

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
                keep(library.home(), self._now, self._power, self._probe.rates)
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
        if _complete(look(library.home(), self._now, self._power).rates):
            self.over = True
        else:
            self._probe = Probe(self._files[0].parent, self._files)
