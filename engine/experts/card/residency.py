"""The card's tier of the expert cache: which experts lie there, and which come and go."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from engine.cuda.arena import DeviceArena
from engine.cuda.device import CardDevice
from engine.cuda.expert_kernels import CardExpert, supports
from engine.cuda.expert_table import ExpertTable
from engine.cuda.ring import PinnedRing
from engine.experts.cache.expert_cache import ExpertCache, Lease
from engine.experts.cache.resident_table import ResidentTable
from engine.experts.card.courier import Courier, Parcel
from engine.experts.keys import ExpertKey
from engine.experts.precision import full_tier
from engine.record.layout import ExpertSpec

ReadParts = Callable[[int, int, Sequence[int], Sequence[memoryview]], None]  # Store.read_parts
EVERY, DECAY = 64, 0.9  # tokens after which uses count so much less: what was used some 600 tokens ago counts little
MOST_LENT = 1 / 8  # of the memory that experts have: what the courier copies from there can't make room meanwhile
# By which an expert whose copy in memory is gone is worth more than its uses: leaving it means to read it from disk.
ONLY_COPY = 4.0


class CardFullError(Exception):
    """Nothing on the card can make room for what should come."""


@dataclass(frozen=True)
class _Held:
    expert: CardExpert
    block: int
    nbytes: int
    tier: int


@dataclass(frozen=True)
class _Coming:
    """An expert on its way. crossed: recorded behind the copy. parcel: of one that the courier brings, from memory that
    the lease keeps where it is."""

    held: _Held
    crossed: int
    parcel: Parcel | None = None
    lease: Lease | None = None


def place(spec: ExpertSpec, tier: int, block: int) -> tuple[CardExpert, dict[int, int]]:
    """How an expert lies in a block of the card, and where each of its parts begins there, by index."""
    layout = spec.layout
    parts = layout.parts_for(tier)
    at = dict(zip(parts, np.cumsum([0, *(layout.parts[part].nbytes for part in parts)]).tolist()))
    codes = [block + at[part.index] for part in layout.codes_for(tier)]
    one, two, three = (*codes, 0, 0)[:3]
    return CardExpert((one, two, three, block + at[layout.params_for(tier).index]), len(codes)), at


def copier(lease: Lease, at: Mapping[int, int]) -> Callable[[int], None]:
    """Copies a leased expert to the address that it is called with, each part to its place. From any thread."""
    parts, layout = lease.parts.parts, lease.parts.spec.layout
    pieces = [(parts[part].data_ptr(), start, layout.parts[part].nbytes) for part, start in at.items()]

    def copy(host: int) -> None:
        for address, start, nbytes in pieces:
            ctypes.memmove(host + start, address, nbytes)

    return copy


class CardCache:
    """Experts on the card. Used by the thread that runs the model, under the layer's lock.

    An expert that comes is a copy of what lies in memory, which stays there: leaving the card costs nothing while it
    does. What the card computes does not count as a use of the memory's copy, so that the memory's policy lets go of it
    before what only the memory has.

    An expert is there at any tier that memory had it at. What the layers' tables and `there` name is held in full;
    `coarse` has the tiers of the others, for tokens that are content with that (HOBBIT, section 3.2).

    nbytes: held. sent: bytes that have crossed. courier: brings what `bring` is told to have come beside the model.
    """

    def __init__(
        self, device: CardDevice, arena: DeviceArena, ring: PinnedRing, cache: ExpertCache, table: ResidentTable,
        most: Callable[[], int | None] = lambda: None,
    ) -> None:  # fmt: skip
        """most: the tier that counts as full precision now; None: the finest stored. Raises CardError."""
        self._device, self.arena, self._ring, self._cache, self._table = device, arena, ring, cache, table
        self._most = most
        self._held: dict[int, _Held] = {}
        self.coarse: dict[ExpertKey, int] = {}
        self._sizes = np.zeros(len(cache.keys), np.int64)  # bytes of those held, by number; 0: not there
        self._coming: dict[int, _Coming] = {}
        self._events: list[int] = []  # that serve again
        self._uses = np.zeros(len(cache.keys))
        self._least: dict[int, float] = {}  # by size: no expert there of that size has fewer uses
        self._tokens = 0
        self._largest: dict[int | None, int] = {}
        self.sent = 0
        self.there = ExpertTable(device, len(cache.keys))
        self.courier = Courier(device, ring)

    def measure_link(self) -> None:
        """See how fast experts come, where there is room for one. Raises CardError."""
        nbytes = self.largest
        if (block := self.arena.take(nbytes)) is not None:
            self.courier.measure(block, nbytes)
            self.arena.give(block)

    # ---- what is there ----------------------------------------------------------------------------------------------

    @property
    def nbytes(self) -> int:
        """Bytes of experts, those on their way included."""
        return self.arena.used

    @property
    def capacity(self) -> int:
        """Most bytes of experts."""
        return self.arena.capacity

    @property
    def tiers(self) -> dict[ExpertKey, int]:
        """Every expert that is there, and its tier. From any thread."""
        return {self._cache.keys[number]: held.tier for number, held in list(self._held.items())}

    def tier(self, key: ExpertKey) -> int:
        """The tier that it is held at; 0: it is not there."""
        held = self._held.get(self._cache.number(key))
        return 0 if held is None else held.tier

    def expert(self, key: ExpertKey) -> CardExpert:
        """Where it lies. Raises KeyError."""
        return self._held[self._cache.number(key)].expert

    def experts(self, layer: int, chosen: Sequence[int]) -> list[CardExpert]:
        """Where these of a layer lie. Raises KeyError."""
        base = self._cache.base(layer)
        return [self._held[base + expert].expert for expert in chosen]

    def use(self) -> None:
        """Make the calling thread one that may use the card. Raises CardError."""
        self._device.use()

    def free_memory(self) -> int:
        """Bytes of the card that nobody has. Raises CardError."""
        self._device.use()
        return self._device.free_memory()

    def commit(self) -> None:
        """What has crossed by now is there. Raises CardError."""
        for number, own in list(self._coming.items()):
            if self._is_through(own):
                del self._coming[number]
                self._events.append(own.crossed)
                self._held[number] = own.held
                self._sizes[number] = own.held.nbytes
                if own.held.nbytes in self._least:
                    self._least[own.held.nbytes] = min(self._least[own.held.nbytes], float(self._uses[number]))
                self._show(number, own.held)
                if own.lease is not None:
                    own.lease.release()

    def _is_through(self, own: _Coming) -> bool:
        if own.parcel is None:
            return self._device.driver.reached(own.crossed)
        if own.parcel.error is not None:
            raise own.parcel.error
        return own.parcel.ended.is_set()

    def _wait(self, own: _Coming) -> None:
        if own.parcel is None:
            self._device.driver.wait_for(own.crossed)
        else:
            own.parcel.ended.wait()

    def arrive(self, keys: Collection[ExpertKey]) -> None:
        """Wait for those of these that are on their way. Raises CardError."""
        for key in keys:
            if (own := self._coming.get(self._cache.number(key))) is not None:
                self._wait(own)
        self.commit()

    def wait_for_buffer(self) -> None:
        """Wait until another copy may begin. Raises CardError."""
        if len(self._coming) >= self._ring.slots:
            self._wait(next(iter(self._coming.values())))
            self.commit()

    @property
    def beside(self) -> int:
        """Bytes that the courier has still to bring, or to tell of."""
        return sum(own.held.nbytes for own in self._coming.values() if own.parcel is not None)

    def is_coming(self, key: ExpertKey) -> bool:
        """Whether it is on its way."""
        return self._cache.number(key) in self._coming

    def give_up(self, key: ExpertKey) -> bool:
        """Leave an expert where it is that the courier was to bring; False: too late, or none was."""
        own = self._coming.get(self._cache.number(key))
        if own is None or own.parcel is None or not self.courier.give_up(own.parcel):
            return False
        del self._coming[self._cache.number(key)]
        self._undo(own)
        return True

    def _undo(self, own: _Coming) -> None:
        self._events.append(own.crossed)
        self.arena.give(own.held.block)
        if own.lease is not None:
            own.lease.release()

    # ---- what comes and goes ----------------------------------------------------------------------------------------

    def used(self, layer: int, experts: Sequence[int]) -> None:
        """A token has chosen these."""
        base, uses = self._cache.base(layer), self._uses
        for expert in experts:  # a few: numpy takes longer to begin
            uses[base + expert] += 1
        if layer == self._cache.keys[0].layer:
            self._tokens += 1
            if self._tokens % EVERY == 0:
                self._uses *= DECAY
                self._least = {nbytes: DECAY * least for nbytes, least in self._least.items()}

    def has_all(self, layer: int) -> bool:
        """Whether every expert of a layer is there."""
        return 0 not in self._table.layers[layer].card[:]

    def uses(self, key: ExpertKey) -> float:
        """How often it was chosen, lately."""
        return float(self._uses[self._cache.number(key)])

    def least_uses(self, nbytes: int) -> float:
        """That no expert there of this size falls below. Cheap: after every layer it is asked whether an exchange may
        pay, and hardly ever it does."""
        if nbytes not in self._least:
            own = self._uses[self._sizes == nbytes]
            self._least[nbytes] = float(own.min()) if len(own) else 0.0
        return self._least[nbytes]

    def has_room(self, nbytes: int) -> bool:
        """Whether one more would fit without another leaving."""
        block = self.arena.take(nbytes)
        if block is not None:
            self.arena.give(block)
        return block is not None

    def wanted(self, key: ExpertKey, tier: int) -> bool:
        """Whether it could come: it is not there so finely nor on its way, there are kernels for it, and no more than
        one copy for each of the ring's buffers is under way."""
        number = self._cache.number(key)
        spec = self._cache.specs[number]
        if spec is None or number in self._coming or len(self._coming) >= self._ring.slots or self.tier(key) >= tier:
            return False
        return supports(spec) and spec.layout.bytes_for(tier) <= self._ring.nbytes

    @property
    def largest(self) -> int:
        """Bytes of the largest expert, at what counts as full precision."""
        tier = self._most()
        if tier not in self._largest:
            specs = {spec for spec in self._cache.specs if spec is not None and supports(spec)}
            self._largest[tier] = max(spec.layout.bytes_for(full_tier(spec, tier)) for spec in specs)
        return self._largest[tier]

    @property
    def memory(self) -> int:
        """Bytes of experts that ordinary memory holds at most."""
        return self._cache.capacity

    def full(self, key: ExpertKey) -> int:
        """The tier of it that counts as full precision."""
        return full_tier(self.spec(key), self._most())

    def here(self, key: ExpertKey) -> int:
        """The tier that ordinary memory holds it at, no finer than what counts as full; 0: it does not."""
        return self._cache.tier(key, self.full(key))

    def in_memory(self, key: ExpertKey, tier: int) -> bool:
        """Whether ordinary memory holds it at this tier."""
        return self._cache.tier(key, tier) >= tier

    def can_come(self, key: ExpertKey, tier: int) -> bool:
        """Whether it could come from ordinary memory now."""
        return self.wanted(key, tier) and self.in_memory(key, tier)

    def can_lend(self, nbytes: int) -> bool:
        """Whether memory can do without so many bytes more of its room until the courier has copied them."""
        return self.beside + nbytes <= MOST_LENT * self.memory

    # ---- what is there for one call alone -----------------------------------------------------------------------

    def can_cross(self, key: ExpertKey, tier: int) -> bool:
        """Whether it could cross from ordinary memory at this tier, for a call that does not keep it."""
        spec = self.spec(key)
        return supports(spec) and spec.layout.bytes_for(tier) <= self._ring.nbytes and self.in_memory(key, tier)

    def lease(self, key: ExpertKey, tier: int) -> Lease | None:
        """Its copy in ordinary memory, at this tier; None: there is none."""
        return self._cache.lookup(key, tier, tier)

    @property
    def buffers(self) -> int:
        """How many experts may be on their way at once."""
        return self._ring.slots

    def send(self, block: int, nbytes: int, fill: Callable[[int], object], crossed: int) -> None:
        """See PinnedRing.send. From any thread that may use the card. Raises CardError."""
        self._ring.send(block, nbytes, fill, crossed)

    def lend_blocks(self, count: int, nbytes: int, staying: Collection[ExpertKey]) -> list[int]:
        """As many blocks of this size as there can be, `count` at most: where the card is full, in the place of who is
        used least, but for those that stay. `give_blocks` takes them back. Raises CardError."""
        blocks: list[int] = []
        while len(blocks) < count:
            block = self.arena.take(nbytes)
            if block is not None:
                blocks.append(block)
                continue
            stay = {self._cache.number(own) for own in staying}
            like = [number for number in np.flatnonzero(self._sizes == nbytes).tolist() if number not in stay]
            if not like:
                break
            self._least.pop(nbytes, None)
            self.leave(self._cache.keys[min(like, key=self._uses.__getitem__)])
        return blocks

    def give_blocks(self, blocks: Collection[int]) -> None:
        """They are free for others; nothing that runs may use them any more."""
        for block in blocks:
            self.arena.give(block)

    # ---- who makes room ----------------------------------------------------------------------------------------------

    def victims(self, key: ExpertKey, tier: int, staying: Collection[ExpertKey] = ()) -> list[ExpertKey]:
        """Who would leave for it, but for those that stay: none where there is room without that; the one of its size
        that is worth least; where none has its size, all of a slab. Raises CardFullError where nobody can."""
        spec = self.spec(key)
        nbytes = spec.layout.bytes_for(tier)
        if self.has_room(nbytes):
            return []
        stay = {self._cache.number(own) for own in staying}
        sizes = self._sizes.copy()
        sizes[list(stay)] = 0
        like = np.flatnonzero(sizes == nbytes)  # thousands, looked through for each that comes
        if len(like):
            self._least.pop(nbytes, None)  # who had fewest may leave
            there, _ = self._cache.table.snapshot()
            worth = self._uses[like] * np.where(np.frombuffer(there, np.uint8)[like] > 0, 1.0, ONLY_COPY)
            return [self._cache.keys[int(like[np.argmin(worth)])]]
        coming = {self.arena.slab_of(own.held.block) for own in self._coming.values()}
        slabs = [own for slab, own in self._slabs().items() if slab not in coming and not stay.intersection(own)]
        if not slabs:
            raise CardFullError
        return [self._cache.keys[number] for number in min(slabs, key=self._uses_of)]

    def _slabs(self) -> dict[int, list[int]]:
        """What lies in each slab."""
        slabs: dict[int, list[int]] = {}
        for number, held in self._held.items():
            slabs.setdefault(self.arena.slab_of(held.block), []).append(number)
        return slabs

    def _uses_of(self, numbers: Sequence[int]) -> float:
        return float(self._uses[numbers].sum())

    def leave(self, key: ExpertKey) -> None:
        """It is not there any more. No call that uses it may be under way."""
        number = self._cache.number(key)
        held = self._held.pop(number)
        self._sizes[number] = 0
        self._show(number, None)
        self.arena.give(held.block)

    def bring(self, key: ExpertKey, tier: int, read: ReadParts | None = None, *, beside: bool = False) -> bool:
        """Copy it from memory, or have it read from disk by `read`; False: it is not in memory at this tier, or there
        is no room. It is there once `commit` finds so, and a coarser copy is gone before. Raises CardError, and what
        `read` raises.

        beside: the courier copies it from memory, while this thread goes on.
        """
        spec = self.spec(key)
        layout, nbytes = spec.layout, spec.layout.bytes_for(tier)
        lease = self._cache.lookup(key, tier, tier)
        if lease is None and read is None:
            return False
        if self.tier(key):
            self.leave(key)
        kept = False  # the lease, by what is on its way
        try:
            block = self.arena.take(nbytes)
            if block is None:
                return False
            where, at = place(spec, tier, block)

            # The lease keeps it where it is; the ring keeps `host` until the copy has run.
            copy = None if lease is None else copier(lease, at)

            def fill(host: int) -> None:
                if copy is not None:
                    copy(host)
                elif read is not None:
                    buffers = [(ctypes.c_char * layout.parts[p].nbytes).from_address(host + at[p]) for p in at]
                    read(*key, list(at), [memoryview(buffer).cast("B") for buffer in buffers])

            crossed = self._events.pop() if self._events else self._device.event()
            held, number = _Held(where, block, nbytes, tier), self._cache.number(key)
            if beside and lease is not None:
                parcel = Parcel(block, nbytes, fill, crossed)
                self._coming[number], kept = _Coming(held, crossed, parcel, lease), True
                self.courier.submit(parcel)
                self.sent += nbytes
                return True
            try:
                self._ring.send(block, nbytes, fill, crossed)
            except BaseException:
                self._events.append(crossed)
                self.arena.give(block)
                raise
            self._coming[number] = _Coming(held, crossed)
        finally:
            if lease is not None and not kept:
                lease.release()
        self.sent += nbytes
        return True

    def clear(self) -> None:
        """None of them is there any more; what is under way is waited for. Raises CardError."""
        self._device.use()
        for number in list(self._coming):
            if not self.give_up(self._cache.keys[number]):
                self._wait(own := self._coming.pop(number))
                self._undo(own)
        for number in list(self._held):
            self.leave(self._cache.keys[number])

    def forget(self) -> None:
        """The card is lost, and with it all that was there. Asks nothing of it."""
        self.courier.close()
        for own in self._coming.values():
            if own.lease is not None:
                own.lease.release()
        for number in self._held:
            self._show(number, None)
        self._held.clear()
        self._sizes[:] = 0
        self._coming.clear()

    def shrink(self, nbytes: int) -> None:
        """Take no more than so many bytes of the card from now on: slabs that are used least are given back. No call
        that uses them may be under way. Raises CardError."""
        self.arena.shrink(nbytes)
        for numbers in sorted(self._slabs().values(), key=self._uses_of):
            if self.arena.held <= nbytes:
                break
            for number in numbers:
                self.leave(self._cache.keys[number])
            self.arena.shrink(nbytes)

    @property
    def taken(self) -> int:
        """Bytes of the card that are taken for experts, used or not."""
        return self.arena.held

    def _show(self, number: int, held: _Held | None) -> None:
        key = self._cache.keys[number]
        self.coarse.pop(key, None)
        whole = held is not None and held.tier >= self.full(key)
        if held is not None and not whole:
            self.coarse[key] = held.tier
        where = held.expert if held is not None and whole else None
        self._table.layers[key.layer].card[key.expert] = 0 if where is None else where.planes
        self.there.set(number, where)

    def spec(self, key: ExpertKey) -> ExpertSpec:
        """Its shape and encoding."""
        spec = self._cache.specs[self._cache.number(key)]
        assert spec is not None
        return spec
