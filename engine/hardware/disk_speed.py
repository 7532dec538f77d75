"""How fast a disk gives random pieces of its files: by their size, how many are asked for at once, and past the cache
or through it."""

from __future__ import annotations

import os
import random
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from statistics import fmean

from engine.errors import Kind, UnderhillError
from engine.hardware.load import LoadWatch
from engine.hardware.machine import DiskPoint, level
from engine.hardware.rates import settled
from engine.native.memory import all_huge
from engine.record.layout import ALIGN
from engine.store.disk import DataFile, PosixFile, open_file
from engine.store.output import FULL
from engine.translatable import msg, system_reason

SIZES = (256 << 10, 1 << 20, 5 << 19, 8 << 20)  # bytes of a read; most experts have 1 to 3 MB
DEPTHS = (1, 2, 4)  # reads at once: more than the loader's threads would tell nothing of it
LEAST = 16 << 20  # bytes of files below which there is too little to measure
GUESS = 500e6  # bytes per second, cautious, where nothing could be measured
POINT = 0.2  # seconds a point
QUICK = (5 << 19, (2, 4))  # size and depths of a quick look
AGAIN = 2  # times more that a point is measured beside other programs; the best counts
ROUNDS = 2  # of it, over all depths: whatever the disk does meanwhile, each has its share of


def quickly(file: Path, seconds: float = 0.4) -> DiskPoint | None:
    """At a usual size and the better depth, past the file cache where the disk can. None where there is too little to
    measure: a folder, or a file under LEAST. Raises OSError where the file cannot be read."""
    if not file.is_file() or file.stat().st_size < LEAST:
        return None
    direct = can_go_direct(file)
    nbytes, depths = QUICK
    each = seconds / ROUNDS / len(depths)
    found: dict[int, list[float]] = {depth: [] for depth in depths}
    watch = LoadWatch()
    for _ in range(ROUNDS):
        for depth in depths:
            found[depth].append(measure([file], nbytes, depth, direct, each).rate)
    means = {depth: fmean(rates) for depth, rates in found.items()}
    if watch.load.busy:  # whoever reads has to wait for a processor, now and then
        for depth, rates in found.items():
            means[depth] = max(*rates, measure([file], nbytes, depth, direct, each).rate)
    return DiskPoint(nbytes, max(means, key=lambda depth: means[depth]), direct, level(means.values()))


def as_now(points: Sequence[DiskPoint], now: DiskPoint) -> tuple[DiskPoint, ...]:
    """What was measured before, all of it as much faster or slower as the disk is to be expected at the size of `now`,
    after this short look (see `settled`). As it was where nothing of that size was measured.
    """
    rates = [p.rate for p in points if (p.nbytes, p.direct) == (now.nbytes, now.direct)]
    if not rates:
        return tuple(points)
    then = level(rates)
    return tuple(replace(p, rate=p.rate * settled(then, now.rate) / then) for p in points)


def points(files: Sequence[Path], seconds: float = POINT) -> Iterator[DiskPoint]:
    """One after the other, direct ones first. Raises OSError."""
    for direct in (True, False) if can_go_direct(files[0]) else (False,):
        for nbytes in SIZES:
            for depth in DEPTHS:
                watch, found = LoadWatch(), measure(files, nbytes, depth, direct, seconds)
                for _ in range(AGAIN if watch.load.busy else 0):
                    found = max(found, measure(files, nbytes, depth, direct, seconds), key=lambda point: point.rate)
                yield found


def count(files: Sequence[Path]) -> int:
    """How many points there will be."""
    return len(SIZES) * len(DEPTHS) * (2 if can_go_direct(files[0]) else 1)


def can_go_direct(file: Path) -> bool:
    """Whether it can be read past the file cache."""
    try:
        open_file(file, direct=True).close()
    except OSError:
        return False
    return True


def measure(files: Sequence[Path], nbytes: int, depth: int, direct: bool, seconds: float) -> DiskPoint:
    """Read random pieces for so long. Through the cache: dropped from it first, and no piece twice. Raises OSError."""
    with ExitStack() as stack:
        opened = [open_file(path, direct) for path in files]
        for file in opened:
            stack.callback(file.close)
        pieces = _pieces(opened, nbytes)
        if not direct:
            for file in opened:
                # Windows has no such call: there what is read through the cache may come out of it.
                if isinstance(file, PosixFile):
                    file.forget(0, file.size)
        readers = _Readers(pieces, nbytes, seconds, again=direct)
        return DiskPoint(nbytes, depth, direct, readers.run(depth))


def _pieces(files: Sequence[DataFile], nbytes: int) -> list[tuple[DataFile, int]]:
    """Where to read; smaller files are read from their beginning. In a random order that is another one every time:
    what was read before may lie in a cache below the system's, as that of a virtual disk's host."""
    step = max(ALIGN, nbytes // ALIGN * ALIGN)
    found = [(file, at) for file in files for at in range(0, max(1, file.size - nbytes + 1), step)]
    random.shuffle(found)
    return found


class _Readers:
    """Threads that read the pieces in turn until time is up."""

    def __init__(self, pieces: list[tuple[DataFile, int]], nbytes: int, seconds: float, *, again: bool) -> None:
        self._pieces, self._nbytes, self._seconds, self._again = pieces, nbytes, seconds, again
        # Guards the next piece and the bytes read, which several threads count. Never held over a read.
        self._lock = threading.Lock()
        self._at = self._read = 0
        self._error: OSError | None = None

    def run(self, depth: int) -> float:
        """Bytes per second of `depth` threads."""
        buffers = [all_huge(self._nbytes).fill_(0) for _ in range(depth)]  # pages are there before the clock starts
        threads = [threading.Thread(target=self._go, args=(b.numpy().data,), daemon=True) for b in buffers]
        start = time.perf_counter()
        self._until = start + self._seconds
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if self._error is not None:
            raise self._error
        return max(1, self._read) / (time.perf_counter() - start)

    def _go(self, view: memoryview) -> None:
        try:
            while (piece := self._next()) is not None:  # one at least: on a busy computer time may be up by now
                file, offset = piece
                got = file.read(offset, [view])
                with self._lock:
                    self._read += got
                if time.perf_counter() >= self._until:
                    return
        except OSError as error:
            self._error = error

    def _next(self) -> tuple[DataFile, int] | None:
        with self._lock:
            if self._at >= len(self._pieces) and not self._again:
                return None
            piece = self._pieces[self._at % len(self._pieces)]
            self._at += 1
            return piece


SIZE = 512 << 20  # bytes
LEAST_FREE = 64 << 20  # below which nothing could be told from it
PART = 4  # at most this part of what is free
PIECE = 8 << 20  # bytes written, and looked at for a stop, at once


@contextmanager
def scratch_file(folder: Path, cancelled: Callable[[], bool] = lambda: False) -> Iterator[Path]:
    """A file of random bytes in `folder`, on the disk and not in the cache alone; removed whatever happens.

    Raises UnderhillError: DISK_FULL, DISK_ERROR where the folder cannot be written to, CANCELLED.
    """
    path: Path | None = None
    try:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            size = min(SIZE, shutil.disk_usage(folder).free // PART // PIECE * PIECE)
            if size < LEAST_FREE:
                raise _full(folder)
            fd, name = tempfile.mkstemp(".tmp", "underhill-probe-", folder)
            path = Path(name)
            with os.fdopen(fd, "wb", buffering=0) as file:
                for _ in range(size // PIECE):
                    if cancelled():
                        raise UnderhillError(Kind.CANCELLED, msg("Stopped."))
                    # Random, so that neither a file system that compresses nor a disk that stores equal blocks once
                    # gets away with reading less.
                    file.write(os.urandom(PIECE))
                os.fsync(file.fileno())
        except OSError as cause:
            raise _refused(folder, cause) from cause
        yield path
    finally:
        if path is not None:
            with suppress(OSError):
                path.unlink()


def _full(folder: Path) -> UnderhillError:
    return UnderhillError(
        Kind.DISK_FULL,
        msg("Not enough disk space in {folder} to measure it.", folder=folder),
        msg("Free {part} MB, then measure again.", part=PART * LEAST_FREE // 10**6),
    )


def _refused(folder: Path, cause: OSError) -> UnderhillError:
    if cause.errno in FULL:
        return _full(folder)
    return UnderhillError(
        Kind.DISK_ERROR,
        msg(
            "Can't measure the disk of {folder}: not writable ({strerror}).",
            folder=folder,
            strerror=system_reason(cause),
        ),
        msg("Choose a writable folder, or measure with a model stored there."),
    )
