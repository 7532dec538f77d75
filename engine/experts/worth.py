"""Whether reading ahead pays: seconds saved against seconds spent, and how long it rests where it does not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

WINDOW = 256  # layer calls after which the books are closed
FIRST_REST = 512  # layer calls; doubled every time it did not pay again
LONGEST_REST = 1 << 16
WASTE = 0.5  # of the time a wasted read took: demands waited for its last chunks, and what it pushed out may come again
OVERRATED = 0.7  # of the time a read took is saved if it came early: hits would have been computed meanwhile


class Balance(Protocol):
    """Who counts bytes: those that were there or read when they were asked for, and those read for nothing."""

    @property
    def balance(self) -> tuple[int, int]:
        """Both, so far."""


def gain(early: int, wasted: int, spent: float, rate: float) -> float:
    """Seconds. early, wasted: bytes as in Balance. spent: seconds of the model's thread. rate: bytes per second that
    the disk brings."""
    return (OVERRATED * early - WASTE * wasted) / rate - spent


class Worth:
    """Closes the books every WINDOW layer calls. width: share of what could be expected that is read, 0.25 to 1.

    spent: seconds of the model's thread in this window, for whoever reads ahead to add to.
    """

    def __init__(self) -> None:
        self.spent = 0.0
        self.width = 1.0
        self.resting = 0  # layer calls left
        self._rest = FIRST_REST
        self._calls = 0  # in this window
        self._before = 0, 0  # the balance at its beginning

    def called(self, bytes_of: Balance, rate_of: Callable[[], float]) -> None:
        """One more layer call with reading ahead. rate_of: bytes per second that the disk brings; 0: not known yet."""
        self._calls += 1
        if self._calls < WINDOW or (rate := rate_of()) <= 0:
            return
        now, before, spent = bytes_of.balance, self._before, self.spent
        self._before, self.spent, self._calls = now, 0.0, 0
        early, wasted = now[0] - before[0], now[1] - before[1]
        if gain(early, wasted, spent, rate) <= 0:
            self.resting = self._rest
            self._rest = min(2 * self._rest, LONGEST_REST)
            return
        self._rest = FIRST_REST
        if wasted > early:
            self.width = max(0.25, self.width / 2)
        elif wasted < early / 2:
            self.width = min(1.0, self.width * 2)

    def rested(self, calls: int) -> None:
        """So many layer calls went by without."""
        self.resting = max(0, self.resting - calls)
