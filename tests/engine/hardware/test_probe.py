"""The probe: memory within control groups of both versions, rates that are rates, processes that weigh something."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
import torch

from engine.hardware import control_groups, probe
from engine.hardware.machine import Gpu


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


def test_the_disk_rate_of_a_real_file_is_measured_and_a_small_one_guessed(tmp_path: Path) -> None:
    big = tmp_path / "big"
    big.write_bytes(b"x" * (20 << 20))
    assert probe.measure_disk(big) > 1e6
    small = tmp_path / "small"
    small.write_bytes(b"x")
    assert probe.measure_disk(small) == probe.measure_disk(tmp_path) == 500e6


def test_a_disk_that_refuses_direct_reads_is_measured_without(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Some file systems take O_DIRECT when a file is opened and refuse the read."""
    fcntl = pytest.importorskip("fcntl")
    read = os.preadv

    def refuse(fd: int, buffers: list[memoryview], offset: int) -> int:
        if fcntl.fcntl(fd, fcntl.F_GETFL) & os.O_DIRECT:
            raise OSError(errno.EINVAL, "Invalid argument")
        return read(fd, buffers, offset)

    monkeypatch.setattr(os, "preadv", refuse)
    big = tmp_path / "big"
    big.write_bytes(b"x" * (20 << 20))
    assert probe.measure_disk(big) > 1e6


def test_a_card_that_cannot_be_used_now_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def memory(index: int) -> tuple[int, int]:
        if index == 0:
            raise RuntimeError("CUDA error: all CUDA-capable devices are busy or unavailable")
        return 3, 4

    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda index: f"card {index}")
    monkeypatch.setattr(torch.cuda, "mem_get_info", memory)
    assert probe.gpus() == (Gpu("card 1", 4, 3),)


def test_a_machine_adds_up(tmp_path: Path) -> None:
    machine = probe.probe(tmp_path, isa="avx2")
    assert machine.cores >= 1
    assert machine.memory_rate > 1e8
    assert 0 < machine.memory.free <= machine.memory.limit
    assert machine.disk_free > 0
    assert machine.isa == "avx2"


def test_what_this_process_weighs_grows_with_what_it_holds() -> None:
    before = probe.rss()
    held = bytearray(b"1" * (64 << 20))
    assert probe.rss() - before > 48 << 20
    assert probe.peak_rss() >= before + (48 << 20)
    del held


def test_the_peak_of_a_process_is_its_own_and_not_its_parents() -> None:
    held = bytearray(b"1" * (400 << 20))
    code = "from engine.hardware import probe; print(probe.rss(), probe.peak_rss())"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    now, peak = map(int, out.split())
    assert now <= peak < len(held)
