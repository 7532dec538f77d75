"""Whether reading ahead pays: seconds saved against seconds spent, and how long it rests where it does not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

WINDOW = 256  # layer calls after which the books are closed
FIRST_REST = 512  # layer calls; doubled every time it did not pay again
LONGEST_REST = 1 << 16
WASTE = 0.5  # of the time a wasted read took: demands waited for its last chunks, and what it pushed out may come again
OVERRATED = 0.7  # of the time a read took is saved if it came early: hits would have been computed meanwhile


@dataclass
class Books:
    """Seconds and bytes of one window. early: bytes that were there or read when they were asked for.

    wasted: bytes read for nothing. spent: seconds of the model's thread.
    """

    early: int = 0
    wasted: int = 0
    spent: float = 0.0
    calls: int = 0

    def gain(self, rate: float) -> float:
        """Seconds. rate: bytes per second that the disk brings."""
        return (OVERRATED * self.early - WASTE * self.wasted) / rate - self.spent


class Worth:
    """Closes the books every WINDOW layer calls. width: share of what could be expected that is read, 0.25 to 1."""

    def __init__(self) -> None:
        self.books = Books()
        self.width = 1.0
        self.resting = 0  # layer calls left
        self._rest = FIRST_REST

    def called(self, rate_of: Callable[[], float]) -> None:
        """One more layer call with reading ahead. rate_of: bytes per second that the disk brings; 0: not known yet."""
        self.books.calls += 1
        if self.books.calls < WINDOW or (rate := rate_of()) <= 0:
            return
        books, self.books = self.books, Books()
        if books.gain(rate) <= 0:
            self.resting = self._rest
            self._rest = min(2 * self._rest, LONGEST_REST)
            return
        self._rest = FIRST_REST
        if books.wasted > books.early:
            self.width = max(0.25, self.width / 2)
        elif books.wasted < books.early / 2:
            self.width = min(1.0, self.width * 2)

    def rested(self, calls: int) -> None:
        """So many layer calls went by without."""
        self.resting = max(0, self.resting - calls)
