"""Reads under way, by expert: whoever asked for one, whoever needs it takes it over."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterable, Sequence
from typing import Protocol

from engine.experts.entry import Lease
from engine.experts.keys import ExpertKey
from engine.experts.observer import Observer
from engine.experts.request import Urgency


class UnderWay(Protocol):
    """At most one read per expert, from the reservation of its room to its place in the cache.

    For the thread that runs the model: nothing becomes of a read that has ended before somebody asks (`take`,
    `settle`). Two kinds: Arrivals and NativeArrivals.

    turn: held by whoever has to find things as it left them, as a layer does until all it has demanded has come.
    Another thread that takes memory away waits for it: else what the layer waits for would be cancelled unknown to it.
    failed: reads that ended in an error while nobody waited for them.
    """

    failed: int
    turn: threading.RLock
    observer: Observer | None

    def coming(self, key: ExpertKey) -> int:
        """The tier at which an expert is on its way; 0: it is not."""

    @property
    def under_way(self) -> bool:
        """Whether anything is, or has come and nobody has asked yet."""

    def take_over(self, key: ExpertKey) -> bool:
        """Somebody waits for this expert, if it is on its way; False: it is not.

        It may be on its way to less than is wanted: then it has to be demanded again once it has come.
        """

    def demand(self, key: ExpertKey, tier: int) -> bool:
        """Somebody waits for this expert, which is not there at this tier nor on its way; False: there is no room."""

    def expect(self, key: ExpertKey, tier: int, urgency: Urgency = Urgency.PREFETCH) -> bool:
        """Somebody may need this expert, which is not there at this tier; False: it is on its way, or there is no room,
        the system's own memory included.

        Room is made as for what is demanded, by letting others go. Whoever demands it later takes the read over, and a
        read that fails is forgotten: it fails again for whoever needs it.
        """

    def expect_all(self, wanted: Sequence[tuple[ExpertKey, int]], room: int) -> list[tuple[ExpertKey, int]]:
        """`expect` the first of these that are not on their way, and so on until their bytes have used up the `room`,
        or there is no memory. Returns those that were begun, with their bytes."""

    def brought(self, key: ExpertKey) -> int:
        """Bytes of an expert under way that have been read or are being read."""

    def cancel(self, key: ExpertKey) -> int:
        """Nobody expects this expert any more, which is under way: read no more of it; returns what `brought` did.

        It is under way until what readers have in hand has come; whoever demands it before that reads it again.
        """

    def make_way(self) -> bool:
        """Cancel all that is on its way, for whoever waits has no room; False: there is nothing."""

    def take(self, awaited: Collection[ExpertKey]) -> list[tuple[ExpertKey, Lease | None]]:
        """Wait until one of these has ended, and take all of them that have; what else has ended is settled.

        None instead of a lease: the read was cancelled. Raises the UnderhillError of one that failed, and OUT_OF_MEMORY
        where none of them is on its way.
        """

    def come(self, awaited: Collection[ExpertKey]) -> list[tuple[ExpertKey, Lease | None]]:
        """As `take`, without waiting: of these those that have ended, perhaps none."""

    def settle(self) -> None:
        """Put what has ended in its place, without waiting."""

    def abandon(self, keys: Iterable[ExpertKey]) -> None:
        """Nobody needs these any more: cancel them; what a reader had in hand comes in all the same."""
