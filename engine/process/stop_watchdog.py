"""Sees that Stop comes to an end: where something holds the engine, it is ended, for what holds it may never let go."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

TICK = 0.1  # seconds between two looks
SILENT = 1.0  # seconds without any answer: something keeps Python's lock
STARTING = 15.0  # the same until a model was opened, and while one is: libraries are read from the disk under that lock
# Seconds in which the engine answers, but the answer that was stopped comes no further: a native call that never
# returns. The longest that do, a layer of a long prompt on a slow computer, take a few.
STILL = 15.0
STARVED = 0.2  # what a second counts where no processor is free: the engine gives way to other programs (`priority`)


class StopWatchdog:
    """Of one Stop. ask: for a sign of life; `answered` is called with what comes. end: kills, and says why."""

    def __init__(
        self, open_still: Callable[[], bool], patience: Callable[[], float], ask: Callable[[], None],
        end: Callable[[str], None], *, moves: bool,
    ) -> None:  # fmt: skip
        """open_still: the stopped command has not ended. patience: with silence, now. moves: signs of life change while
        it is worked on.
        """
        self._open_still, self._patience, self._ask, self._end, self._moves = open_still, patience, ask, end, moves
        self._life: object = None
        # Set by the thread that reads the pipe. No lock: what both threads write, a look that misses it sees 0.1 s
        # later.
        self._heard = threading.Event()
        self._news = self._over = False
        self._thread = threading.Thread(target=self._watch, name="engine-stop", daemon=True)

    def start(self) -> None:
        """Begin to watch."""
        self._thread.start()

    @property
    def over(self) -> bool:
        """Whether it watches no more. One that has yet to begin is not over."""
        return self._over

    def answered(self, life: object) -> None:
        """A sign of life."""
        self._news, self._life = self._news or life != self._life, life
        self._heard.set()

    def _watch(self) -> None:
        why = self._found()
        self._over = True
        if why is not None:
            self._end(why)

    def _found(self) -> str | None:
        """What there is to say against it, None once it has stopped."""
        silent = still = 0.0
        self._ask()
        before, processors = time.monotonic(), _Processors()
        while self._open_still():
            time.sleep(TICK)
            now = time.monotonic()
            passed, before = min(now - before, 2 * TICK), now  # the computer slept, or had no time for anyone
            passed *= STARVED + (1.0 - STARVED) * processors.free()
            if self._heard.is_set():
                self._heard.clear()
                silent = 0.0
                still = 0.0 if self._news else still + passed
                self._news = False
                self._ask()
            else:
                silent, still = silent + passed, still + passed
            if silent >= self._patience():
                return "It did not answer to Stop."
            if self._moves and still >= STILL:
                return "It answered, but what was to stop did not come any further."
        return None


class _Processors:
    """Share of the processors' time that was unused."""

    def __init__(self) -> None:
        import psutil  # no window needs it until an answer is stopped

        self._times = psutil.cpu_times
        self._before = self._times()

    def free(self) -> float:
        """Since the last call, from 0 to 1."""
        now = self._times()
        took = [after - before for after, before in zip(now, self._before, strict=True)]
        idle = now.idle - self._before.idle
        self._before = now
        return min(1.0, max(0.0, idle / sum(took))) if sum(took) > 0 else 1.0
