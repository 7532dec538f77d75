"""One level of memory for experts: mixed precisions in one byte budget, leases, and a policy that picks who leaves."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence

from engine.errors import Kind, UnderhillError
from engine.experts.buffers import Allocate, Buffer, BufferPool
from engine.experts.entry import Entry, Lease, Reservation
from engine.experts.keys import ExpertKey
from engine.experts.policed import Policed
from engine.experts.policies import Policy
from engine.store.layout import ExpertSpec
from engine.translatable import msg

SpecOf = Callable[[ExpertKey], ExpertSpec]
NOBODY = ExpertKey(-1, -1)  # for whom room is made


class ExpertCache(Policed):
    """Experts in the memory of one device. Thread-safe.

    capacity: bytes, buffers waiting for reuse included. least: bytes of the largest expert, below which no capacity
    is accepted. evicted: called with an entry that is about to leave, its buffers still valid (demotion). changed:
    called with an entry that holds more or less now, or that has gone (False), while all its buffers are still valid.
    level: 0 is the fastest memory. lock: while it is held no expert comes or goes.
    """

    def __init__(
        self, capacity: int, policy: Policy, spec_of: SpecOf, least: int, allocate: Allocate | None = None
    ) -> None:
        super().__init__(policy)
        check_capacity(capacity, least)
        self.least = least
        self.level = 0
        self.evicted: Callable[[Entry], None] | None = None
        self.changed: Callable[[Entry, bool], None] | None = None
        self._pool = BufferPool(capacity, allocate)
        self._spec_of = spec_of
        self._entries: dict[ExpertKey, Entry] = {}

    @property
    def capacity(self) -> int:
        """Most bytes held."""
        return self._pool.capacity

    @property
    def refusals(self) -> int:
        """See Level."""
        return self._pool.refusals

    @property
    def nbytes(self) -> int:
        """Bytes held now, buffers waiting for reuse included."""
        return self._pool.total

    @property
    def free(self) -> int:
        """Bytes that can be had without letting anybody go."""
        return self._pool.capacity - self._pool.in_use

    def lacking(self, key: ExpertKey, tier: int) -> int:
        """Bytes that an expert lacks to be held at this tier; 0 too while it is arriving."""
        entry = self._entries.get(key)
        if entry is None:
            return self._spec_of(key).layout.bytes_for(tier)
        return 0 if entry.arriving else entry.spec.layout.bytes_for(tier, entry.held)

    def tier(self, key: ExpertKey, most: int | None = None) -> int:
        """The finest tier held of an expert, no finer than `most`; 0: not resident."""
        entry = self._entries.get(key)
        return entry.best(most) if entry else 0

    def residency(self) -> dict[ExpertKey, int]:
        """Every resident expert and its finest tier. Waits for nobody: the lock is held while a layer computes."""
        return {entry.key: entry.tier for entry in list(self._entries.values()) if entry.tier}

    def entry(self, key: ExpertKey) -> Entry | None:
        """What is held of an expert, to be used under the lock only."""
        return self._entries.get(key)

    def lookup(self, key: ExpertKey, tier: int, most: int | None = None) -> Lease | None:
        """A lease if the expert is held at `tier` or finer, but no finer than `most`: of these the finest.

        None is a miss. Tier 0 takes whatever is there. An expert raised to 4 bits is no expert of 2 bits any more, nor
        one of 8 bits one of 4: codes alone cannot be decoded.
        """
        with self.lock:
            entry = self._entries.get(key)
            if entry is None:
                return None
            found = entry.best(most)
            return self._lease(entry, found) if found and found >= tier else None

    def reserve(self, key: ExpertKey, tier: int) -> Reservation | None:
        """Room for what the expert lacks to reach `tier`, evicting as needed; None when leases leave too little.

        Raises RuntimeError when it is already arriving or lacks nothing, UnderhillError(OUT_OF_MEMORY).
        """
        with self.lock:
            entry = self._entries.get(key) or Entry(key, self._spec_of(key))
            layout, held = entry.spec.layout, entry.held
            needed = missing = layout.parts_for(tier)
            sizes = layout.sizes_for(tier)
            if held:
                missing = tuple([index for index in needed if index not in held])
                sizes = tuple([layout.parts[index].nbytes for index in missing])
            if entry.arriving or not missing:
                raise RuntimeError(f"{key} at tier {tier} is already there or on its way")
            self._entries[key] = entry
            entry.pins += 1
            buffers: list[Buffer] | None = None
            try:
                buffers = self._make_room(entry, sizes, needed)
            finally:
                entry.arriving = buffers is not None
                if buffers is None:
                    self._drop(entry, ())
            return None if buffers is None else Reservation(key, entry, tier, missing, tuple(buffers))

    def commit(self, reservation: Reservation) -> Lease:
        """The buffers are filled: the expert is resident. Its reservation becomes a lease.

        What its tier does not need is given back as soon as nobody uses it. To keep what a raised expert could fall
        back to, and to lower experts before they leave, reads more than it saves (replayed on the built-in model).
        """
        with self.lock:
            entry = self._placed(reservation)
            lease = self._lease(entry, reservation.tier)
            self._settle()
            return lease

    def place(self, reservation: Reservation) -> None:
        """As `commit`, where nobody is waiting to use it."""
        with self.lock:
            self._placed(reservation)
            self._settle()

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

    def make_free(self, nbytes: int) -> None:
        """Let experts go until so much can be had at once, or until the rest is in use."""
        with self.lock:
            while self.free < nbytes and self._evict():
                continue

    def drop(self, key: ExpertKey) -> None:
        """Let an expert go, if it is there and nobody uses it."""
        with self.lock:
            entry = self._entries.get(key)
            if entry is not None and not entry.pins:
                self._forget(entry)

    def borrow(self, sizes: tuple[int, ...], incoming: ExpertKey) -> list[Buffer] | None:
        """Plain buffers within the budget, to pass bytes through; None when there is no room."""
        with self.lock:
            return self._take(sizes, incoming)

    def give_back(self, buffers: Sequence[Buffer]) -> None:
        """Return what was borrowed."""
        with self.lock:
            self._pool.give(buffers)
            self._settle()

    def set_capacity(self, capacity: int, least: int | None = None) -> None:
        """Change the ceiling at once. What is leased stays until released, and nothing new comes in before that.

        least: bytes of the largest expert, where that changes too. Raises UnderhillError(BAD_REQUEST) when not even
        one expert would fit; nothing is changed then.
        """
        with self.lock:
            least = self.least if least is None else least
            check_capacity(capacity, least)
            self.least, self._pool.capacity = least, capacity
            self._settle()

    def lend(self, capacity: int) -> None:
        """Change the ceiling at once, for a while: whose memory came last leaves first, whatever the policy says.

        What was cut last lies together, so that whole huge pages go back to the system. Where one goes here and one
        there, their neighbours are left small pages, which the disk reads into at half the rate (docs/offloading.md).
        """
        with self.lock:
            pool = self._pool
            pool.capacity = max(capacity, self.least)
            pool.shrink(pool.capacity)
            if pool.total > pool.capacity:
                newest = sorted((e for e in self._entries.values() if e.held), key=_newest, reverse=True)
                for entry in newest:
                    if pool.total <= pool.capacity:
                        break
                    self.drop(entry.key)
            self._settle()

    def pin(self, keys: Iterable[ExpertKey]) -> list[Entry]:
        """Leases of experts that are there, for whoever runs them as they are: to be given back by `unpin` at once."""
        with self.lock:
            entries = [self._entries[key] for key in keys]
            for entry in entries:
                entry.pins += 1
            return entries

    def unpin(self, entries: Iterable[Entry]) -> None:
        """One lease of each less."""
        with self.lock:
            for entry in entries:
                entry.pins -= 1
                self._tidy(entry)
            self._settle()

    def _release(self, entry: Entry) -> None:
        self.unpin((entry,))

    def _lease(self, entry: Entry, tier: int) -> Lease:
        entry.pins += 1
        return Lease(entry, tier, self.level, self._release)

    def _arrived(self, reservation: Reservation) -> Entry:
        entry = reservation.entry
        if not entry.arriving:
            raise RuntimeError(f"the reservation of {reservation.key} was ended before")
        entry.arriving = False
        return entry

    def _placed(self, reservation: Reservation) -> Entry:
        entry = self._arrived(reservation)
        entry.add(reservation.parts, reservation.buffers, reservation.tier)
        self._policy.inserted(entry.key)
        if self.changed is not None:
            self.changed(entry, True)
        entry.pins -= 1
        self._tidy(entry)
        return entry

    def _drop(self, entry: Entry, buffers: Sequence[Buffer]) -> None:
        self._pool.give(buffers)
        if not entry.held:
            del self._entries[entry.key]
        elif not entry.tier:  # it gave up a coarser tier for what did not come
            self._forget(entry)
        self.unpin((entry,))

    def _tidy(self, entry: Entry) -> None:
        """Give back what an expert that nobody uses holds beyond what it is meant to be."""
        if entry.surplus and not entry.pins and entry.held:
            self._let_go(entry, entry.held.keys() - entry.spec.layout.parts_for(entry.meant))
            entry.surplus = False

    def _let_go(self, entry: Entry, parts: Collection[int]) -> None:
        if not parts:
            return
        taken = entry.take(parts)
        if self.changed is not None:
            self.changed(entry, True)
        self._pool.give(taken)

    def _make_room(self, entry: Entry, sizes: tuple[int, ...], needed: Collection[int]) -> list[Buffer] | None:
        """Buffers for parts; at worst in the place of what the entry, if nobody else uses it, will not need."""
        buffers = self._take(sizes, entry.key)
        if buffers is None and entry.pins == 1 and (surplus := entry.held.keys() - needed):
            self._let_go(entry, surplus)
            buffers = self._take(sizes, entry.key)
        return buffers

    def _take(self, sizes: tuple[int, ...], incoming: ExpertKey) -> list[Buffer] | None:
        pool = self._pool
        while True:
            refusal: UnderhillError | None = None
            try:
                if (buffers := pool.take(sizes)) is not None:
                    return buffers
            except UnderhillError as e:
                refusal = e
            left = self._evicted(incoming)
            if left is None:
                if refusal is not None:
                    raise refusal
                return pool.take(sizes, anew=True)
            if refusal is not None:
                pool.capacity = pool.total  # more than this the system does not give
            if pool.in_use <= pool.capacity and tuple([buffer.nbytes for buffer in left]) == sizes:
                return left  # one like the other: its buffers change hands
            pool.give(left)

    def _evict(self) -> bool:
        """Let one go, for nobody in particular; False: nobody may leave."""
        left = self._evicted(NOBODY)
        if left is not None:
            self._pool.give(left)
        return left is not None

    def _evicted(self, incoming: ExpertKey) -> list[Buffer] | None:
        """Let one go, and take all it held; None: nobody may leave."""
        key = self._policy.victim(incoming, self._evictable)
        if key is None:
            return None
        entry = self._entries[key]
        if self.evicted is not None:
            self.evicted(entry)
        return self._taken(entry)

    def _evictable(self, key: ExpertKey) -> bool:
        return not self._entries[key].pins

    def _forget(self, entry: Entry) -> None:
        self._pool.give(self._taken(entry))

    def _taken(self, entry: Entry) -> list[Buffer]:
        """It is resident no more; what it held."""
        del self._entries[entry.key]
        self._policy.removed(entry.key)
        if self.changed is not None:
            self.changed(entry, False)
        return entry.clear()

    def _settle(self) -> None:
        """Come down to the capacity as far as leases allow."""
        pool = self._pool
        if pool.total <= pool.capacity:
            return
        pool.shrink(pool.capacity)
        while pool.total > pool.capacity and self._evict():  # of blocks in part in use nothing could go
            continue


def _newest(entry: Entry) -> int:
    return max(buffer.block.number for buffer in entry.held.values())


def check_capacity(capacity: int, least: int) -> None:
    """Raises UnderhillError(BAD_REQUEST) where not even one expert, of at most `least` bytes, would fit."""
    if capacity < least:
        raise UnderhillError(
            Kind.BAD_REQUEST,
            msg("An expert cache of {capacity} bytes cannot hold a single expert.", capacity=f"{capacity:,}"),
            msg("Give it at least {least} bytes.", least=f"{least:,}"),
        )
