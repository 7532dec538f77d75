"""The disk under a file: its read-ahead, which page faults follow, the system's file cache, and what it can read."""

from __future__ import annotations

import mmap
import os
import random
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from engine.store.disk import open_file

DROP = Path("/proc/sys/vm/drop_caches")
ALIGN = 4096
PIECE = 1 << 20  # a larger record is read in pieces of this size, several at once


def read_ahead_file(path: Path, root: Path = Path("/sys/dev/block")) -> Path:
    """Where the read-ahead of the disk under `path` is set, in KiB. Raises SystemExit where it cannot be."""
    device = os.stat(path).st_dev
    here = (root / f"{os.major(device)}:{os.minor(device)}").resolve()
    for folder in (here, here.parent):  # a partition has its disk's
        file = folder / "queue" / "read_ahead_kb"
        if file.exists():
            if not os.access(file, os.W_OK):
                raise SystemExit(f"{file} cannot be written to; this comparison needs an administrator's rights.")
            return file
    raise SystemExit(f"The read-ahead of the disk under {path} cannot be set: it is no block device.")


@contextmanager
def read_ahead(file: Path, kib: int) -> Iterator[None]:
    """This read-ahead as long as it lasts; then what it was."""
    before = int(file.read_text())
    try:
        file.write_text(str(kib))
        yield
    finally:
        file.write_text(str(before))


def drop_caches() -> None:
    """Make the system forget what it has read. Raises SystemExit where that is not allowed."""
    os.sync()
    try:
        DROP.write_text("3")
    except OSError as cause:
        raise SystemExit(f"{DROP} cannot be written to ({cause.strerror}); this comparison starts cold.") from cause


class DiskRoof:
    """How fast records of a size are read past the cache, several at once, at random places of some files."""

    def __init__(self, files: Sequence[Path], record: int, readers: int = 4) -> None:
        self._files = [open_file(path, direct=True) for path in files]
        self._piece = min(-(-record // ALIGN) * ALIGN, PIECE)
        self._buffers = [mmap.mmap(-1, self._piece) for _ in range(readers)]
        self._pool = ThreadPoolExecutor(readers)
        self._random = random.Random(0)

    def measure(self, seconds: float = 0.5) -> float:
        """Bytes per second."""
        start = time.perf_counter()
        seeds = [self._random.random() for _ in self._buffers]
        done = sum(self._pool.map(lambda b, seed: self._read(b, seed, start + seconds), self._buffers, seeds))
        return done / (time.perf_counter() - start)

    def _read(self, buffer: mmap.mmap, seed: float, end: float) -> int:
        places, done = random.Random(seed), 0
        with memoryview(buffer) as view:
            while time.perf_counter() < end:
                file = places.choice(self._files)
                at = places.randrange((file.size - self._piece) // ALIGN) * ALIGN
                done += file.read(at, [view])
        return done

    def close(self) -> None:
        """Release files and threads."""
        self._pool.shutdown()
        for file in self._files:
            file.close()
