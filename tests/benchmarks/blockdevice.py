"""The disk under a file: its read-ahead, which page faults follow, the system's file cache, and what it can read."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median

from engine.hardware import disk_speed
from engine.record.layout import aligned

DROP = Path("/proc/sys/vm/drop_caches")
PIECES = (1 << 20, 2 << 20, 4 << 20)  # bytes, that a larger record may be read in
LARGEST = 8 << 20  # bytes read at once
READERS = (2, 4)
TRIALS, TRIAL = 3, 0.15  # of every way to read, and seconds of each


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
    before = int(file.read_text(encoding="utf-8"))
    try:
        file.write_text(str(kib), encoding="utf-8")
        yield
    finally:
        file.write_text(str(before), encoding="utf-8")


def drop_caches() -> None:
    """Make the system forget what it has read. Raises SystemExit where that is not allowed."""
    os.sync()
    try:
        DROP.write_text("3", encoding="utf-8")
    except OSError as cause:
        raise SystemExit(f"{DROP} cannot be written to ({cause.strerror}); this comparison starts cold.") from cause


class DiskRoof:
    """How fast records of a size are read past the cache, several at once, at random places of some files.

    In whole records or in pieces, by two readers or four: what is fastest at the start is measured from then on.
    """

    def __init__(self, files: Sequence[Path], record: int) -> None:
        self._files = files
        whole = min(aligned(record), LARGEST)
        ways = [(piece, readers) for piece in sorted({whole, *(p for p in PIECES if p < whole)}) for readers in READERS]
        rates: dict[tuple[int, int], list[float]] = {way: [] for way in ways}
        for _ in range(TRIALS):
            for self.way in ways:
                rates[self.way].append(self.measure(TRIAL))
        self.way = max(rates, key=lambda way: median(rates[way]))

    def measure(self, seconds: float = 0.5) -> float:
        """Bytes per second."""
        return disk_speed.measure(self._files, *self.way, direct=True, seconds=seconds).rate
