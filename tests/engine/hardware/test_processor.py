"""Cores, fast and slow, as Linux and Windows list them: on made-up computers."""

from __future__ import annotations

import struct
from pathlib import Path

from engine.hardware.processor import count_windows_cores, linux_cores, processor


def system(folder: Path, siblings: list[str], **files: str) -> Path:
    """/sys/devices of a computer whose thread n runs on the core with the threads siblings[n]."""
    for number, threads in enumerate(siblings):
        topology = folder / "system" / "cpu" / f"cpu{number}" / "topology"
        topology.mkdir(parents=True)
        (topology / "core_cpus_list").write_text(threads + "\n", encoding="utf-8")
    for name, text in files.items():
        file = folder / name.replace("__", "/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text + "\n", encoding="utf-8")
    return folder


def test_two_threads_of_one_core_are_one_core(tmp_path: Path) -> None:
    root = system(tmp_path, ["0,4", "1,5", "2,6", "3,7"] * 2)
    assert linux_cores(set(range(8)), root) == (4, 4)
    assert linux_cores({0, 4, 1}, root) == (2, 2)


def test_intels_efficient_cores_are_not_fast_ones(tmp_path: Path) -> None:
    siblings = ["0-1", "0-1", "2-3", "2-3", "4", "5", "6", "7"]
    root = system(tmp_path, siblings, cpu_core__cpus="0-3", cpu_atom__cpus="4-7")
    assert linux_cores(set(range(8)), root) == (6, 2)
    assert linux_cores({4, 5}, root) == (2, 2)  # this process may use slow ones only: they are all it has


def test_cores_of_less_capacity_are_not_fast_ones(tmp_path: Path) -> None:
    root = system(tmp_path, ["0", "1", "2", "3"])
    for number, capacity in enumerate((1024, 1000, 446, 446)):
        (root / "system" / "cpu" / f"cpu{number}" / "cpu_capacity").write_text(f"{capacity}\n", encoding="utf-8")
    assert linux_cores({0, 1, 2, 3}, root) == (4, 2)


def test_a_system_that_says_nothing_is_not_guessed_at(tmp_path: Path) -> None:
    assert linux_cores({0, 1}, tmp_path) is None


def core(efficiency: int, relationship: int = 0) -> bytes:
    """One SYSTEM_LOGICAL_PROCESSOR_INFORMATION_EX with one group."""
    affinity = struct.pack("<QH6x", 0b11, 0)
    return struct.pack("<IIBB20xH", relationship, 48, 1, efficiency, 1) + affinity


def test_windows_tells_fast_cores_by_their_efficiency_class() -> None:
    entries = b"".join([core(1), core(1), core(0), core(0), core(0), core(0)])
    assert count_windows_cores(entries) == (6, 2)
    assert count_windows_cores(core(0) * 4) == (4, 4)


def test_other_entries_and_a_list_cut_short_are_passed_over() -> None:
    assert count_windows_cores(core(1) + core(1, relationship=3) + core(1)[:20]) == (1, 1)
    assert count_windows_cores(b"") is None
    assert count_windows_cores(struct.pack("<II", 0, 0) * 3) is None


def test_this_computer_adds_up() -> None:
    found = processor()
    assert found.name
    assert 1 <= found.performance <= found.physical <= found.logical
