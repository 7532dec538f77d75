"""One level of memory for experts: mixed precisions in one byte budget, leases, and a policy that picks who leaves."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from engine.errors import Kind, UnderhillError
from engine.experts.buffers import Allocate, Buffer, BufferPool
from engine.experts.keys import ExpertKey
from engine.experts.policies import Policy
from engine.kernels.call import Planes
from engine.store.layout import ExpertSpec

SpecOf = Callable[[ExpertKey], ExpertSpec]


@dataclass(eq=False)
class Entry:
    """A resident (or arriving) expert. pins: leases and reservations that keep it from being evicted."""

    key: ExpertKey
    spec: ExpertSpec
    buffers: list[Buffer] = field(default_factory=list)
    pins: int = 0
    arriving: bool = False
    by_tier: dict[int, Planes] = field(default_factory=dict)

    @property
    def tier(self) -> int:
        """The finest tier held; 0: none yet."""
        return self.spec.layout.planes[len(self.buffers) - 1].tier if self.buffers else 0

    def planes(self, tier: int) -> Planes:
        """What a kernel needs to run it at `tier`."""
        if tier not in self.by_tier:
            self.by_tier[tier] = Planes(self.spec, tuple(b.tensor for b in self.buffers), tier)
        return self.by_tier[tier]


class Lease:
    """The right to use a resident expert until released, exactly once.

    tier: the finest held when it was given. level: of the cache that holds it (see TieredCache).
    """

    def __init__(self, cache: ExpertCache, entry: Entry) -> None:
        self.key = entry.key
        self.tier = entry.tier
        self.level = cache.level
        self._cache = cache
        self._entry: Entry | None = entry

    def planes(self, tier: int) -> Planes:
        """The expert at `tier`, no finer than `self.tier`. Raises RuntimeError after release."""
        if self._entry is None:
            raise RuntimeError(f"the lease of {self.key} was released")
        return self._entry.planes(tier)

    def release(self) -> None:
        """Give it back. Raises RuntimeError the second time."""
        entry, self._entry = self._entry, None
        if entry is None:
            raise RuntimeError(f"the lease of {self.key} was released twice")
        self._cache.unpin(entry)


@dataclass(frozen=True, eq=False)
class Reservation:
    """Room for the planes that an expert lacks, to be filled and then committed or abandoned.

    first_plane: the plane that buffers[0] holds. Lower planes that are resident stay usable meanwhile.
    """

    key: ExpertKey
    entry: Entry
    first_plane: int
    buffers: tuple[Buffer, ...]

    @property
    def nbytes(self) -> int:
        """Bytes to be read."""
        return sum(b.nbytes for b in self.buffers)


class ExpertCache:
    """Experts in the memory of one device. Thread-safe.

    capacity: bytes, buffers waiting for reuse included. least: bytes of the largest expert, below which no capacity
    is accepted. evicted: called with an entry that is about to leave, its buffers still valid (demotion). changed:
    called with an entry that holds more now, or that has gone (False). level: 0 is the fastest memory. lock: while it
    is held no expert comes or goes.
    """

    def __init__(
        self, capacity: int, policy: Policy, spec_of: SpecOf, least: int, allocate: Allocate | None = None
    ) -> None:
        self.least = least
        self._check(capacity)
        self.level = 0
        self.evicted: Callable[[Entry], None] | None = None
        self.changed: Callable[[Entry, bool], None] | None = None
        self.lock = threading.RLock()
        self._pool = BufferPool(capacity, allocate)
        self._policy = policy
        self._spec_of = spec_of
        self._entries: dict[ExpertKey, Entry] = {}

    @property
    def capacity(self) -> int:
        """Most bytes held."""
        return self._pool.capacity

    @property
    def nbytes(self) -> int:
        """Bytes held now, buffers waiting for reuse included."""
        return self._pool.total

    def tier(self, key: ExpertKey) -> int:
        """The finest tier of a resident expert; 0: not resident."""
        entry = self._entries.get(key)
        return entry.tier if entry else 0

    def residency(self) -> dict[ExpertKey, int]:
        """Every resident expert and its finest tier. Waits for nobody: the lock is held while a layer computes."""
        return {entry.key: entry.tier for entry in list(self._entries.values()) if entry.buffers}

    def entry(self, key: ExpertKey) -> Entry | None:
        """What is held of an expert, to be used under the lock only."""
        return self._entries.get(key)

    def used(self, keys: Iterable[ExpertKey]) -> None:
        """These experts of one layer, all resident, were used without a lease, under the lock."""
        self._policy.used_together(keys)

    def lookup(self, key: ExpertKey, tier: int) -> Lease | None:
        """A lease if the expert is resident at `tier` or finer; None is a miss. Tier 0 takes whatever is there."""
        with self.lock:
            entry = self._entries.get(key)
            if entry is None or not entry.buffers or entry.tier < tier:
                return None
            return self._lease(entry)

    def reserve(self, key: ExpertKey, tier: int) -> Reservation | None:
        """Room for what the expert lacks to reach `tier`, evicting as needed; None when leases leave too little.

        Raises RuntimeError when it is already arriving or lacks nothing, UnderhillError(OUT_OF_MEMORY).
        """
        with self.lock:
            entry = self._entries.get(key) or Entry(key, self._spec_of(key))
            missing = entry.spec.layout.planes_for(tier)[len(entry.buffers) :]
            if entry.arriving or not missing:
                raise RuntimeError(f"{key} at tier {tier} is already there or on its way")
            self._entries[key] = entry
            entry.pins += 1
            buffers: list[Buffer] = []
            try:
                for plane in missing:
                    buffer = self._take(plane.nbytes, key)
                    if buffer is None:
                        break
                    buffers.append(buffer)
            finally:
                entry.arriving = len(buffers) == len(missing)
                if not entry.arriving:
                    self._drop(entry, buffers)
            return Reservation(key, entry, missing[0].index, tuple(buffers)) if entry.arriving else None

    def commit(self, reservation: Reservation) -> Lease:
        """The buffers are filled: the expert is resident. Its reservation becomes a lease."""
        with self.lock:
            entry = self._arrived(reservation)
            entry.buffers.extend(reservation.buffers)
            if self.changed is not None:
                self.changed(entry, True)
            lease = self._lease(entry)
            self.unpin(entry)
            return lease

    def abandon(self, reservation: Reservation) -> None:
        """The buffers were not filled, and nobody writes to them any more: take them back."""
        with self.lock:
            self._drop(self._arrived(reservation), reservation.buffers)

    def remove(self, key: ExpertKey) -> None:
        """Let an expert go (it moved elsewhere). Raises RuntimeError while it is leased."""
        with self.lock:
            entry = self._entries[key]
            if entry.pins:
                raise RuntimeError(f"{key} is in use")
            self._forget(entry)

    def borrow(self, sizes: Sequence[int], incoming: ExpertKey) -> list[Buffer] | None:
        """Plain buffers within the budget, to pass bytes through; None when there is no room."""
        with self.lock:
            buffers: list[Buffer] = []
            for nbytes in sizes:
                buffer = self._take(nbytes, incoming)
                if buffer is None:
                    self.give_back(buffers)
                    return None
                buffers.append(buffer)
            return buffers

    def give_back(self, buffers: Sequence[Buffer]) -> None:
        """Return what was borrowed."""
        with self.lock:
            for buffer in buffers:
                self._pool.give(buffer)
            self._settle()

    def set_capacity(self, capacity: int) -> None:
        """Change the ceiling at once. What is leased stays until released, and nothing new comes in before that.

        Raises UnderhillError(BAD_REQUEST) when not even one expert would fit.
        """
        with self.lock:
            self._check(capacity)
            self._pool.capacity = capacity
            self._settle()

    def unpin(self, entry: Entry) -> None:
        """One lease or reservation less; for Lease and Reservation only."""
        with self.lock:
            entry.pins -= 1
            self._settle()

    def _lease(self, entry: Entry) -> Lease:
        entry.pins += 1
        self._policy.used(entry.key)
        return Lease(self, entry)

    def _arrived(self, reservation: Reservation) -> Entry:
        entry = reservation.entry
        if not entry.arriving:
            raise RuntimeError(f"the reservation of {reservation.key} was ended before")
        entry.arriving = False
        return entry

    def _drop(self, entry: Entry, buffers: Sequence[Buffer]) -> None:
        for buffer in buffers:
            self._pool.give(buffer)
        if not entry.buffers:
            del self._entries[entry.key]
        self.unpin(entry)

    def _take(self, nbytes: int, incoming: ExpertKey) -> Buffer | None:
        while (buffer := self._pool.take(nbytes)) is None:
            if not self._evict(incoming):
                return None
        return buffer

    def _evict(self, incoming: ExpertKey) -> bool:
        key = self._policy.victim(incoming, lambda key: not self._entries[key].pins)
        if key is None:
            return False
        entry = self._entries[key]
        if self.evicted is not None:
            self.evicted(entry)
        self._forget(entry)
        return True

    def _forget(self, entry: Entry) -> None:
        del self._entries[entry.key]
        self._policy.removed(entry.key)
        if self.changed is not None:
            self.changed(entry, False)
        for buffer in entry.buffers:
            self._pool.give(buffer)

    def _settle(self) -> None:
        """Come down to the capacity as far as leases allow."""
        if self._pool.total > self._pool.capacity:
            self._pool.shrink(self._pool.capacity)
        while self._pool.in_use > self._pool.capacity and self._evict(ExpertKey(-1, -1)):
            continue

    def _check(self, capacity: int) -> None:
        if capacity < self.least:
            raise UnderhillError(
                Kind.BAD_REQUEST,
                f"An expert cache of {capacity:,} bytes cannot hold a single expert.",
                f"Give it at least {self.least:,} bytes.",
            )
