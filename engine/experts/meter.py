"""How long the disk was busy, and with what."""

from __future__ import annotations

from dataclasses import dataclass

from engine.experts.request import Urgency


@dataclass(frozen=True)
class Load:
    """Reads of one urgency. bytes: read, whatever became of their request. seconds: with at least one under way."""

    bytes: int
    seconds: float


@dataclass(frozen=True)
class Loads:
    """Since the loader was made. by_urgency: what a chunk was read as. busy: seconds with any read under way.
    seconds: in all."""

    by_urgency: dict[Urgency, Load]
    busy: float
    seconds: float

    @property
    def busy_share(self) -> float:
        """Of the time, 0 to 1."""
        return self.busy / self.seconds if self.seconds else 0.0


class Meter:
    """Adds up the time in which at least one of something is under way. Times by time.perf_counter."""

    __slots__ = ("_seconds", "_since", "bytes", "count")

    def __init__(self) -> None:
        self.bytes = 0
        self.count = 0  # under way
        self._seconds = self._since = 0.0

    def begin(self, now: float) -> None:
        """One more is under way."""
        if not self.count:
            self._since = now
        self.count += 1

    def end(self, now: float, nbytes: int) -> None:
        """One less, and it brought so many bytes."""
        self.count -= 1
        self.bytes += nbytes
        if not self.count:
            self._seconds += now - self._since

    def seconds(self, now: float) -> float:
        """Up to now."""
        return self._seconds + (now - self._since if self.count else 0.0)
