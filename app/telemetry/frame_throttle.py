"""Throttles how often a growing answer and the panels are painted, so that painting takes little of the processor.

What the window computes meanwhile is taken from the engine; docs/benchmarks.md has the figures.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

from PySide6.QtCore import QObject, QThread, Signal, Slot

from engine import protocol

MAX_CPU_SHARE = 0.01  # of what all cores can do that the window's thread may take while an answer streams
# Of MAX_CPU_SHARE, below which a faster interval has to stay: the share varies, and without it intervals would flicker.
SPEED_UP_MARGIN = 0.8
WINDOW_SECONDS = 1.5  # seconds over which the share is measured: one painting alone would say little


@dataclass(frozen=True)
class FrameIntervals:
    """Seconds. text: between two paintings of a growing answer. telemetry: between two snapshots for the panels."""

    text: float
    telemetry: float


# From the smoothest to what still reads as movement; each step saves a fifth to a third of the paintings.
INTERVALS = (
    FrameIntervals(0.1, 0.2),
    FrameIntervals(0.15, 0.4),
    FrameIntervals(0.2, 0.4),
    FrameIntervals(0.25, 0.6),
    FrameIntervals(0.3, 1.0),
)


class FrameThrottle(QObject):
    """Measures the processor time of its thread while an answer streams. changed: FrameIntervals to use from now on."""

    changed = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.intervals = INTERVALS[0]
        self._last: tuple[float, float] | None = None  # by the clock, and by this thread's own
        self._seconds = self._own = 0.0  # of answers since it was judged last: a short one is over before that

    @Slot(object)
    def take(self, telemetry: protocol.Telemetry) -> None:
        """Measure on each snapshot while an answer streams."""
        if not telemetry.generating:
            self._last = None
            return
        last, self._last = self._last, (time.perf_counter(), time.thread_time())
        if last is None:
            return
        self._seconds += self._last[0] - last[0]
        self._own += self._last[1] - last[1]
        if self._seconds >= WINDOW_SECONDS:
            share = self._own / self._seconds / max(1, QThread.idealThreadCount())
            self._seconds = self._own = 0.0
            self.judge(share)

    def judge(self, share: float) -> None:
        """Choose the intervals again, where the current ones took this share of all cores."""
        intervals = choose_intervals(self.intervals, share)
        if intervals != self.intervals:
            self.intervals = intervals
            self.changed.emit(intervals)


def choose_intervals(now: FrameIntervals, share: float) -> FrameIntervals:
    """The fastest intervals within MAX_CPU_SHARE, where `now` takes `share`; each painting costs the same."""
    for intervals in INTERVALS:
        if share * now.text / intervals.text <= (
            MAX_CPU_SHARE if intervals.text >= now.text else SPEED_UP_MARGIN * MAX_CPU_SHARE
        ):
            return intervals
    return INTERVALS[-1]
