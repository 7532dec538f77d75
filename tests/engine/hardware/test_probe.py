"""The probe: memory within control groups of both versions, rates that are rates, processes that weigh something."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import psutil
import pytest
import torch

from engine.hardware import probe
from engine.hardware.machine import Gpu

V1 = {
    "memory.limit_in_bytes": "1000000",
    "memory.usage_in_bytes": "700000",
    "memory.stat": "total_inactive_file 100000\n",
}
V2 = {"memory.max": "1000000", "memory.current": "700000", "memory.stat": "anon 5\ninactive_file 100000\n"}
UNLIMITED = {"memory.max": "max\n", "memory.current": "700000"}


def group(folder: Path, files: dict[str, str]) -> Path:
    folder.mkdir(parents=True)
    for name, text in files.items():
        (folder / name).write_text(text)
    return folder


@pytest.mark.parametrize("files", [V1, V2])
def test_a_control_groups_limit_is_the_limit(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, files: dict[str, str]
) -> None:
    folder = group(tmp_path / "mine", files)
    names = ("memory.limit_in_bytes", "memory.usage_in_bytes") if files is V1 else ("memory.max", "memory.current")
    monkeypatch.setattr(probe, "_cgroup_folders", lambda: [(folder, names)])
    assert probe.memory() == (1_000_000, 400_000)  # limit - used + what the kernel can drop


def test_no_limit_means_the_machines(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    folder = group(tmp_path / "mine", UNLIMITED)
    monkeypatch.setattr(probe, "_cgroup_folders", lambda: [(folder, ("memory.max", "memory.current"))])
    limit, free = probe.memory()
    assert limit == psutil.virtual_memory().total
    assert 0 < free <= limit


def test_outer_groups_count_too(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    outer = group(tmp_path / "a", V2)
    inner = group(tmp_path / "a" / "b", {"memory.max": "5000000", "memory.current": "100"})
    names = ("memory.max", "memory.current")
    monkeypatch.setattr(probe, "_cgroup_folders", lambda: [(inner, names), (outer, names)])
    assert probe.memory()[0] == 1_000_000


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
    assert 0 < machine.ram_free <= machine.ram_limit
    assert machine.disk_free > 0
    assert machine.isa == "avx2"


def test_what_this_process_weighs_grows_with_what_it_holds() -> None:
    before = probe.rss()
    held = bytearray(b"1" * (64 << 20))
    assert probe.rss() - before > 48 << 20
    assert probe.peak_rss() >= before + (48 << 20)
    del held
