"""Trying again after a while: longer each time, as long as the other side asks, and not for ever."""

from __future__ import annotations

import logging
import math
import random
import time
from collections.abc import Callable
from dataclasses import dataclass

from engine.hub.control import Control
from engine.hub.errors import HubError
from engine.translatable import Translatable, msg

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
