"""How far something long is, how fast it goes, and how long it will still take."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from engine.hub.control import Wait

RATE_WINDOW = 20.0  # seconds that are looked back: over the ups and downs of disks, not over the first minute's


class RateEstimator:
    """Estimate a rate over the last WINDOW seconds, from what is done: bytes, or whatever is counted.

    What was done before the first `note` counts for nothing.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._seen: deque[tuple[float, int]] = deque()
        self._total = 0

    def note(self, done: int, total: int) -> None:
        """So much is done by now. With another total, or less done than before, something else has begun."""
        if total != self._total or (self._seen and done < self._seen[-1][1]):
            self._seen.clear()
            self._total = total
        now = self._clock()
        self._seen.append((now, done))
        while len(self._seen) > 2 and self._seen[1][0] <= now - RATE_WINDOW:
            self._seen.popleft()

    @property
    def rate(self) -> float:
        """Per second, over the window; 0 where nothing can be said yet."""
        if len(self._seen) < 2:
            return 0.0
        (start, before), (end, after) = self._seen[0], self._seen[-1]
        return (after - before) / (end - start) if end > start else 0.0

    @property
    def left(self) -> float | None:
        """Seconds until all is done; None where nothing can be said."""
        rate = self.rate
        return (self._total - self._seen[-1][1]) / rate if rate > 0 else None


WINDOW = 10.0  # seconds over which the rate is taken: steady enough to read, quick enough to believe
STEP = 0.25  # seconds between samples


@dataclass(frozen=True)
class DownloadProgress:
    """Bytes. rate: bytes a second now. eta: seconds still to go, None where nothing moves.

    waiting: what a file is waiting for and how long still; None while bytes of all arrive.
    """

    done: int
    total: int
    rate: float
    eta: float | None
    files_done: int
    files: int
    waiting: Wait | None = None


class Meter:
    """Counts what several files bring in; thread-safe."""

    def __init__(self, total: int, files: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._lock = threading.Lock()
        self._clock = clock
        self._total, self._files = total, files
        self._done = self._fetched = self._files_done = 0
        self._samples: deque[tuple[float, int]] = deque([(clock(), 0)])
        self._waiting: dict[str, Wait] = {}

    def had(self, nbytes: int) -> None:
        """So many bytes were here already; negative: they turned out to be wrong."""
        with self._lock:
            self._done += nbytes

    def fetched(self, name: str, nbytes: int) -> None:
        """So many bytes of a file have just arrived."""
        with self._lock:
            self._done += nbytes
            self._fetched += nbytes
            self._waiting.pop(name, None)
            self._sample()

    @property
    def done(self) -> int:
        """Bytes that are here."""
        with self._lock:
            return self._done

    def file_done(self) -> None:
        """One more file is whole."""
        with self._lock:
            self._files_done += 1

    def wait(self, name: str, wait: Wait) -> None:
        """Something is in a file's way; forgotten when its next byte arrives."""
        with self._lock:
            self._waiting[name] = wait

    def progress(self) -> DownloadProgress:
        """Right now."""
        with self._lock:
            self._sample()
            then, before = self._samples[0]
            passed = self._clock() - then
            rate = (self._fetched - before) / passed if passed > 0 else 0.0
            eta = (self._total - self._done) / rate if rate > 0 else None
            waiting = next(iter(self._waiting.values()), None)
            return DownloadProgress(self._done, self._total, rate, eta, self._files_done, self._files, waiting)

    def _sample(self) -> None:
        now = self._clock()
        if now - self._samples[-1][0] >= STEP:
            self._samples.append((now, self._fetched))
        while len(self._samples) > 2 and now - self._samples[1][0] >= WINDOW:
            self._samples.popleft()
