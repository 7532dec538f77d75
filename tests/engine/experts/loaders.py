"""Both loaders over a disk that plays one, and what they have handed out."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import pytest

from engine.experts.loader import Loader
from engine.experts.loader_native import NativeLoader
from engine.experts.loader_threads import ThreadLoader
from engine.experts.request import Request, Urgency
from engine.kernels.choice import available
from engine.kernels.reads import Instead
from tests.engine.experts.slow_disk import SlowDisk, key
from tests.waiting import LONGEST

PAGE = 4096
Kind = Callable[[SlowDisk, int], Loader]


def threads(disk: SlowDisk, readers: int) -> Loader:
    """Chunks of a page, by threads of Python."""
    return ThreadLoader(disk, readers, PAGE)


def native(disk: SlowDisk, readers: int) -> Loader:
    """Chunks of a page, by native threads, which ask the disk's file for them."""
    disk.file.handle = 7

    def instead(file: int, offset: int, slices: Any, n: int, error: Any) -> int:
        assert file == 7
        arrays = [(ctypes.c_uint8 * slices[i].nbytes).from_address(slices[i].to) for i in range(n)]
        try:
            return disk.file.read(offset, [memoryview(array).cast("B") for array in arrays])
        except OSError as cause:
            error[0] = cause.errno
            return -1

    return NativeLoader(disk, readers, PAGE, Instead(instead))


KINDS = [
    threads,
    pytest.param(native, marks=pytest.mark.skipif(not available().native, reason="no native library")),
]


class Opened:
    """A loader over a disk. handed: the requests that it has handed out."""

    def __init__(self, loader: Loader, disk: SlowDisk) -> None:
        self.loader, self.disk = loader, disk
        self.handed: list[Request] = []

    def ask(self, expert: int, urgency: Urgency = Urgency.DEMAND, parts: tuple[int, ...] = (0, 1, 2)) -> Request:
        """A read of these parts of an expert."""
        return self.loader.submit(key(expert), parts, self.disk.views(parts), urgency)

    def until(self, *requests: Request) -> None:
        """Until these have been handed out."""
        while not set(requests) <= set(self.handed):
            handed = self.loader.wait()
            assert handed, "nothing is open any more"
            self.handed += handed

    def begun(self, chunks: int) -> None:
        """Until so many chunks have been begun."""
        for _ in range(chunks):
            assert self.disk.file.started.acquire(timeout=LONGEST)

    def close(self) -> None:
        """Whatever holds it up."""
        self.disk.file.before = None
        self.disk.file.gate.set()
        self.loader.close()
