"""The probe: memory within control groups of both versions, rates that are rates, processes that weigh something."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path
from statistics import fmean, pstdev

import psutil
import pytest

from engine.hardware import compute_speed, control_groups, disk_speed, probe
from engine.hardware.computer import on_battery
from engine.hardware.fingerprint import fingerprint, keep, look
from engine.hardware.load import Load, LoadWatch
from engine.hardware.machine import GB, DiskPoint, Gpu, Machine, Memory
from engine.hardware.rates import Rates

pytestmark = pytest.mark.long


@pytest.fixture(autouse=True)
def load(monkeypatch: pytest.MonkeyPatch) -> list[Load]:
    """What others take of the processor: nothing, whatever runs beside the tests."""
    now = [Load()]
    monkeypatch.setattr(LoadWatch, "load", property(lambda watch: now[0]))
    return now


def test_beside_other_programs_what_was_measured_without_them_is_believed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, load: list[Load]
) -> None:
    place, power = fingerprint(tmp_path), on_battery()
    points = (DiskPoint(1 << 20, 2, True, 2e9),)
    monkeypatch.setattr(compute_speed, "quickly", lambda threads: 1e10)
    monkeypatch.setattr(disk_speed, "quickly", lambda file: DiskPoint(1 << 20, 2, True, 1e9))

    def found(busy: float) -> tuple[float, float]:
        keep(tmp_path, place, power, Rates(3e10, 1, points, busy=busy))
        machine = probe.probe(tmp_path, isa="avx2", kept=tmp_path)
        return machine.memory_rate, machine.disk_rate

    assert found(0.0) == (1e10, 1e9)
    load[0] = Load(0.6)
    assert found(0.0) == (3e10, 2e9)
    assert look(tmp_path, place, power).rates == Rates(3e10, 1, points)  # nothing of it is kept
    assert found(0.6) == (1e10, 1e9)  # neither was measured alone
    monkeypatch.setattr(compute_speed, "quickly", lambda threads: 4e10)
    assert found(0.0)[0] > 3e10  # nobody is made faster by others


@pytest.mark.parametrize(
    ("limits", "limit", "group_free"),
    [
        ([], None, None),
        ([control_groups.Group(10**6, 700_000, 100_000)], 10**6, 400_000),
        ([control_groups.Group(10**12, 10**9, 0), control_groups.Group(5 * 10**6, 4 * 10**6, 0)], 5 * 10**6, 10**6),
    ],
)
def test_the_smallest_limit_is_the_limit_and_the_least_free_is_what_is_free(
    monkeypatch: pytest.MonkeyPatch, limits: list[control_groups.Group], limit: int | None, group_free: int | None
) -> None:
    monkeypatch.setattr(control_groups, "groups", lambda: limits)
    found = probe.memory()
    assert found.limit == (limit or psutil.virtual_memory().total)
    assert found.group_free == group_free
    assert 0 < found.free <= psutil.virtual_memory().total
    assert found.available == min(found.free, found.limit, group_free if group_free is not None else found.limit)


def test_a_machine_adds_up(tmp_path: Path) -> None:
    machine = probe.probe(tmp_path, isa="avx2")
    assert machine.cores >= 1
    assert machine.memory_rate > 1e8
    assert 0 < machine.memory.free <= machine.memory.limit
    assert machine.disk_free > 0
    assert machine.isa == "avx2"


def test_what_a_full_probe_found_is_used_and_memory_measured_all_the_same(tmp_path: Path) -> None:
    points = (DiskPoint(1 << 20, 1, True, 1e9), DiskPoint(1 << 20, 4, True, 2e9), DiskPoint(4 << 20, 4, True, 4e9))
    rates = Rates(1.0, 1, points, {4: 0.5}, {64: 3e11}, {"card": (1e10, 5e9, 2e11)})
    keep(tmp_path, fingerprint(tmp_path), on_battery(), rates)
    machine = probe.probe(tmp_path, isa="avx2", kept=tmp_path)
    assert (machine.disk_points, machine.products) == (points, {64: 3e11})
    assert machine.kernel_shares == rates.shares_at(machine.memory_rate)
    assert machine.memory_rate > 1e8
    assert machine.cores == 1
    assert 2e9 < machine.disk_rate < 4e9
    assert probe.probe(tmp_path, isa="avx2", disk_rate=7.0, kept=tmp_path).disk_points == points
    assert not probe.probe(tmp_path, isa="avx2", kept=tmp_path / "elsewhere").disk_points


def test_what_a_kernel_adds_to_memorys_time_for_a_byte_is_the_same_whatever_memorys_rate() -> None:
    rates = Rates(4e10, 1, (), {4: 0.8, 8: 1.1})
    assert rates.shares_at(4e10) == pytest.approx({4: 0.8, 8: 1.0})
    added = 1 / (0.8 * 4e10) - 1 / 4e10
    for now in (1e10, 8e10):
        shares = rates.shares_at(now)
        assert 1 / (shares[4] * now) == pytest.approx(1 / now + added)
        assert shares[8] == 1.0


def test_a_disk_that_is_slower_than_when_it_was_probed_is_expected_to_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = DiskPoint(1 << 20, 2, True, 1e9)
    points = (DiskPoint(1 << 20, 4, True, 2e9), DiskPoint(8 << 20, 4, True, 4e9))
    keep(tmp_path, fingerprint(tmp_path), on_battery(), Rates(1.0, 1, points))
    monkeypatch.setattr(disk_speed, "quickly", lambda file: now)
    assert probe.probe(tmp_path, isa="avx2", kept=tmp_path).disk_rate_at(8 << 20) == 2e9
    assert probe.probe(tmp_path, isa="avx2").disk_rate_at(8 << 20) == 1e9
    known = look(tmp_path, fingerprint(tmp_path), on_battery()).rates
    assert known is not None
    assert [point.rate for point in known.disk_points] == [1e9, 2e9]
    assert probe.probe(tmp_path, isa="avx2", disk_rate=7.0, kept=tmp_path).disk_points == known.disk_points


def test_short_looks_at_a_disk_that_swings_add_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is off by a tenth as often as not, one way or the other; together they are not, and a disk that has become
    slower for good is soon taken for what it is."""
    place, power, chance = fingerprint(tmp_path), on_battery(), random.Random(7)
    keep(tmp_path, place, power, Rates(3e10, 1, (DiskPoint(1 << 20, 2, True, 2e9), DiskPoint(8 << 20, 2, True, 4e9))))
    rate = 2e9
    monkeypatch.setattr(compute_speed, "quickly", lambda threads: 3e10 * chance.lognormvariate(0, 0.1))
    monkeypatch.setattr(
        disk_speed, "quickly", lambda file: DiskPoint(1 << 20, 2, True, rate * chance.lognormvariate(0, 0.11))
    )
    seen = [probe.probe(tmp_path, isa="avx2", kept=tmp_path) for _ in range(200)]
    for found in ([m.disk_rate_at(8 << 20) / 4e9 for m in seen], [m.memory_rate / 3e10 for m in seen]):
        assert fmean(found) == pytest.approx(1.0, abs=0.02)
        assert pstdev(found) < 0.075
    rate = 1.5e9
    assert probe.probe(tmp_path, isa="avx2", kept=tmp_path).disk_rate_at(8 << 20) < 3.9e9
    later = [probe.probe(tmp_path, isa="avx2", kept=tmp_path).disk_rate_at(8 << 20) for _ in range(20)][4:]
    assert fmean(later) == pytest.approx(3e9, rel=0.06)


def test_memory_that_others_read_for_a_moment_is_looked_at_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place, power = fingerprint(tmp_path), on_battery()

    def opened_at(*looks: float) -> float:
        keep(tmp_path, place, power, Rates(3e10, 1, (DiskPoint(1 << 20, 2, True, 2e9),)))
        rates = iter(looks)
        monkeypatch.setattr(compute_speed, "quickly", lambda threads: next(rates))
        found = probe.probe(tmp_path, isa="avx2", kept=tmp_path).memory_rate
        assert not list(rates)
        return found

    assert opened_at(2.7e10) == pytest.approx(2.846e10, rel=0.01)
    assert opened_at(1e10, 2.7e10, 3.1e10) == pytest.approx(2.846e10, rel=0.01)
    assert opened_at(1e10, 1.2e10, 3.1e10) == 1.2e10  # for good


def test_cards_get_the_rates_that_were_measured_of_them() -> None:
    machine = Machine(
        cores=1,
        memory=Memory(GB, GB),
        memory_rate=1e9,
        disk_rate=1e9,
        disk_free=GB,
        gpus=(Gpu(name="card", total=4, free=3), Gpu(name="other", total=4, free=3)),
    )
    known = Rates(1.0, 1, (DiskPoint(1 << 20, 1, True, 1e9),), cards={"card": (1e10, 2e11)})
    assert probe.with_rates(machine, known).gpus == (
        Gpu(name="card", total=4, free=3, pinned=1e10, rate=2e11),
        Gpu(name="other", total=4, free=3),
    )


def test_what_this_process_weighs_grows_with_what_it_holds() -> None:
    before = probe.rss()
    held = bytearray(b"1" * (64 << 20))
    assert probe.rss() - before > 48 << 20
    assert probe.peak_rss() >= before + (48 << 20)
    del held


def test_the_peak_of_a_process_is_its_own_and_not_its_parents() -> None:
    held = bytearray(b"1" * (400 << 20))  # besides what both import
    code = "from engine.hardware import probe; print(probe.rss(), probe.peak_rss())"
    out = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, encoding="utf-8"
    ).stdout
    now, peak = map(int, out.split())
    assert now <= peak < probe.rss()
    del held
