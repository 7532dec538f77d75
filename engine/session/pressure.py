"""Watches the system's memory beside an open model, and gives the expert cache what there is room for."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from engine.hardware import control_groups, pressure
from engine.hardware.budget import size
from engine.hardware.plan import FEW
from engine.hardware.pressure import Pressure, Reading
from engine.kernels.memory import trim_heap


@dataclass(frozen=True)
class Share:
    """What a plan gives an expert cache. Bytes. planned: its capacity; smallest: below which it must not be.

    lent: of these, what it gives back while `chunk` tokens are computed at once; token_bytes: less of it for each less.
    ceiling: on the whole process; None where nobody watches it.
    """

    planned: int
    smallest: int
    lent: int = 0
    chunk: int = 0
    token_bytes: int = 0
    ceiling: int | None = None

    def lent_to(self, tokens: int) -> int:
        """What it gives back while so many tokens are computed at once."""
        return 0 if tokens <= FEW else max(0, self.lent - max(0, self.chunk - tokens) * self.token_bytes)


class Room:
    """The capacity of an expert cache: what is planned, or less while a prompt or the system needs the memory.

    apply: told of every new capacity, on whatever thread changes it; lend: the same, where it is for a prompt. said:
    told in a sentence when the system had a part in it. Thread-safe.
    """

    def __init__(
        self,
        share: Share,
        held: Callable[[], int],
        apply: Callable[[int], None],
        lend: Callable[[int], None],
        said: Callable[[str], None],
    ) -> None:
        self._share = share
        self._held, self._apply, self._lend, self._said = held, apply, lend, said
        self._state = Pressure()
        self._lent = 0
        self._own = False  # whether it was this process itself that took more than was planned
        self._lock = threading.Lock()

    @property
    def sentence(self) -> str:
        """What is less than planned, and why; empty where nothing is."""
        limit = self._state.limit
        if limit is None:
            return ""
        planned = size(self._share.planned)
        if self._own:
            return f"Underhill took more than its ceiling allows, so {size(limit)} of experts are kept, not {planned}."
        return (
            f"This computer is short of memory, so {size(limit)} of experts are kept instead of {planned}; "
            "answers are slower until there is more."
        )

    def plan(self, share: Share, apply: Callable[[int], None]) -> None:
        """A new plan is in force. apply: makes it so, given the capacity."""
        with self._lock:
            apply(self._less_lent(self._allowed(share.planned), share.smallest))
            self._share = share

    def computing(self, tokens: int) -> None:
        """So many tokens go through the layers at once now. What a prompt was lent comes back with the first token."""
        lent = self._share.lent_to(tokens)
        if lent == self._lent or (tokens > FEW and lent < self._lent):  # the chunks of a prompt use the same memory
            return
        if not lent:
            trim_heap()
        with self._lock:
            self._lent = lent
            self._lend(self._less_lent(self._allowed(self._share.planned), self._share.smallest))

    def see(self, seen: Reading, now: float) -> None:
        """Follow what the system says."""
        planned, smallest = self._share.planned, self._share.smallest
        with self._lock:
            before = self._allowed(planned)
            ceiling = self._share.ceiling
            self._state = pressure.decide(self._state, seen, self._held(), planned, smallest, now, ceiling)
            self._own = (ceiling is not None and seen.own > ceiling) or (self._own and self._state.limit is not None)
            after = self._allowed(planned)
            if after != before:
                self._apply(self._less_lent(after, smallest))
        if after < before:
            self._said(self.sentence)
        elif after > before and after == planned:
            self._said(f"There is memory again: {size(after)} of experts are kept, as planned.")

    def _allowed(self, planned: int) -> int:
        return planned if self._state.limit is None else min(planned, self._state.limit)

    def _less_lent(self, allowed: int, smallest: int) -> int:
        return max(smallest, allowed - self._lent)


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
