"""Whether prefetching pays, by what it cost and what it brought."""

from __future__ import annotations

from collections.abc import Callable

# Layer calls after which cost and benefit are compared: 5 to 10 tokens, so that one odd token decides nothing.
WINDOW = 256
FIRST_BACKOFF = 512  # layer calls; doubled every time it did not pay again
LONGEST_BACKOFF = 1 << 16  # layer calls: some minutes, after which the disk or the text may be others
WASTE = 0.5  # of the time a wasted read took: demands waited for its last chunks, and what it pushed out may come again
OVERRATED = 0.7  # of the time a read took is saved if it came early: hits would have been computed meanwhile


def gain(early: int, wasted: int, spent: float, rate: float) -> float:
    """Seconds saved. early, wasted: bytes that were there in time, and that were read in vain. spent: seconds of the
    model's thread. rate: bytes per second that the disk brings."""
    return (OVERRATED * early - WASTE * wasted) / rate - spent


class PrefetchController:
    """Compares cost and benefit every WINDOW layer calls. width: share of what could be expected that is read, 0.25 to
    1. spent: seconds of the model's thread in this window, added to by Prefetcher. backoff: layer calls left without
    prefetch.
    """

    def __init__(self) -> None:
        self.spent = 0.0
        self.width = 1.0
        self.backoff = 0
        self._next_backoff = FIRST_BACKOFF
        self._calls = 0  # in this window
        self._before = 0, 0  # the balance at its beginning

    def called(self, balance: tuple[int, int], rate_of: Callable[[], float]) -> None:
        """Count a layer call with prefetch. balance: bytes in time and wasted so far. rate_of: bytes per second that
        the disk brings; 0: not known yet."""
        self._calls += 1
        if self._calls < WINDOW or (rate := rate_of()) <= 0:
            return
        before, spent = self._before, self.spent
        self._before, self.spent, self._calls = balance, 0.0, 0
        early, wasted = balance[0] - before[0], balance[1] - before[1]
        if gain(early, wasted, spent, rate) <= 0:
            # Doubled while it does not pay, reset by one window that does: text changes, disks seldom.
            self.backoff = self._next_backoff
            self._next_backoff = min(2 * self._next_backoff, LONGEST_BACKOFF)
            return
        self._next_backoff = FIRST_BACKOFF
        # Between the two bounds nothing changes, or the width would swing with every window.
        if wasted > early:
            self.width = max(0.25, self.width / 2)
        elif wasted < early / 2:
            self.width = min(1.0, self.width * 2)

    def passed(self, calls: int) -> None:
        """Count layer calls without prefetch."""
        self.backoff = max(0, self.backoff - calls)
