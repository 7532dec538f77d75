"""Watches the system's memory beside an open model, and gives the expert cache what there is room for."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from engine.hardware import control_groups, pressure
from engine.hardware.budget import size
from engine.hardware.pressure import Pressure, Reading


class Room:
    """The capacity of an expert cache: what is planned, or less while the system runs short of memory.

    apply: told of every new capacity, on whatever thread changes it. said: told in a sentence when the system had a
    part in it. Thread-safe.
    """

    def __init__(
        self,
        planned: int,
        smallest: int,
        held: Callable[[], int],
        apply: Callable[[int], None],
        said: Callable[[str], None],
    ) -> None:
        self._planned, self._smallest = planned, smallest
        self._held, self._apply, self._said = held, apply, said
        self._state = Pressure()
        self._lock = threading.Lock()

    @property
    def sentence(self) -> str:
        """What is less than planned, and why; empty where nothing is."""
        limit = self._state.limit
        if limit is None:
            return ""
        return (
            f"This computer is short of memory, so {size(limit)} of experts are kept instead of {size(self._planned)}; "
            "answers are slower until there is more."
        )

    def plan(self, planned: int, smallest: int, apply: Callable[[int], None]) -> None:
        """A new plan is in force. apply: makes it so, given the capacity."""
        with self._lock:
            apply(self._allowed(planned))
            self._planned, self._smallest = planned, smallest

    def see(self, seen: Reading, now: float) -> None:
        """Follow what the system says."""
        with self._lock:
            before = self._allowed(self._planned)
            self._state = pressure.decide(self._state, seen, self._held(), self._planned, self._smallest, now)
            after = self._allowed(self._planned)
            if after != before:
                self._apply(after)
        if after < before:
            self._said(self.sentence)
        elif after > before and after == self._planned:
            self._said(f"There is memory again: {size(after)} of experts are kept, as planned.")

    def _allowed(self, planned: int) -> int:
        return planned if self._state.limit is None else min(planned, self._state.limit)


class PressureWatch:
    """A thread that looks every second; a look takes less than a millisecond."""

    def __init__(self, room: Room) -> None:
        self._room = room
        self._closed = threading.Event()
        self._files = tuple(control_groups.pressure_files())
        self._thread = threading.Thread(target=self._run, name="underhill-memory", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End the thread. Safe to call twice."""
        self._closed.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._closed.wait(pressure.PERIOD):
            self._room.see(pressure.read(self._files), time.monotonic())
