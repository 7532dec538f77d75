"""What others take of the processor is seen, waited for, and kept out of what is measured. All clocks are played."""

from __future__ import annotations

import random
from collections import namedtuple
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest

from engine.hardware import load
from engine.hardware.load import Load, LoadWatch, turns, wait_for_quiet, working

pytestmark = pytest.mark.alone("looks at what other programs take of the processor")

Times = namedtuple("Times", "user nice system idle iowait steal guest guest_nice")


class Computer:
    """Two processors. Others take `busy` of both together, the host `steal`, and this process what it computes."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        self.now = self.own = self.others = self.stolen = self.stalled = 0.0
        self.busy = self.steal = 0.0
        self.chance = random.Random(5)
        self.pressure = tmp_path / "cpu"
        monkeypatch.setattr(load, "PRESSURE", self.pressure)
        monkeypatch.setattr(psutil, "cpu_times", self.times)
        monkeypatch.setattr(
            psutil, "Process", lambda: SimpleNamespace(cpu_times=lambda: SimpleNamespace(user=self.own, system=0.0))
        )
        for name, clock in (("monotonic", "now"), ("perf_counter", "now"), ("process_time", "own")):
            monkeypatch.setattr(load.time, name, lambda clock=clock: getattr(self, clock))
        monkeypatch.setattr(load.time, "sleep", self.sleep)

    def times(self) -> Times:
        idle = 2 * self.now - self.own - self.others - self.stolen
        return Times(self.own + self.others, 0.0, 0.0, idle, 0.0, self.stolen, 0.0, 0.0)

    def sleep(self, seconds: float, stalled: float = 0.0) -> None:
        self.now += seconds
        self.others += 2 * seconds * self.busy
        self.stolen += 2 * seconds * self.steal
        self.stalled += stalled
        self.pressure.write_text(
            f"some avg10=0.00 avg60=0.00 avg300=0.00 total={int(1e6 * self.stalled)}\n", encoding="utf-8"
        )

    def compute(self, seconds: float = 0.002) -> None:
        """Both threads for so long, or longer by what others take away meanwhile."""
        disturbed = self.chance.random() < 0.9 if self.busy else False
        self.now += seconds * (1 + (self.chance.uniform(0.5, 2.0) if disturbed else 0.0))
        self.own += 2 * seconds


@pytest.fixture
def computer(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Computer:
    return Computer(monkeypatch, tmp_path)


def test_others_and_the_host_count_and_what_this_process_does_itself_does_not(computer: Computer) -> None:
    watch = LoadWatch()
    computer.compute(0.5)
    assert not watch.load.busy
    computer.busy = 0.5
    computer.sleep(0.5)
    assert watch.load.others == pytest.approx(0.25)
    watch.again()
    computer.busy, computer.steal = 0.0, 0.3
    computer.sleep(1.0)
    assert watch.load.others == pytest.approx(0.3)
    assert watch.load.busy


def test_waiting_for_a_processor_counts_where_the_system_tells_of_it(computer: Computer) -> None:
    computer.sleep(0.1)
    watch = LoadWatch()
    computer.sleep(1.0, stalled=0.3)
    assert watch.load == Load(pytest.approx(0.0, abs=1e-6), pytest.approx(0.3))
    assert watch.load.busy
    computer.pressure.unlink()
    assert not LoadWatch().load.busy


def test_quiet_is_waited_for_and_not_for_ever(computer: Computer) -> None:
    computer.busy, looks = 0.8, []

    def waiting() -> None:
        looks.append(computer.now)
        if len(looks) == 3:
            computer.busy = 0.0

    assert not wait_for_quiet(10.0, waiting).busy
    assert len(looks) == 3
    computer.busy = 0.8
    began = computer.now
    found = wait_for_quiet(2.0)
    assert found.busy
    assert computer.now - began == pytest.approx(2.0, abs=load.LOOK)
    assert wait_for_quiet(1e9, cancelled=lambda: True).busy


@pytest.mark.parametrize("busy", [0.0, 0.5, 1.0])
def test_a_turn_is_as_long_as_by_itself_whatever_others_take(computer: Computer, busy: float) -> None:
    computer.busy = busy
    assert turns([computer.compute], 2, 8) == pytest.approx(0.002, rel=0.01)
    assert working(lambda: computer.compute(0.05), 2, 4) == pytest.approx(0.05, rel=0.01)


def test_without_one_undisturbed_turn_the_fastest_counts_and_the_search_ends(computer: Computer) -> None:
    taken = iter([0.004, 0.0031, *[0.004] * 1000])

    def alone() -> None:
        computer.now += (seconds := next(taken))
        computer.own += seconds  # one thread of two

    assert turns([alone], 2, 8) == pytest.approx(0.0031)
    assert computer.now < 2 * load.SEARCH
