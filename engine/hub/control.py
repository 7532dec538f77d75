"""Pausing, resuming, stopping and retrying a download, from another thread and while it waits for the network."""

from __future__ import annotations

import contextlib
import logging
import math
import random
import socket
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import httpx2

from engine.errors import Kind, UnderhillError
from engine.hub.errors import HubError
from engine.translatable import Translatable, msg


class Control:
    """One download's. Every method may be called from any thread."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._paused = False
        self._stopped = False
        self._open: set[httpx2.Response] = set()
        self.pauses = 0  # so far: what fails while one begins, even one that is over, fails because of it

    def pause(self) -> None:
        """Close the connections and wait; what has arrived stays."""
        with self._changed:
            self._paused = True
            self.pauses += 1
            self._hang_up()

    def resume(self) -> None:
        """Go on after a pause."""
        with self._changed:
            self._paused = False
            self._changed.notify_all()

    def cancel(self) -> None:
        """End it. What has arrived stays, for another download of the same model."""
        with self._changed:
            self._stopped = True
            self._hang_up()
            self._changed.notify_all()

    @property
    def paused(self) -> bool:
        """Whether it waits for `resume`."""
        return self._paused

    @property
    def stopped(self) -> bool:
        """Whether it was cancelled."""
        return self._stopped

    @property
    def interrupted(self) -> bool:
        """Whether nothing is to be fetched right now."""
        return self._paused or self._stopped

    def hold(self) -> None:
        """Wait while paused. Raises UnderhillError(CANCELLED)."""
        with self._changed:
            self._changed.wait_for(lambda: self._stopped or not self._paused)
            self._check()

    def sleep(self, seconds: float) -> None:
        """Wait so long, or until there is something else to do. Raises UnderhillError(CANCELLED)."""
        with self._changed:
            self._changed.wait_for(lambda: self._stopped or self._paused, seconds)
            self._check()

    @contextlib.contextmanager
    def during(self, response: httpx2.Response) -> Iterator[None]:
        """While this is being read, pausing and cancelling hang up on it."""
        with self._changed:
            self._open.add(response)
            if self.interrupted:
                self._hang_up()
        try:
            yield
        finally:
            with self._changed:
                self._open.discard(response)

    def _check(self) -> None:
        if self._stopped:
            raise UnderhillError(
                Kind.CANCELLED, msg("The download was stopped."), msg("Start it again to continue where it stopped.")
            )

    def _hang_up(self) -> None:
        """Wake whoever waits for bytes. Closing from here would not wake them; shutting the connection down does."""
        for response in self._open:
            stream = response.extensions.get("network_stream")
            connection = stream.get_extra_info("socket") if stream is not None else None
            if connection is not None:
                with contextlib.suppress(OSError):
                    # past TLS, whose own shutdown would take its state from under whoever reads
                    socket.socket.shutdown(connection, socket.SHUT_RDWR)


_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class RetryPolicy:
    """Exponential back-off. first: seconds before the second try; doubled each time up to `most`.

    tries: in a row without a new byte.
    """

    first: float = 1.0
    most: float = 30.0
    tries: int = 7
    longest: float = 600.0  # seconds; who asks for more than that is told to the user instead


@dataclass(frozen=True)
class Wait:
    """reason: what is in the way, a sentence. left: whole seconds until the next try; 0 while it is under way.

    number: which wait of one thing this is, from 1: that it counts down makes no other of it.
    """

    reason: Translatable
    left: int
    number: int = 1

    def __str__(self) -> Translatable:
        """For a person."""
        return (
            msg("{reason} Trying again in {left} s.", reason=self.reason, left=f"{self.left:d}")
            if self.left
            else msg("{reason} Trying again.", reason=self.reason)
        )


class Retry:
    """The tries of one thing. tell: hears what is waited for, every second of it, and when the next try begins."""

    def __init__(
        self,
        retry_policy: RetryPolicy,
        control: Control,
        tell: Callable[[Wait], object],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._retry_policy, self._control, self._tell, self._clock = retry_policy, control, tell, clock
        self._waits = 0
        self._failed = 0

    def moved(self) -> None:
        """There was a new byte: counting of failures begins anew."""
        self._failed = 0

    def after(self, error: HubError) -> None:
        """Wait before the next try, or raise: the error where there is none, CANCELLED."""
        self._failed += 1
        retry_policy = self._retry_policy
        asked = error.after or 0.0
        if not error.retry or self._failed >= retry_policy.tries or asked > retry_policy.longest:
            raise error
        pause = min(retry_policy.most, retry_policy.first * 2 ** (self._failed - 1))
        # apart from each other, so that several files do not come back all at once
        pause = max(asked, pause * random.uniform(0.8, 1.2))
        self._waits += 1
        _log.warning("Trying again in %.1f s, %d in a row failed: %s", pause, self._failed, error.kind)
        until = self._clock() + pause
        while (left := until - self._clock()) > 0 and not self._control.interrupted:
            self._tell(Wait(error.sentence, max(1, math.floor(left + 0.5)), self._waits))
            self._control.sleep(min(1.0, left))
        if not self._control.interrupted:
            self._tell(Wait(error.sentence, 0, self._waits))
