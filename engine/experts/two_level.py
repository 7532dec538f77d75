"""Levels of memory over the disk: a device's pool over the host's (VRAM over RAM), or the host's alone.

Experts live in one level at a time. A hit in the lower one moves up when room can be made there (promotion), and who
has to leave the upper one moves down (demotion), so the two capacities add up. What cannot move up is used where it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NamedTuple

from engine.experts.buffers import Buffer
from engine.experts.cache import ExpertCache
from engine.experts.entry import Entry, Lease, Reservation
from engine.experts.keys import ExpertKey
from engine.experts.level import Level
from engine.experts.policies import Visit


@dataclass
class LevelCounts:
    """What happened at one level. hits: leases found there; arrivals: experts that came there from disk.

    promotions: moved up from here; demotions: moved down from here; dropped: evicted to nowhere (a native table
    does not count them).
    """

    hits: int = 0
    arrivals: int = 0
    promotions: int = 0
    demotions: int = 0
    dropped: int = 0


class Arrival(NamedTuple):
    """An expert on its way from disk. views: where the disk shall write. staging: buffers on the way to a device."""

    level: int
    reservation: Reservation
    staging: tuple[Buffer, ...]

    @property
    def views(self) -> list[memoryview]:
        """One for each of reservation.parts."""
        return [b.view for b in self.staging or self.reservation.buffers if b.view is not None]

    @property
    def addresses(self) -> list[int]:
        """Where the views begin."""
        return [b.address for b in self.staging or self.reservation.buffers]


class TieredCache:
    """One or two levels, fastest first; the last is ordinary memory, which the disk reads into.

    A level whose table is native is alone, and has its own ways in from disk (NativeArrivals).
    """

    def __init__(self, levels: Sequence[Level]) -> None:
        if not 1 <= len(levels) <= 2:
            raise ValueError(f"{len(levels)} levels of memory; there are one or two")
        self._pools = tuple(level for level in levels if isinstance(level, ExpertCache))
        if len(levels) == 2 and len(self._pools) < 2:
            raise ValueError("a level whose table is native has to be the only one")
        self.levels: tuple[Level, ...] = tuple(levels)
        self.counts = tuple(LevelCounts() for _ in levels)
        for index, level in enumerate(self._pools):
            level.level = index
            level.evicted = self._demote if index + 1 < len(levels) else self._count_dropped

    @property
    def nbytes(self) -> int:
        """Bytes held in all levels."""
        return sum(level.nbytes for level in self.levels)

    @property
    def capacity(self) -> int:
        """Most bytes held in all levels."""
        return sum(level.capacity for level in self.levels)

    def residency(self) -> dict[ExpertKey, int]:
        """Every resident expert and the finest tier held anywhere."""
        merged: dict[ExpertKey, int] = {}
        for level in self.levels:
            for key, tier in level.residency().items():
                merged[key] = max(tier, merged.get(key, 0))
        return merged

    def places(self) -> dict[ExpertKey, int]:
        """Every resident expert and where it is: 1 in the last level, ordinary memory; 2 above that."""
        found: dict[ExpertKey, int] = {}
        for place, level in enumerate(reversed(self.levels), 1):
            found |= dict.fromkeys(level.residency(), place)
        return found

    def holds(self, key: ExpertKey, most: int | None = None) -> bool:
        """Whether it is resident at any tier, no finer than `most`."""
        return any(level.tier(key, most) for level in self.levels)

    def best(self, key: ExpertKey, most: int | None = None) -> int:
        """The finest tier held anywhere, no finer than `most`; 0: not resident."""
        found = self.levels[0].tier(key, most)
        for level in self.levels[1:]:
            found = max(found, level.tier(key, most))
        return found

    def routed(self, visit: Visit) -> None:
        """The layer that runs now, and what it uses: see policies.Policy.routed. Told before it is looked up."""
        for level in self.levels:
            level.routed(visit)

    def begin_sequence(self) -> None:
        """A new sequence begins."""
        for level in self.levels:
            level.begin_sequence()

    @contextmanager
    def aside(self) -> Iterator[None]:
        """The policies' records of the sequence are put aside while another one runs beside it."""
        records = [level.put_aside() for level in self.levels]
        try:
            yield
        finally:
            for level, own in zip(self.levels, records):
                level.bring_back(own)

    def protect(self, keys: Iterable[ExpertKey]) -> None:
        """These are expected to be used soon and leave last, until the next call."""
        expected = tuple(keys)
        for level in self.levels:
            level.protect(expected)

    def lookup(self, wants: Iterable[tuple[ExpertKey, int, int | None]]) -> dict[ExpertKey, Lease]:
        """Leases of those that are held at the tier wanted or finer, but no finer than the second one; see ExpertCache.

        The rest are misses.
        """
        left = {key: (tier, most) for key, tier, most in wants}
        found: dict[ExpertKey, Lease] = {}
        for level, counts in zip(self.levels, self.counts):
            for key, (tier, most) in list(left.items()):
                lease = level.lookup(key, tier, most)
                if lease is not None:
                    counts.hits += 1
                    found[key] = lease
                    del left[key]
        try:
            # Only now, when every hit is leased, may moving one up push another down.
            for key, lease in found.items():
                if lease.level > 0:
                    found[key] = self._promoted(lease) or lease
        except BaseException:
            for lease in found.values():
                lease.release()
            raise
        return found

    def reserve(self, key: ExpertKey, tier: int) -> Arrival | None:
        """Room for an expert that is to be read from disk; None when leases leave too little."""
        host = len(self._pools) - 1
        if host:
            partial = self._pools[host].lookup(key, 0)
            if partial is not None:
                (self._promoted(partial) or partial).release()
            reservation = self._pools[0].reserve(key, tier)
            if reservation is not None:
                staging = self._pools[host].borrow(tuple(b.nbytes for b in reservation.buffers), key)
                if staging is not None:
                    return Arrival(0, reservation, tuple(staging))
                self._pools[0].abandon(reservation)
        reservation = self._pools[host].reserve(key, tier)
        return None if reservation is None else Arrival(host, reservation, ())

    def commit(self, arrival: Arrival) -> Lease:
        """The views are filled: the expert is resident and leased."""
        self._came(arrival)
        return self._pools[arrival.level].commit(arrival.reservation)

    def place(self, arrival: Arrival) -> None:
        """The views are filled: the expert is resident, and nobody waits for it."""
        self._came(arrival)
        self._pools[arrival.level].place(arrival.reservation)

    def _came(self, arrival: Arrival) -> None:
        if arrival.staging:
            try:
                _copy(dict(zip(arrival.reservation.parts, arrival.staging)), arrival.reservation)
            except BaseException:
                self.abandon(arrival)
                raise
        self._return(arrival)
        self.counts[arrival.level].arrivals += 1

    def abandon(self, arrival: Arrival) -> None:
        """The views were not filled, and nobody writes to them any more."""
        self._return(arrival)
        self._pools[arrival.level].abandon(arrival.reservation)

    def _return(self, arrival: Arrival) -> None:
        if arrival.staging:
            self._pools[-1].give_back(arrival.staging)

    def _promoted(self, lease: Lease) -> Lease | None:
        """The same expert one level up, the lease below released; None when there is no room."""
        upper, lower = self._pools[lease.level - 1], self._pools[lease.level]
        if upper.tier(lease.key) >= lease.tier:
            return None
        reservation = upper.reserve(lease.key, lease.tier)
        if reservation is None:
            return None
        try:
            _copy(lease.held, reservation)
        except BaseException:
            upper.abandon(reservation)
            raise
        self.counts[lease.level].promotions += 1
        raised = upper.commit(reservation)
        lease.release()
        lower.remove(lease.key)
        return raised

    def _demote(self, entry: Entry) -> None:
        lower = self._pools[1]
        reservation = None if lower.tier(entry.key) >= entry.tier else lower.reserve(entry.key, entry.tier)
        if reservation is None:
            self.counts[0].dropped += 1
            return
        _copy(entry.held, reservation)
        lower.commit(reservation).release()
        self.counts[0].demotions += 1

    def _count_dropped(self, entry: Entry) -> None:
        self.counts[-1].dropped += 1


def _copy(parts: Mapping[int, Buffer], reservation: Reservation) -> None:
    for index, target in zip(reservation.parts, reservation.buffers):
        target.tensor.copy_(parts[index].tensor)
