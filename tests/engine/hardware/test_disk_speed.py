"""The disk's rates: of real files, past the cache and through it, and of disks that will not."""

from __future__ import annotations

import contextlib
import errno
import os
from pathlib import Path

import pytest

from engine.errors import Kind, UnderhillError
from engine.hardware import disk_speed
from engine.hardware.disk_speed import DEPTHS, QUICK, SIZES, as_now, count, measure, points, quickly
from engine.hardware.machine import DiskPoint, Machine, Memory
from engine.store.disk import DataFile, open_file
from tests.waiting import LONGEST


@pytest.fixture
def big(tmp_path: Path) -> Path:
    file = tmp_path / "big"
    file.write_bytes(b"x" * (20 << 20))
    return file


def kind_of(file: Path) -> type[DataFile]:
    """The class that reads files on this system."""
    with contextlib.closing(open_file(file, direct=False)) as opened:
        return type(opened)


def test_a_quick_look_measures_a_file_and_says_nothing_where_there_is_too_little(big: Path, tmp_path: Path) -> None:
    found = quickly(big, 0.02)
    assert found is not None
    assert found.rate > 1e6
    assert found.nbytes == QUICK[0]
    assert found.depth in QUICK[1]
    small = tmp_path / "small"
    small.write_bytes(b"x")
    assert quickly(small) is None
    assert quickly(tmp_path) is None


def test_what_was_measured_before_is_as_much_slower_as_the_disk_is_now() -> None:
    size = QUICK[0]
    then = (DiskPoint(size, 2, True, 2e9), DiskPoint(size, 4, True, 3e9), DiskPoint(8 << 20, 4, True, 4e9))
    now = as_now(then, DiskPoint(size, 2, True, 1.5e9))
    assert [point.rate for point in now] == pytest.approx([1e9, 1.5e9, 2e9])
    swung = as_now(then, DiskPoint(size, 2, True, 3e9 / 1.21))
    assert [point.rate for point in swung] == pytest.approx([2e9 / 1.1, 3e9 / 1.1, 4e9 / 1.1])
    assert [(p.nbytes, p.depth, p.direct) for p in now] == [(p.nbytes, p.depth, p.direct) for p in then]
    assert as_now(then, DiskPoint(size, 2, False, 1e8)) == then


def test_every_size_and_depth_is_measured_both_ways(big: Path) -> None:
    found = list(points([big], seconds=0.005))
    assert len(found) == count([big]) == len({(p.nbytes, p.depth, p.direct) for p in found})
    assert {(p.nbytes, p.depth) for p in found} == {(n, d) for n in SIZES for d in DEPTHS}
    assert all(p.rate > 0 for p in found)


def test_through_the_cache_nothing_is_read_twice(big: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the second time would measure memory."""
    offsets: list[int] = []
    kind = kind_of(big)
    read = kind.read

    def note(self: DataFile, offset: int, buffers: list[memoryview]) -> int:
        offsets.append(offset)
        return read(self, offset, buffers)

    monkeypatch.setattr(kind, "read", note)
    measure([big], 1 << 20, 2, False, seconds=LONGEST)
    assert sorted(offsets) == [n << 20 for n in range(20)]


def test_a_disk_that_refuses_direct_reads_is_measured_without(big: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some file systems take O_DIRECT when a file is opened and refuse the read."""
    fcntl = pytest.importorskip("fcntl")
    read = os.preadv

    def refuse(fd: int, buffers: list[memoryview], offset: int) -> int:
        if fcntl.fcntl(fd, fcntl.F_GETFL) & os.O_DIRECT:
            raise OSError(errno.EINVAL, "Invalid argument")
        return read(fd, buffers, offset)

    monkeypatch.setattr(os, "preadv", refuse)
    found = quickly(big, 0.02)
    assert found is not None
    assert not found.direct
    assert {point.direct for point in points([big], seconds=0.005)} == {False}


def test_a_failing_read_is_an_error_and_not_a_slow_disk(big: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(self: object, offset: int, buffers: object) -> int:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(disk_speed, "can_go_direct", lambda file: False)
    monkeypatch.setattr(kind_of(big), "read", fail)
    with pytest.raises(OSError, match="Input/output"):
        measure([big], 1 << 20, 2, False, 1.0)


def test_between_two_sizes_the_rate_lies_between_theirs_and_beyond_them_it_is_the_last() -> None:
    sizes = (DiskPoint(1 << 20, 1, True, 1e9), DiskPoint(1 << 20, 4, True, 2e9), DiskPoint(4 << 20, 4, False, 4e9))
    machine = Machine(cores=2, memory=Memory(8, 8), memory_rate=1e10, disk_rate=5e8, disk_free=0, disk_points=sizes)
    assert machine.disk_rate_at(1 << 20) == machine.disk_rate_at(1000) == 2e9
    assert machine.disk_rate_at(2 << 20) == pytest.approx(8e18**0.5)
    assert machine.disk_rate_at(9 << 20) == 4e9
    assert (
        Machine(cores=2, memory=Memory(8, 8), memory_rate=1e10, disk_rate=5e8, disk_free=0).disk_rate_at(1 << 20) == 5e8
    )


def test_the_scratch_file_is_there_and_gone_afterwards_also_after_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disk_speed, "SIZE", 8 << 20)
    monkeypatch.setattr(disk_speed, "LEAST_FREE", 1 << 20)
    with contextlib.suppress(KeyError), disk_speed.scratch_file(tmp_path / "new") as file:
        assert file.stat().st_size == 8 << 20
        assert len(set(file.read_bytes()[: 1 << 16])) > 200  # a disk that packs zeros would look fast
        raise KeyError("on purpose")
    assert not list((tmp_path / "new").iterdir())


def test_a_full_disk_is_said_to_be_full_and_nothing_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disk_speed.shutil, "disk_usage", lambda folder: _Usage(10**6))
    with pytest.raises(UnderhillError, match="Not enough disk space") as refused, disk_speed.scratch_file(tmp_path):
        pass
    assert refused.value.kind is Kind.DISK_FULL

    def full(fd: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(disk_speed.shutil, "disk_usage", lambda folder: _Usage(10**12))
    monkeypatch.setattr(disk_speed, "SIZE", 8 << 20)
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(UnderhillError, match="Not enough disk space") as refused, disk_speed.scratch_file(tmp_path):
        pass
    assert refused.value.kind is Kind.DISK_FULL
    assert not list(tmp_path.iterdir())


def test_a_folder_that_cannot_be_written_to_is_said_to_be_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: object) -> None:
        raise PermissionError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(disk_speed.tempfile, "mkstemp", refuse)
    said = r"not writable \(Read-only"
    with pytest.raises(UnderhillError, match=said) as refused, disk_speed.scratch_file(tmp_path):
        pass
    assert refused.value.kind is Kind.DISK_ERROR


def test_writing_the_scratch_file_can_be_stopped(tmp_path: Path) -> None:
    with pytest.raises(UnderhillError) as stopped, disk_speed.scratch_file(tmp_path, lambda: True):
        pass
    assert stopped.value.kind is Kind.CANCELLED
    assert not list(tmp_path.iterdir())


class _Usage:
    def __init__(self, free: int) -> None:
        self.free = free
