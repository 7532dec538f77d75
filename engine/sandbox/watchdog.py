"""Ends processes that do not answer in time, or whose answer nobody wants any more: one thread for all calls."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

THREAD = "sandbox-deadline"  # name of the thread
POLL = 0.1  # seconds between two checks whether the caller was cancelled
LINGER = 5.0  # seconds that the thread waits for the next call before it ends


@dataclass(frozen=True)
class _Watched:
    """A wait under way. end: of time.monotonic. kill: told whether it came too late; else it was stopped."""

    end: float
    stopped: Callable[[], bool] | None
    kill: Callable[[bool], None]


class Watchdog:
    """A pipe's read has no time limit on Windows, so a thread kills the process that is read from, and the read ends.

    The thread stays for the next wait: starting one for each takes longer than most calls do, as whoever starts it
    waits until it runs. Watches one wait at a time.
    """

    def __init__(self) -> None:
        # Guards all below. A kill is decided and done under it, so that none comes once the wait is over.
        self._changed = threading.Condition()
        self._watched: _Watched | None = None
        self._thread: threading.Thread | None = None
        self._looks_at = 0.0  # when the thread looks next, if nothing wakes it

    @contextlib.contextmanager
    def watching(
        self, seconds: float, stopped: Callable[[], bool] | None, kill: Callable[[bool], None]
    ) -> Iterator[None]:
        """While this lasts `kill` is called, once, after so many seconds or soon after `stopped` becomes true."""
        with self._changed:
            self._watched = _Watched(time.monotonic() + seconds, stopped, kill)
            if self._thread is None:
                self._thread = threading.Thread(target=self._watch, name=THREAD, daemon=True)
                self._thread.start()
            elif self._looks_at > self._next_look(self._watched):
                self._changed.notify()
        try:
            yield
        finally:
            with self._changed:
                self._watched = None

    def _watch(self) -> None:
        with self._changed:
            try:
                self._look_until_idle()
            finally:  # the next wait starts another one
                self._thread = None

    def _look_until_idle(self) -> None:
        idle_until = time.monotonic() + LINGER
        while True:
            watched, now = self._watched, time.monotonic()
            if watched is not None and self._killed(watched, now):
                self._watched = watched = None
            if watched is not None:
                idle_until = now + LINGER
            elif now >= idle_until:
                return
            # A wait that is over wakes nobody: without this the thread would sleep on to what was its end.
            self._looks_at = idle_until if watched is None else min(self._next_look(watched), idle_until)
            self._changed.wait(max(0.0, self._looks_at - now))

    @staticmethod
    def _killed(watched: _Watched, now: float) -> bool:
        late = now >= watched.end
        if not late and not (watched.stopped is not None and watched.stopped()):
            return False
        watched.kill(late)
        return True

    @staticmethod
    def _next_look(watched: _Watched) -> float:
        return watched.end if watched.stopped is None else min(watched.end, time.monotonic() + POLL)
