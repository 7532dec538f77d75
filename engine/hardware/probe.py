"""Measure this computer: cores, memory within its control group, the store's disk, graphics cards."""

from __future__ import annotations

import contextlib
import mmap
import os
import random
import re
import shutil
import sys
import time
from pathlib import Path

import psutil

from engine.hardware import control_groups
from engine.hardware.machine import Gpu, Machine, Memory
from engine.store.disk import open_file

_BLOCK = 1 << 20


def probe(disk: Path, *, isa: str, memory_rate: float | None = None, disk_rate: float | None = None) -> Machine:
    """This machine. disk: a file or folder on the disk that holds the store.

    Rates not given are measured (about 0.1 s for memory, up to 0.3 s for the disk, where `disk` is a file).
    """
    return Machine(
        cores=cores(),
        memory=memory(),
        memory_rate=memory_rate or measure_memory(),
        disk_rate=disk_rate or measure_disk(disk),
        disk_free=shutil.disk_usage(disk).free,
        isa=isa,
        gpus=gpus(),
        os="windows" if sys.platform == "win32" else sys.platform,
    )


def cores() -> int:
    """Physical cores that this process may use."""
    physical = psutil.cpu_count(logical=False) or 1
    if hasattr(os, "sched_getaffinity"):
        return max(1, min(physical, len(os.sched_getaffinity(0))))
    return physical


def memory() -> Memory:
    """What there is and what is free, within the control groups (v1 and v2) too; the smallest of all wins."""
    machine = psutil.virtual_memory()
    groups = control_groups.groups()
    limit = min([int(machine.total), *(group.limit for group in groups)])
    return Memory(limit, int(machine.available), min((group.free for group in groups), default=None))


def rss() -> int:
    """Resident bytes of this process now."""
    return int(psutil.Process().memory_info().rss)


def peak_rss() -> int:
    """Most resident bytes this process has had."""
    if sys.platform == "win32":
        return int(psutil.Process().memory_info().peak_wset)
    if sys.platform.startswith("linux"):  # getrusage would count what the parent had when it started this process
        status = Path("/proc/self/status").read_text(encoding="ascii")
        found = re.search(r"^VmHWM:\s+(\d+) kB$", status, re.MULTILINE)
        if found:
            return int(found[1]) * 1024
    import resource

    kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(kib if sys.platform == "darwin" else kib * 1024)


def gpus() -> tuple[Gpu, ...]:
    """CUDA devices that can be used now, with their free memory; empty without CUDA."""
    import torch

    if not torch.cuda.is_available():
        return ()
    found = []
    for i in range(torch.cuda.device_count()):
        with contextlib.suppress(RuntimeError):  # a card that cannot be used now (held by another, driver in trouble)
            free, total = torch.cuda.mem_get_info(i)
            found.append(Gpu(torch.cuda.get_device_name(i), int(total), int(free)))
    return tuple(found)


def measure_memory() -> float:
    """Bytes per second that this process's compute threads together read in a stream; best of four."""
    import torch

    data = torch.ones(16 << 20)  # 64 MiB, beyond most caches
    best = float("inf")
    for _ in range(4):
        start = time.perf_counter()
        data.sum()
        best = min(best, time.perf_counter() - start)
    return data.numel() * 4 / best


def measure_disk(path: Path) -> float:
    """Bytes per second of 1 MiB reads at random places of a file, past the page cache where that is possible.

    A folder, or a file under 16 MiB, gives a cautious 500 MB/s: too little to measure.
    """
    if not path.is_file() or path.stat().st_size < 16 * _BLOCK:
        return 500e6
    try:
        file = open_file(path, direct=True)
    except OSError:  # this disk cannot: measured as it will be read
        file = open_file(path, direct=False)
    blocks = list(range(file.size // _BLOCK))
    random.Random(0).shuffle(blocks)
    read, start = 0, time.perf_counter()
    try:
        with mmap.mmap(-1, _BLOCK) as buffer, memoryview(buffer) as view:
            for block in blocks:
                read += file.read(block * _BLOCK, [view])
                if time.perf_counter() - start > 0.3:
                    break
    finally:
        file.close()
    return max(1, read) / (time.perf_counter() - start)
