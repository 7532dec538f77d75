"""A store as if it lay on another disk: on a RAM disk, or on one as slow as those on SATA."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

from engine.hardware.machine import GB

DISKS = ("own", "ram", "sata")
RAM = Path("/dev/shm")
SATA = 500_000_000  # bytes a second: what is left of its 6 Gbit/s
SPARE = 2 * GB  # of memory that is left to the system, beside the copy and what runs
THROTTLES = Path("/sys/fs/cgroup/blkio")  # of control groups of version 1
THROTTLE = "blkio.throttle.read_bps_device"


@contextmanager
def on_disk(disk: str, store: Path, room: int) -> Iterator[Path]:
    """The store, or its copy, on such a disk. room: bytes of memory that are needed beside it.

    Raises SystemExit, saying why, where it cannot be there.
    """
    if disk == "ram":
        with _in_memory(store, room) as copy:
            yield copy
    elif disk == "sata":
        with _throttled(store):
            yield store
    else:
        yield store


@contextmanager
def _in_memory(store: Path, room: int) -> Iterator[Path]:
    """Its memory is this process's, not that of who reads it under a limit."""
    nbytes = sum(file.stat().st_size for file in store.iterdir())
    if (free := psutil.virtual_memory().available) < nbytes + room + SPARE:
        raise SystemExit(
            f"A copy in memory needs {(nbytes + room + SPARE) / GB:.1f} GB; {free / GB:.1f} GB are free. "
            "Compare fewer presets, or a model with fewer layers."
        )
    with tempfile.TemporaryDirectory(prefix="underhill-", dir=RAM) as folder:
        yield Path(shutil.copytree(store, Path(folder) / store.name))


@contextmanager
def _throttled(store: Path) -> Iterator[None]:
    """This process and those that it starts read at most SATA bytes a second from the disk under the store."""
    if not (THROTTLES / THROTTLE).exists():
        raise SystemExit(f"{THROTTLES / THROTTLE} is missing: this needs control groups of version 1, which limit I/O.")
    group = THROTTLES / f"underhill-{os.getpid()}"
    device = os.stat(store).st_dev
    try:
        group.mkdir()
        (group / THROTTLE).write_text(f"{os.major(device)}:{os.minor(device)} {SATA}", encoding="utf-8")
    except OSError as cause:
        if group.is_dir():
            group.rmdir()
        raise SystemExit(f"Reading cannot be limited by {group} ({cause.strerror}).") from cause
    (group / "cgroup.procs").write_text(str(os.getpid()), encoding="utf-8")
    try:
        yield
    finally:
        (THROTTLES / "cgroup.procs").write_text(str(os.getpid()), encoding="utf-8")
        group.rmdir()  # what it started has ended: this is left last
