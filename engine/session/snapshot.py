"""What a session tells the live panels."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

from engine.experts.runtime import ExpertRuntime
from engine.generation.messages import Snapshot
from engine.hardware import probe
from engine.hardware.machine import Machine

WINDOW = 2.0  # seconds over which speeds are taken


class Rate:
    """Change per second of a counter over the last WINDOW seconds."""

    def __init__(self) -> None:
        self._seen: deque[tuple[float, int]] = deque()

    def add(self, value: int, now: float) -> float:
        """Note the counter's value now; returns its rate (0 until there are two values)."""
        self._seen.append((now, value))
        while len(self._seen) > 2 and now - self._seen[0][0] > WINDOW:
            self._seen.popleft()
        (t0, v0), (t1, v1) = self._seen[0], self._seen[-1]
        return (v1 - v0) / (t1 - t0) if t1 > t0 else 0.0


class Watcher:
    """Reads the runtime's counters for the panels; counts tokens and their speed."""

    def __init__(self, runtime: ExpertRuntime, machine: Machine, *, native: bool) -> None:
        """native: whether native kernels compute."""
        self._runtime = runtime
        self._native = native
        self._machine = machine
        self._tokens = 0
        self._generating = False
        self._lock = threading.Lock()
        self._last: tuple[object, ...] = ()
        self._rates = Rate(), Rate(), Rate()

    @contextmanager
    def answering(self) -> Iterator[None]:
        """While an answer is being made."""
        self._runtime.telemetry.begin_answer()
        with self._lock:
            self._rates = Rate(), Rate(), Rate()
        self._generating = True
        try:
            yield
        finally:
            self._generating = False

    def token(self) -> None:
        """One token was decoded."""
        self._tokens += 1

    def snapshot(self) -> Snapshot | None:
        """A snapshot; None while nothing has changed since the last one."""
        with self._lock:
            seen = self._runtime.snapshot()
            cache = self._runtime.cache
            state = (self._generating, self._tokens, seen.hits, seen.misses, cache.nbytes, cache.capacity)
            if state == self._last:
                return None
            self._last = state
            now = time.monotonic()
            tokens, read, missed = (
                rate.add(value, now)
                for rate, value in zip(self._rates, (self._tokens, seen.bytes_read, seen.misses), strict=True)
            )
            if not self._generating:
                tokens = read = missed = 0.0
        return Snapshot(
            activations=seen.activations,
            residency=seen.residency,
            layer_names=seen.layers,
            hits=seen.hits,
            misses=seen.misses,
            bytes_read=seen.bytes_read,
            precision=seen.precision,
            tokens=self._tokens,
            tokens_per_second=tokens,
            disk_bytes_per_second=read,
            cache_bytes=cache.nbytes,
            cache_capacity=cache.capacity,
            rss=probe.rss(),
            generating=self._generating,
            why=why(
                min(1.0, read / self._machine.disk_rate), tokens, missed / tokens if tokens else 0.0, read, self._native
            )
            if self._generating
            else "Idle.",
        )


def why(
    disk_share: float, tokens_per_second: float, misses_per_token: float, disk_rate: float, native: bool = True
) -> str:
    """What limits the speed now, in a sentence; in two where the slower kernels have a part in it.

    disk_share: part of the disk's measured rate in use, 0 to 1. disk_rate: bytes per second being read.
    native: whether native kernels compute.
    """
    if tokens_per_second <= 0:
        return "Reading the prompt."
    slower = "" if native else " The slower torch kernels compute."
    if misses_per_token < 0.05:
        return f"Every expert needed is in memory; computing sets the pace.{slower}"
    missing = f"{misses_per_token:.1f} experts per token are not in memory and come from disk"
    if disk_share > 0.5:
        return f"Waiting for the disk: {missing} at {disk_rate / 1e6:,.0f} MB/s. A larger expert cache would help."
    return f"Mostly computing: {missing}, which takes {100 * disk_share:.0f} % of what the disk can give.{slower}"
