"""The native cache beside the model of it: after every step the same experts in the same bytes; and its promises."""

from __future__ import annotations

import random
import weakref
from collections.abc import Iterator

import pytest
from torch import Tensor

from engine.errors import UnderhillError
from engine.experts.cache.expert_cache import ExpertCache, Lease
from engine.experts.keys import ExpertKey
from engine.experts.policies import NAMES, ExpertGrid, LayerVisit, make_policy
from engine.native.memory import Arena
from engine.record.layout import ALIGN, ExpertSpec
from tests.engine.experts.cache.cache_model import CacheModel

SPEC = ExpertSpec(48, 32, 8, 16)
LOWERED = ExpertSpec(48, 32, 2, 16)
WHOLE = SPEC.layout.bytes_for(8)
SHAPE = ExpertGrid((1, 3, 4), 8)
SPECS = {layer: [LOWERED if expert == 5 else SPEC for expert in range(8)] for layer in SHAPE.layers}
KEYS = [ExpertKey(layer, expert) for layer in SHAPE.layers for expert in range(8)]
WHOLES = [key for key in KEYS if key.expert != 5]
ASKED, NO_ROOM, OUT_OF_MEMORY, THERE = 0, -1, -2, -3


def mark(key: ExpertKey, part: int) -> int:
    """What all bytes of this part are."""
    return (64 * key.layer + 7 * key.expert + part) % 251 + 1


class Cache(ExpertCache):
    """A cache that is filled without a disk."""

    def __init__(self, capacity: int, policy: str = "lru") -> None:
        super().__init__(capacity, make_policy(policy, SHAPE), SPECS, SHAPE, WHOLE)

    def reserve(self, key: ExpertKey, tier: int) -> int:
        """Room for an expert, filled with what says which one it is; see uh_cache_reserve."""
        at = self.number(key)
        found: int = self._of.uh_cache_reserve(self._at, at, self.planes(at, tier))
        for piece in self.table.pieces(at, arriving=True) if found == ASKED else ():
            piece.slab[piece.start : piece.start + piece.nbytes].fill_(mark(key, piece.part))
        return found

    def arriving(self, key: ExpertKey) -> tuple[int, ...]:
        """Parts that are reserved."""
        return tuple(piece.part for piece in self.table.pieces(self.number(key), arriving=True))

    def held(self, key: ExpertKey) -> list[int]:
        """Parts that are there."""
        return [piece.part for piece in self.table.pieces(self.number(key))]

    def place(self, key: ExpertKey, pin: bool = False) -> None:
        """What was reserved has come."""
        self._of.uh_cache_insert(self._at, self.number(key), pin)

    def abandon(self, key: ExpertKey) -> None:
        """It has not."""
        self._of.uh_cache_abandon(self._at, self.number(key))

    def load(self, key: ExpertKey, tier: int) -> Lease:
        """Room, and what fills it."""
        assert self.reserve(key, tier) == ASKED
        self.place(key, pin=True)
        return Lease(self, key, tier)


class Pair:
    """The same things done to both. arriving: what is reserved; pinned: leases."""

    def __init__(self, policy: str, capacity: int) -> None:
        self.model = CacheModel(capacity, make_policy(policy, SHAPE), SPECS, SHAPE, WHOLE)
        self.native = Cache(capacity, policy)
        self.arriving: list[ExpertKey] = []
        self.pinned: list[Lease] = []

    def reserve(self, key: ExpertKey, tier: int) -> None:
        if key in self.arriving or not self.model.missing_bytes(key, tier):
            assert self.native.reserve(key, tier) == THERE
            return
        parts, found = self.model.reserve(key, tier), self.native.reserve(key, tier)
        assert found == (NO_ROOM if parts is None else ASKED)
        if parts is not None:
            assert self.native.arriving(key) == parts
            self.arriving.append(key)

    def arrive(self, key: ExpertKey, how: str) -> None:
        self.arriving.remove(key)
        if how == "abandon":
            self.model.abandon(key)
            self.native.abandon(key)
            return
        pin = how == "pin"
        tier = self.model.entries[key].aims
        self.model.place(key, pin=pin)
        self.native.place(key, pin)
        if pin:
            self.pinned.append(Lease(self.native, key, tier))

    def use(self, key: ExpertKey, tier: int, most: int) -> None:
        lease, found = self.native.lookup(key, tier, most), self.model.lookup(key, tier, most)
        assert (lease.tier if lease is not None else 0) == found
        if lease is not None:
            self.pinned.append(lease)

    def release(self, which: int) -> None:
        lease = self.pinned.pop(which)
        self.model.unpin(lease.key)
        lease.release()

    def same(self) -> None:
        assert self.native.residency() == self.model.residency()
        assert (self.native.nbytes, self.native.free) == (self.model.nbytes, self.model.free)
        addresses, count = set(), 0
        for key in KEYS:
            pieces = self.native.table.pieces(self.native.number(key))
            assert [piece.part for piece in pieces] == sorted(self.model.entries[key].held)
            for piece in pieces:
                memory = piece.slab[piece.start : piece.start + piece.nbytes]
                assert memory.eq(mark(key, piece.part)).all()
                addresses.add(memory.data_ptr())
                count += 1
            for tier in SPECS[key.layer][key.expert].tiers:
                assert self.native.missing_bytes(key, tier) == self.model.missing_bytes(key, tier)
        assert len(addresses) == count  # no two in one place
        for lease in self.pinned:
            assert lease.parts.tier == lease.tier


def steps(draw: random.Random, pair: Pair) -> Iterator[None]:
    """Whatever may happen to a cache, again and again."""
    native, model = pair.native, pair.model
    aside = None
    while True:
        key, tier = draw.choice(KEYS), draw.choice((2, 4, 8))
        tier = min(tier, SPECS[key.layer][key.expert].top)
        match draw.choices(range(11), (30, 30, 8, 12, 12, 6, 2, 2, 1, 1, 1))[0]:
            case 0 if len(pair.arriving) < 4:
                pair.reserve(key, tier)
            case 1 if pair.arriving:
                pair.arrive(draw.choice(pair.arriving), draw.choice(("place", "place", "pin", "abandon")))
            case 2 if len(pair.pinned) < 4:
                pair.use(key, draw.choice((0, tier)), draw.choice((2, 4, 8)))
            case 3 if pair.pinned:
                pair.release(draw.randrange(len(pair.pinned)))
            case 4:
                experts = draw.sample(range(8), 3)
                visit = LayerVisit(key.layer, experts, draw.choice((None, [draw.random() < 0.5 for _ in experts])))
                native.routed(visit)
                model.policy.routed(visit)
            case 5:
                expected = draw.sample(KEYS, 5)
                native.protect(expected)
                model.policy.protect(expected)
            case 6:
                capacity = draw.randrange(3 * WHOLE, 9 * WHOLE)
                native.set_capacity(capacity)
                model.set_capacity(capacity)
            case 7:
                native.drop(key)
                model.drop(key)
            case 8:
                nbytes = draw.randrange(4 * WHOLE)
                native.make_free(nbytes)
                model.make_free(nbytes)
            case 9:
                native.begin_sequence()
                model.policy.begin_sequence()
            case 10 if aside is None:
                aside = native.aside(), model.policy.put_aside()
                aside[0].__enter__()
            case 10 if aside is not None:
                aside[0].__exit__(None, None, None)
                model.policy.bring_back(aside[1])
                aside = None
        yield


@pytest.mark.parametrize("policy", NAMES)
@pytest.mark.parametrize("seed", range(3))
def test_both_hold_the_same_whatever_happens(policy: str, seed: int) -> None:
    pair = Pair(policy, 6 * WHOLE)
    for count, _ in enumerate(steps(random.Random(seed), pair)):
        if count % 8 == 0:
            pair.same()
        if count == 1200:
            break
    assert pair.native.residency()


@pytest.mark.parametrize("policy", NAMES)
def test_what_is_protected_stays_as_long_as_others_may_leave(policy: str) -> None:
    pair = Pair(policy, 4 * WHOLE)
    for key in KEYS[:4]:
        pair.reserve(key, 8)
        pair.arrive(key, "place")
    pair.native.protect(KEYS[:3])
    pair.model.policy.protect(KEYS[:3])
    for key in KEYS[8:12]:
        pair.reserve(key, 8)
        pair.arrive(key, "place")
        assert set(KEYS[:3]) < set(pair.native.residency())
    pair.same()


def test_what_is_lent_is_the_memory_that_came_last_but_for_what_is_in_use() -> None:
    pair = Pair("lru", 8 * WHOLE)
    for key in WHOLES[:8]:
        pair.reserve(key, 8)
        pair.arrive(key, "place")
    last = WHOLES[7]
    pair.use(last, 8, 8)
    for capacity in (4 * WHOLE, 8 * WHOLE, 0):
        pair.native.lend(capacity)
        pair.model.lend(capacity)
        pair.same()
    assert last in pair.native.residency()
    pair.release(0)
    pair.same()


def test_an_expert_that_was_looked_at_keeps_no_memory() -> None:
    """What the budget does not count any more is gone from the process, too."""
    cache = Cache(4 * WHOLE)
    for key in WHOLES[:4]:
        lease = cache.load(key, 8)
        assert lease.parts.addresses
        lease.release()
    memory = [weakref.ref(tensor) for tensor in cache.table.slabs.tensors.values()]
    cache.set_capacity(WHOLE)
    assert sum(found() is not None for found in memory) == len(cache.table.slabs.tensors) < len(memory)
    assert list(cache.residency()) == [WHOLES[3]]


def test_raising_the_tier_keeps_the_bytes_that_are_there() -> None:
    cache, key = Cache(2 * WHOLE), KEYS[0]
    lease = cache.load(key, 2)
    address = lease.parts.addresses[0]
    assert cache.reserve(key, 8) == ASKED
    assert cache.arriving(key) == (2, 4, 5)
    still = cache.lookup(key, 2)  # usable at its lower tier while the rest is on its way
    assert still is not None
    assert cache.lookup(key, 4) is None
    cache.place(key, pin=True)
    raised = Lease(cache, key, 8)
    assert raised.parts.addresses[0] == address
    assert cache.held(key) == [0, 1, 2, 4, 5]  # it is still in use at 2 bits
    lease.release()
    raised.release()
    assert still.parts.parts[0].eq(mark(key, 0)).all()
    still.release()
    assert cache.held(key) == [1, 2, 4, 5]
    assert cache.nbytes == WHOLE + SPEC.layout.parts[0].nbytes  # waiting for reuse


def test_an_expert_of_four_bits_is_none_of_two_and_one_of_eight_none_of_four() -> None:
    cache = Cache(2 * WHOLE)
    cache.load(KEYS[0], 4).release()
    cache.load(KEYS[1], 8).release()
    assert cache.lookup(KEYS[0], 2, 2) is None
    assert cache.lookup(KEYS[1], 2, 4) is None
    finer = cache.lookup(KEYS[0], 2)  # a hit uses the best that is there
    assert finer is not None
    assert finer.tier == 4
    lease = cache.load(KEYS[1], 4)
    assert (lease.tier, lease.parts.planes) == (4, 2)
    lease.release()
    assert cache.held(KEYS[1]) == [1, 2, 3]  # the finer one is not asked for any more


def test_an_expert_is_raised_within_its_own_room() -> None:
    """The least capacity has room for what the finer tier needs, not for what only the coarser one did."""
    cache = Cache(WHOLE)
    cache.load(KEYS[0], 2).release()
    assert cache.reserve(KEYS[0], 8) == ASKED
    assert cache.residency() == {}
    assert cache.lookup(KEYS[0], 0) is None
    cache.abandon(KEYS[0])
    assert cache.held(KEYS[0]) == []
    cache.load(KEYS[0], 2).release()
    cache.load(KEYS[0], 8).release()
    assert cache.held(KEYS[0]) == [1, 2, 4, 5]
    lease = cache.load(KEYS[1], 2)
    assert cache.reserve(KEYS[1], 8) == NO_ROOM  # in use: nothing of it may go
    assert lease.parts.parts[0].eq(mark(KEYS[1], 0)).all()


def test_an_expert_like_the_victim_takes_its_place() -> None:
    cache = Cache(3 * WHOLE)
    addresses = {}
    for key in KEYS[:3]:
        lease = cache.load(key, 8)
        addresses[key] = lease.parts.addresses
        lease.release()
    assert all(at % ALIGN == 0 for at in addresses[KEYS[0]])
    newcomer = cache.load(KEYS[3], 8)
    assert newcomer.parts.addresses == addresses[KEYS[0]]
    assert cache.residency() == {KEYS[1]: 8, KEYS[2]: 8, KEYS[3]: 8}
    coarse = cache.load(KEYS[4], 2)  # smaller than the victim: what is over waits
    assert cache.free == WHOLE - SPEC.layout.bytes_for(2)
    assert cache.nbytes <= 3 * WHOLE
    newcomer.release()
    coarse.release()


def test_shrinking_evicts_the_oldest_and_waits_for_leases() -> None:
    cache = Cache(3 * WHOLE)
    leases = [cache.load(key, 8) for key in KEYS[:3]]
    leases[0].release()
    leases[1].release()
    cache.set_capacity(WHOLE)
    assert cache.residency() == {KEYS[2]: 8}
    cache.set_capacity(3 * WHOLE)
    newer = cache.load(KEYS[3], 8)
    cache.set_capacity(WHOLE)
    assert cache.nbytes == 2 * WHOLE
    assert cache.reserve(KEYS[4], 2) == NO_ROOM
    leases[2].release()
    assert cache.nbytes == WHOLE
    assert cache.residency() == {KEYS[3]: 8}
    newer.release()


def test_too_little_for_one_expert_is_refused() -> None:
    with pytest.raises(UnderhillError, match="cannot hold a single expert"):
        Cache(WHOLE - 1)
    cache = Cache(WHOLE)
    with pytest.raises(UnderhillError, match=f"at least {WHOLE:,} bytes"):
        cache.set_capacity(WHOLE - 1)
    assert cache.capacity == WHOLE
    smaller = SPEC.layout.bytes_for(4)
    cache.set_capacity(smaller, smaller)  # of experts that are never finer
    with pytest.raises(UnderhillError, match="at least"):
        cache.set_capacity(smaller, WHOLE)
    assert (cache.capacity, cache.least) == (smaller, smaller)


def test_a_lease_ends_once_and_is_no_use_after() -> None:
    lease = Cache(WHOLE).load(KEYS[0], 4)
    lease.release()
    with pytest.raises(RuntimeError, match="was released"):
        _ = lease.parts
    with pytest.raises(RuntimeError, match="twice"):
        lease.release()


def test_refused_memory_is_told_and_nothing_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    take, calls = Arena.take, []

    def stingy(arena: Arena, nbytes: int) -> Tensor:
        calls.append(nbytes)
        if len(calls) == 2:
            raise MemoryError
        return take(arena, nbytes)

    monkeypatch.setattr(Arena, "take", stingy)
    cache = Cache(2 * WHOLE)
    assert cache.reserve(KEYS[0], 8) == OUT_OF_MEMORY
    assert "Not enough memory" in str(cache.refused())
    assert cache.residency() == {}
    cache.load(KEYS[0], 8).release()
    assert cache.nbytes == WHOLE
