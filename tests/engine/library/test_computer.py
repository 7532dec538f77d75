"""Measuring this computer: once, again where asked, and bit by bit in spare time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engine.errors import Kind, UnderhillError
from engine.hardware import compute_speed, disk_speed
from engine.hardware.computer import on_battery
from engine.hardware.fingerprint import FILE, fingerprint, keep, look
from engine.hardware.load import Load, LoadWatch
from engine.hardware.machine import DiskPoint
from engine.hardware.rates import Rates
from engine.library import computer
from engine.library.computer import IdleProbe, large_files, machine_at, measure_computer
from engine.translatable import translated

RATES = Rates(4e10, 1, (DiskPoint(1 << 20, 4, True, 3e9),), {4: 0.9}, {64: 1e12})


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("UNDERHILL_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(computer, "wait_for_quiet", lambda *_: Load())
    monkeypatch.setattr(LoadWatch, "load", Load())
    monkeypatch.setattr(computer, "SEEN", 0.0)
    return tmp_path / "home"


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """How often everything was measured."""
    found: list[Any] = []

    def probe_fully(*arguments: Any) -> Rates:
        found.append(arguments)
        return RATES

    monkeypatch.setattr(computer, "probe_fully", probe_fully)
    return found


def test_a_computer_is_measured_once_and_again_where_asked(folder: Path, asked: list[Any]) -> None:
    first = measure_computer()
    assert first.rates == RATES
    assert first.machine.disk_points == RATES.disk_points
    assert any("3.0 GB/s" in sentence for sentence in first.sentences)
    assert measure_computer().rates == RATES
    assert len(asked) == 1
    measure_computer(again=True)
    assert len(asked) == 2
    (folder / FILE).unlink()
    assert "hasn't been measured yet" in computer.computer().why


def test_what_was_measured_but_cannot_be_kept_is_told_all_the_same(folder: Path, asked: list[Any]) -> None:
    (folder / FILE).mkdir(parents=True)  # where the file should be
    found = measure_computer()
    assert found.rates == RATES
    assert found.machine.disk_points == RATES.disk_points
    assert "couldn't be saved" in found.why
    assert found.why in found.sentences


def test_a_disk_without_room_is_measured_as_soon_as_there_is_some(
    folder: Path, asked: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    full = replace(RATES, disk_points=(), unread="The disk is too full to be measured.")
    monkeypatch.setattr(computer, "probe_fully", lambda *_: full)
    found = measure_computer()
    assert found.rates == full
    assert set(found.machine.kernel_shares) == set(RATES.kernel_shares)
    assert found.why == full.unread
    assert found.machine.disk_rate > 0  # guessed
    monkeypatch.setattr(computer, "probe_fully", lambda *_: RATES)
    assert measure_computer().rates == RATES
    monkeypatch.setattr(computer, "probe_fully", lambda *_: full)
    again = measure_computer(again=True)  # what was known of the disk stays
    assert again.rates is not None
    assert (again.rates.disk_points, again.why) == (RATES.disk_points, full.unread)


class Steps:
    """A probe of three steps."""

    def __init__(self, place: Path, files: object) -> None:
        self.done, self.total, self.rates, self.closed = 0, 3, RATES, False

    @property
    def complete(self) -> bool:
        return self.done == self.total

    def step(self) -> None:
        self.done += 1

    def close(self) -> None:
        self.closed = True


def test_in_spare_time_it_goes_step_by_step_and_is_done_once(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(computer, "Probe", Steps)
    probe = IdleProbe((tmp_path / "data",))
    seen = []
    for _ in range(9):
        probe.use()
        seen.append((probe.over, *probe.progress))
    assert seen[:4] == [(False, 0, 3), (False, 1, 3), (False, 2, 3), (False, 3, 3)]
    assert seen[4][0]
    assert computer.computer().rates == RATES
    again = IdleProbe((tmp_path / "data",))
    again.use()
    assert again.over  # nothing to do
    assert IdleProbe(()).over


def test_a_disk_that_fails_meanwhile_ends_it_quietly(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Failing(Steps):
        def step(self) -> None:
            raise UnderhillError(Kind.DISK_ERROR, translated("broken"))

    monkeypatch.setattr(computer, "Probe", Failing)
    probe = IdleProbe((tmp_path / "data",))
    for _ in range(3):
        probe.use()
    assert probe.over
    assert not (folder / FILE).exists()


def test_only_large_files_are_measured_with(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert large_files(home) == ()
    monkeypatch.setattr(computer, "LARGE", 1 << 20)
    found = large_files(home)
    assert found
    assert [f.stat().st_size for f in found] == sorted((f.stat().st_size for f in found), reverse=True)


def test_what_was_measured_beside_other_programs_says_so_and_is_measured_again_when_they_are_quiet(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: list[object] = []

    def waits(patience: float, waiting: Callable[[], None], cancelled: object) -> Load:
        waiting()
        waited.append(patience)
        return Load(0.6)

    told: list[str] = []
    monkeypatch.setattr(computer, "wait_for_quiet", waits)
    monkeypatch.setattr(computer, "probe_fully", lambda *_: replace(RATES, memory_rate=1e10, busy=0.6))
    found = measure_computer(report=lambda text, done, total: told.append(text))
    assert waited == [computer.PATIENCE]
    assert told == ["Waiting for other apps to finish"]
    assert "Measured while other apps used 60% of the processor" in found.why
    assert found.why in found.sentences
    monkeypatch.setattr(computer, "Probe", Steps)
    probe = IdleProbe((tmp_path / "data",))
    monkeypatch.setattr(LoadWatch, "load", Load(0.6))
    assert not probe.ready()
    monkeypatch.setattr(LoadWatch, "load", Load())
    while not probe.over:
        assert probe.ready()
        probe.use()
    assert probe.improved
    assert computer.computer().why == ""
    assert not IdleProbe(()).ready()
    monkeypatch.setattr(computer, "probe_fully", lambda *_: replace(RATES, memory_rate=1e10, busy=0.6))
    kept = measure_computer(again=True)  # what is known is better than that
    assert kept.rates is not None
    assert not kept.rates.busy
    assert "previous result is kept" in kept.why


def test_everybody_is_told_of_one_machine(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The library, the plan and the first run: one look at memory, and at the disk when there is a file to read."""
    looks: list[str] = []
    monkeypatch.setattr(compute_speed, "quickly", lambda threads: looks.append("memory") or 3e10)
    monkeypatch.setattr(
        disk_speed,
        "quickly",
        lambda file: (looks.append("disk"), DiskPoint(1 << 20, 2, True, 2e9))[1] if file.is_file() else None,
    )
    large = tmp_path / "data"
    large.write_bytes(b"x")
    machines = [machine_at(place) for place in (tmp_path, large, tmp_path, large)]
    assert looks == ["memory", "disk"]
    assert {machine.memory_rate for machine in machines} == {3e10}
    assert [machine.disk_rate for machine in machines[1:]] == [2e9] * 3
    keep(folder, fingerprint(tmp_path), on_battery(), RATES)  # a full probe holds at once
    assert machine_at(large).disk_points
    assert look(folder, fingerprint(tmp_path), on_battery()).rates is not None
