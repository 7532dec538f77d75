"""The cache whose table is native, beside the one in Python: after every step the same experts in the same bytes."""

from __future__ import annotations

import random
import weakref
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest

from engine.experts.cache import ExpertCache
from engine.experts.entry import Lease, Reservation
from engine.experts.keys import ExpertKey
from engine.experts.native_cache import NativeCache
from engine.experts.policies import NAMES, Shape, Visit, make_policy
from engine.kernels.choice import available
from engine.store.layout import ExpertSpec

pytestmark = pytest.mark.skipif(not available().native, reason="no native library")

SPEC = ExpertSpec(48, 32, 8, 16)
LOWERED = ExpertSpec(48, 32, 2, 16)
WHOLE = SPEC.layout.bytes_for(8)
SHAPE = Shape((1, 3, 4), 8)
SPECS = {layer: [LOWERED if expert == 5 else SPEC for expert in range(8)] for layer in SHAPE.layers}
KEYS = [ExpertKey(layer, expert) for layer in SHAPE.layers for expert in range(8)]


@dataclass
class Pair:
    """The same things done to both. arriving: reservations by key; pinned: leases of both."""

    policy: str
    capacity: int
    arriving: dict[ExpertKey, Reservation] = field(default_factory=dict)
    pinned: list[tuple[Lease, Lease]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.known, self.native = (
            kind(self.capacity, make_policy(self.policy, SHAPE), specs, *rest, WHOLE)  # type: ignore[operator]
            for kind, specs, rest in (
                (ExpertCache, lambda key: SPECS[key.layer][key.expert], ()),
                (NativeCache, SPECS, (SHAPE,)),
            )
        )

    def reserve(self, key: ExpertKey, tier: int) -> bool:
        """Room for an expert in both; the native one is filled with what says whose it is."""
        shelf, at = self.native.shelf, self.native.number(key)
        if key in self.arriving or not self.known.lacking(key, tier):
            assert shelf.library.uh_shelf_reserve(shelf.address, at, self.native.planes(at, tier)) == -3
            return False
        reservation = self.known.reserve(key, tier)
        found = shelf.library.uh_shelf_reserve(shelf.address, at, self.native.planes(at, tier))
        assert found == (-1 if reservation is None else 0)
        if reservation is None:
            return False
        pieces = shelf.pieces(at, arriving=True)
        assert tuple(piece.part for piece in pieces) == reservation.parts
        assert [piece.nbytes for piece in pieces] == [buffer.nbytes for buffer in reservation.buffers]
        for piece in pieces:
            piece.block[piece.start : piece.start + piece.nbytes].fill_(self.mark(key, piece.part))
        self.arriving[key] = reservation
        return True

    def arrive(self, key: ExpertKey, how: str) -> None:
        """It has come, for somebody or for nobody; or it has not."""
        shelf, at, reservation = self.native.shelf, self.native.number(key), self.arriving.pop(key)
        if how == "abandon":
            self.known.abandon(reservation)
            shelf.library.uh_shelf_abandon(shelf.address, at)
            return
        shelf.library.uh_shelf_place(shelf.address, at, how == "commit")
        if how == "place":
            self.known.place(reservation)
        else:
            lease = self.known.commit(reservation)
            self.pinned.append((lease, self.native.leased(key, lease.tier)))

    def use(self, key: ExpertKey, tier: int, most: int) -> None:
        """Lease it, if it is there."""
        leases = [cache.lookup(key, tier, most) for cache in (self.known, self.native)]
        assert (leases[0] is None) == (leases[1] is None)
        if leases[0] is not None and leases[1] is not None:
            assert leases[0].tier == leases[1].tier
            self.pinned.append((leases[0], leases[1]))

    def release(self, which: int) -> None:
        """One lease of both."""
        for lease in self.pinned.pop(which):
            lease.release()

    def same(self) -> None:
        """Compare them."""
        assert self.native.residency() == self.known.residency()
        assert (self.native.nbytes, self.native.free) == (self.known.nbytes, self.known.free)
        addresses, pieces = set(), 0
        for key in KEYS:
            entry, twin = self.known.entry(key), self.native.entry(key)
            held = sorted(entry.held) if entry is not None else []
            assert held == (sorted(twin.held) if twin is not None else [])
            for part, buffer in twin.held.items() if twin is not None else ():
                assert buffer.tensor.eq(self.mark(key, part)).all()
                addresses.add(buffer.address)
                pieces += 1
            for tier in SPECS[key.layer][key.expert].tiers:
                assert self.known.lacking(key, tier) == self.native.lacking(key, tier)
        assert len(addresses) == pieces  # no two in one place
        for lease, twin_lease in self.pinned:
            assert lease.parts.planes == twin_lease.parts.planes

    @staticmethod
    def mark(key: ExpertKey, part: int) -> int:
        """What all bytes of this part are."""
        return (64 * key.layer + 7 * key.expert + part) % 251 + 1


def steps(draw: random.Random, pair: Pair) -> Iterator[None]:
    """Whatever may happen to a cache, again and again."""
    caches = pair.known, pair.native
    aside: list[object] = []
    while True:
        key, tier = draw.choice(KEYS), draw.choice((2, 4, 8))
        tier = min(tier, SPECS[key.layer][key.expert].top)
        match draw.choices(range(11), (30, 30, 8, 12, 12, 6, 2, 2, 1, 1, 1))[0]:
            case 0 if len(pair.arriving) < 4:
                pair.reserve(key, tier)
            case 1 if pair.arriving:
                pair.arrive(draw.choice(list(pair.arriving)), draw.choice(("place", "place", "commit", "abandon")))
            case 2 if len(pair.pinned) < 4:
                pair.use(key, draw.choice((0, tier)), draw.choice((2, 4, 8)))
            case 3 if pair.pinned:
                pair.release(draw.randrange(len(pair.pinned)))
            case 4:
                experts = draw.sample(range(8), 3)
                high = draw.choice((None, [draw.random() < 0.5 for _ in experts]))
                for cache in caches:
                    cache.routed(Visit(key.layer, experts, high))
            case 5:
                expected = draw.sample(KEYS, 5)
                for cache in caches:
                    cache.protect(expected)
            case 6:
                capacity = draw.randrange(3 * WHOLE, 9 * WHOLE)
                for cache in caches:
                    cache.set_capacity(capacity)
            case 7:
                for cache in caches:
                    cache.drop(key)
            case 8:
                nbytes = draw.randrange(4 * WHOLE)
                for cache in caches:
                    cache.make_free(nbytes)
            case 9:
                for cache in caches:
                    cache.begin_sequence()
            case 10 if aside:
                for cache, records in zip(caches, aside):
                    cache.bring_back(records)
                aside = []
            case 10:
                aside = [cache.put_aside() for cache in caches]
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


def test_what_is_expected_stays_as_long_as_anybody_else_may_leave() -> None:
    pair = Pair("hobbit", 4 * WHOLE)
    for key in KEYS[:4]:
        pair.reserve(key, 8)
        pair.arrive(key, "place")
    pair.native.protect(KEYS[:3])
    pair.known.protect(KEYS[:3])
    for key in KEYS[8:12]:
        pair.reserve(key, 8)
        pair.arrive(key, "place")
        assert set(KEYS[:3]) < set(pair.native.residency())
    pair.same()


def test_what_is_lent_is_the_memory_that_came_last_but_for_what_is_in_use() -> None:
    pair = Pair("lru", 8 * WHOLE)
    for key in [key for key in KEYS if key.expert != 5][:8]:
        pair.reserve(key, 8)
        pair.arrive(key, "place")
    last = [key for key in KEYS if key.expert != 5][7]
    pair.use(last, 8, 8)
    for capacity in (4 * WHOLE, 8 * WHOLE, 0):
        for cache in (pair.known, pair.native):
            cache.lend(capacity)
        pair.same()
    assert last in pair.native.residency()
    pair.release(0)
    pair.same()


def test_an_expert_that_was_looked_at_keeps_no_memory() -> None:
    """What the budget does not count any more is gone from the process, too."""
    pair = Pair("lru", 4 * WHOLE)
    keys = [key for key in KEYS if key.expert != 5][:4]
    for key in keys:
        assert pair.reserve(key, 8)
        pair.arrive(key, "place")
    memory = [weakref.ref(tensor) for tensor in pair.native.shelf.blocks.tensors.values()]
    assert all(pair.native.entry(key) is not None for key in keys)
    pair.native.set_capacity(WHOLE)
    assert sum(found() is not None for found in memory) == len(pair.native.shelf.blocks.tensors)
    assert len(pair.native.shelf.blocks.tensors) < len(memory)
    assert pair.native.entry(keys[0]) is None
    assert pair.native.entry(keys[3]) is not None
