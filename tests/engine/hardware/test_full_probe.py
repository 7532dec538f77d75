"""The full probe: step by step to the end, stopped in between, and with nothing left behind."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engine.errors import Kind, UnderhillError
from engine.hardware import compute_speed, disk_speed
from engine.hardware.full_probe import Probe, probe_fully
from engine.hardware.rates import from_json

pytestmark = [pytest.mark.alone("measures disk and memory")]


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compute_speed, "MEMORY", 45 << 20)
    monkeypatch.setattr(compute_speed, "TURNS", 1)
    monkeypatch.setattr(compute_speed, "COUNTS", (2, 5))
    monkeypatch.setattr(compute_speed, "QUICK", 4 << 20)
    monkeypatch.setattr(disk_speed, "SIZES", (1 << 20, 2 << 20))
    monkeypatch.setattr(disk_speed, "DEPTHS", (1, 2))
    monkeypatch.setattr(disk_speed.points, "__defaults__", (0.005,))
    monkeypatch.setattr(disk_speed, "SIZE", 16 << 20)
    monkeypatch.setattr(disk_speed, "LEAST_FREE", 8 << 20)


def test_everything_is_measured_said_and_can_be_kept(tmp_path: Path) -> None:
    told: list[tuple[str, int, int]] = []
    rates = probe_fully(tmp_path, (), lambda *said: told.append(said))
    assert rates.memory_rate > 0
    assert rates.threads >= 1
    assert all(rates.products[tokens] > 0 for tokens in rates.products)
    assert set(rates.products) in ({2, 5}, set())  # none without native kernels
    assert {point.nbytes for point in rates.disk_points} == {1 << 20, 2 << 20}
    assert from_json(json.loads(json.dumps(rates.as_json()))) == rates
    assert {text for text, _, _ in told} >= {"Measuring memory", "Measuring processor", "Measuring disk"}
    assert told[-1][1] == told[-1][2]
    assert [done for _, done, _ in told] == sorted(done for _, done, _ in told)
    assert not list(tmp_path.iterdir())


def test_a_file_that_is_there_is_read_and_nothing_written(tmp_path: Path) -> None:
    (tmp_path / "data").write_bytes(b"x" * (20 << 20))
    probe = Probe(tmp_path, [tmp_path / "data"])
    while not probe.complete:
        probe.step()
        assert [file.name for file in tmp_path.iterdir()] == ["data"]
    assert probe.rates.disk_points


@pytest.mark.parametrize("at", [0, 3, 9])
def test_it_can_be_stopped_between_any_two_steps_and_leaves_nothing(tmp_path: Path, at: int) -> None:
    seen = 0

    def count(text: str, done: int, total: int) -> None:
        nonlocal seen
        seen += 1

    with pytest.raises(UnderhillError) as stopped:
        probe_fully(tmp_path, (), count, lambda: seen > at)
    assert stopped.value.kind is Kind.CANCELLED
    assert not list(tmp_path.iterdir())


def test_of_a_disk_that_is_too_full_everything_else_is_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disk_speed, "LEAST_FREE", 1 << 60)
    told: list[tuple[int, int]] = []
    rates = probe_fully(tmp_path, (), lambda text, done, total: told.append((done, total)))
    assert rates.memory_rate > 0
    assert not rates.disk_points
    assert "Not enough disk space" in rates.unread
    assert from_json(json.loads(json.dumps(rates.as_json()))) == rates
    assert told[-1][0] == told[-1][1]
    assert not list(tmp_path.iterdir())


def test_a_disk_that_fails_while_it_is_measured_is_an_error_of_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*args: object) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(disk_speed, "measure", fail)
    with pytest.raises(UnderhillError, match="Can't read the disk") as failed:
        probe_fully(tmp_path)
    assert failed.value.kind is Kind.DISK_ERROR
    assert not list(tmp_path.iterdir())
