"""Sees that Stop comes to an end: where something holds the engine, it is ended, for what holds it may never let go."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

TICK = 0.1  # seconds between two looks
SILENT = 1.0  # seconds without any answer: something keeps Python's lock
STARTING = 15.0  # the same until a model was opened, and while one is: libraries are read from the disk under that lock
STILL = (
    15.0  # seconds in which the engine answers, but the answer that was stopped comes no further: a native call that
)
# never returns. The longest that do, a layer of a long prompt on a slow computer, take a few.


class Supervisor:
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
        self._heard = threading.Event()
        self._news = False
        self._thread = threading.Thread(target=self._run, name="engine-stop", daemon=True)

    def start(self) -> None:
        """Begin to watch."""
        self._thread.start()

    @property
    def alive(self) -> bool:
        """Whether it still watches."""
        return self._thread.is_alive()

    def answered(self, life: object) -> None:
        """A sign of life."""
        self._news, self._life = self._news or life != self._life, life
        self._heard.set()

    def _run(self) -> None:
        silent = still = 0.0
        self._ask()
        before = time.monotonic()
        while self._open_still():
            time.sleep(TICK)
            now = time.monotonic()
            passed, before = min(now - before, 2 * TICK), now  # the computer slept, or had no time for anyone
            if self._heard.is_set():
                self._heard.clear()
                silent = 0.0
                still = 0.0 if self._news else still + passed
                self._news = False
                self._ask()
            else:
                silent, still = silent + passed, still + passed
            if silent >= self._patience():
                self._end("It did not answer to Stop.")
                return
            if self._moves and still >= STILL:
                self._end("It answered, but what was to stop did not come any further.")
                return
