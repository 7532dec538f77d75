"""Measure this computer: cores, memory within its control group, the store's disk, graphics cards."""

from __future__ import annotations

import contextlib
import mmap
import os
import random
import shutil
import sys
import time
from pathlib import Path

import psutil

from engine.hardware.machine import Gpu, Machine
from engine.store.disk import open_file

_BLOCK = 1 << 20
_CGROUP = Path("/sys/fs/cgroup")


def probe(disk: Path, *, isa: str, memory_rate: float | None = None, disk_rate: float | None = None) -> Machine:
    """This machine. disk: a file or folder on the disk that holds the store.

    Rates not given are measured (about 0.1 s for memory, up to 0.3 s for the disk, where `disk` is a file).
    """
    limit, free = memory()
    return Machine(
        cores=cores(),
        ram_limit=limit,
        ram_free=free,
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


def memory() -> tuple[int, int]:
    """(limit, free now) in bytes, both within the control group (v1 and v2) where there is one."""
    machine = psutil.virtual_memory()
    limit, free = int(machine.total), int(machine.available)
    for maximum, used, cache in _cgroups():
        if maximum < limit:
            limit = maximum
        free = min(free, max(0, maximum - used + cache))
    return limit, min(free, limit)


def rss() -> int:
    """Resident bytes of this process now."""
    return int(psutil.Process().memory_info().rss)


def peak_rss() -> int:
    """Most resident bytes this process has had."""
    if sys.platform == "win32":
        return int(psutil.Process().memory_info().peak_wset)
    import resource

    kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(kib if sys.platform == "darwin" else kib * 1024)


def _cgroups() -> list[tuple[int, int, int]]:
    """(limit, used, reclaimable page cache) of this process's control group and those around it."""
    found = []
    for path, files in _cgroup_folders():
        maximum = _number(path / files[0])
        used = _number(path / files[1])
        if maximum is not None and used is not None and maximum < 1 << 60:
            found.append((maximum, used, _page_cache(path)))
    return found


def _cgroup_folders() -> list[tuple[Path, tuple[str, str]]]:
    v1, v2 = ("memory.limit_in_bytes", "memory.usage_in_bytes"), ("memory.max", "memory.current")
    try:
        lines = Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines()
    except OSError:
        return []
    folders = []
    for line in lines:
        number, controllers, path = line.split(":", 2)
        if number == "0" and not controllers:
            root, files = _CGROUP, v2
        elif "memory" in controllers.split(","):
            root, files = _CGROUP / "memory", v1
        else:
            continue
        at = root / path.lstrip("/")
        folders += [(p, files) for p in (at, *at.parents) if p == root or root in p.parents]
    return folders


def _number(path: Path) -> int | None:
    try:
        return int(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):  # no such file, or the word "max": no limit here
        return None


def _page_cache(folder: Path) -> int:
    try:
        lines = (folder / "memory.stat").read_text(encoding="utf-8").splitlines()
    except OSError:
        return 0
    stat = dict(line.split() for line in lines if len(line.split()) == 2)
    return int(stat.get("inactive_file", stat.get("total_inactive_file", "0")))


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
