"""What a session tells the live panels."""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass

WINDOW = 2.0  # seconds over which speeds are taken


@dataclass(frozen=True)
class Snapshot:
    """The fields of api.Telemetry; see there."""

    activations: tuple[tuple[int, ...], ...]
    residency: tuple[tuple[int, ...], ...]
    layer_names: tuple[int, ...]
    hits: int
    misses: int
    bytes_read: int
    precision: dict[str, int]
    tokens: int
    tokens_per_second: float
    disk_bytes_per_second: float
    cache_bytes: int
    cache_capacity: int
    rss: int
    generating: bool
    why: str


class Rate:
    """Change per second of a counter over the last WINDOW seconds."""

    def __init__(self) -> None:
        self._seen: deque[tuple[float, int]] = deque()

    def add(self, value: int, now: float | None = None) -> float:
        """Note the counter's value now; returns its rate (0 until there are two values)."""
        now = time.monotonic() if now is None else now
        self._seen.append((now, value))
        while len(self._seen) > 2 and now - self._seen[0][0] > WINDOW:
            self._seen.popleft()
        (t0, v0), (t1, v1) = self._seen[0], self._seen[-1]
        return (v1 - v0) / (t1 - t0) if t1 > t0 else 0.0


def why(disk_share: float, tokens_per_second: float, misses_per_token: float, disk_rate: float) -> str:
    """One sentence on what limits the speed now.

    disk_share: part of the time spent waiting for reads. disk_rate: bytes per second.
    """
    if tokens_per_second <= 0:
        return "Idle."
    if disk_share > 0.5:
        return (
            f"Waiting for the disk: {misses_per_token:.1f} experts per token are not in memory and are read at "
            f"{disk_rate / 1e6:,.0f} MB/s. A larger expert cache or a faster dial would help."
        )
    if misses_per_token > 0:
        return (
            f"Mostly computing: {misses_per_token:.1f} experts per token are read from disk, "
            f"{100 * disk_share:.0f} % of the time goes into waiting for them."
        )
    return "Every expert needed is in memory; computing sets the pace."
