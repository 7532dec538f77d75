"""Rate and remaining time of something long, from a sliding window."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable

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
