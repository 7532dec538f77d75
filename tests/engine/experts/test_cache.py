"""The promises of the cache: the ceiling holds, what is leased stays, leases end exactly once."""

from __future__ import annotations

import threading

import pytest
import torch
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from engine.errors import UnderhillError
from engine.experts.buffers import BufferPool, host_allocator
from engine.experts.cache import ExpertCache
from engine.experts.entry import Entry, Lease, Reservation
from engine.experts.keys import ExpertKey
from engine.experts.policies import Lru, Shape
from engine.store.layout import ALIGN, ExpertSpec

SPEC = ExpertSpec(48, 32, 8, 16)
LAYOUT = SPEC.layout
WHOLE = LAYOUT.bytes_for(8)  # of an expert at its finest
SHAPE = Shape((0, 1, 2), 4)
KEYS = [ExpertKey(layer, expert) for layer in range(3) for expert in range(4)]


def make_cache(capacity: int) -> ExpertCache:
    return ExpertCache(capacity, Lru(SHAPE), lambda key: SPEC, WHOLE)


def load(cache: ExpertCache, key: ExpertKey, tier: int) -> Lease:
    reservation = cache.reserve(key, tier)
    assert reservation is not None
    fill(reservation)
    return cache.commit(reservation)


def mark(key: ExpertKey, part: int) -> int:
    """What all bytes of this part are."""
    return (40 * key.layer + 10 * key.expert + part) % 256


def fill(reservation: Reservation) -> None:
    for index, buffer in zip(reservation.parts, reservation.buffers, strict=True):
        buffer.tensor.fill_(mark(reservation.key, index))


def held(cache: ExpertCache, key: ExpertKey) -> list[int]:
    entry = cache.entry(key)
    return sorted(entry.held) if entry else []


class CacheMachine(RuleBasedStateMachine):
    """Random operations; a mirror of what must be resident because it is leased, and of what was told of changes."""

    def __init__(self) -> None:
        super().__init__()
        self.cache = make_cache(3 * WHOLE)
        self.cache.changed = self.changed
        self.told: dict[ExpertKey, set[int]] = {}
        self.leases: list[Lease] = []
        self.reservations: list[Reservation] = []
        self.ceiling = 3 * WHOLE

    def changed(self, entry: Entry, there: bool) -> None:
        self.told[entry.key] = set(entry.held) if there else set()

    @rule(key=st.sampled_from(KEYS), tier=st.sampled_from([2, 4, 8]), most=st.sampled_from([2, 4, 8]))
    def use(self, key: ExpertKey, tier: int, most: int) -> None:
        tier = min(tier, most)
        before = held(self.cache, key)
        found = LAYOUT.tier_of(before, most)
        lease = self.cache.lookup(key, tier, most)
        assert (lease is not None) == (found >= tier)
        if lease is not None:
            assert lease.tier == found
            self.leases.append(lease)
        elif all(r.key != key for r in self.reservations):
            reservation = self.cache.reserve(key, tier)
            if reservation is None:
                return
            # what was there and is of use need not be read again
            assert set(reservation.parts) == set(LAYOUT.parts_for(tier)).difference(before)
            fill(reservation)
            self.reservations.append(reservation)

    @precondition(lambda self: self.reservations)
    @rule(which=st.integers(0, 99), how=st.sampled_from(["commit", "place", "abandon"]))
    def arrive(self, which: int, how: str) -> None:
        reservation = self.reservations.pop(which % len(self.reservations))
        if how == "commit":
            self.leases.append(self.cache.commit(reservation))
        elif how == "place":
            self.cache.place(reservation)
        else:
            self.cache.abandon(reservation)

    @rule(count=st.integers(1, 3))
    def pin(self, count: int) -> None:
        there = [key for key in KEYS if self.cache.tier(key)][:count]
        entries = self.cache.pin(there)
        self.cache.make_free(5 * WHOLE)
        assert [key for key in there if self.cache.tier(key)] == there
        self.cache.unpin(entries)

    @precondition(lambda self: self.leases)
    @rule(which=st.integers(0, 99))
    def release(self, which: int) -> None:
        lease = self.leases.pop(which % len(self.leases))
        lease.release()
        with pytest.raises(RuntimeError, match="twice"):
            lease.release()
        if self.cache.nbytes <= self.cache.capacity:
            self.ceiling = self.cache.capacity

    @rule(capacity=st.integers(WHOLE, 5 * WHOLE))
    def resize(self, capacity: int) -> None:
        self.cache.set_capacity(capacity)
        # What is leased may stay above a lowered ceiling; it must only ever come down.
        self.ceiling = max(capacity, self.cache.nbytes)

    @invariant()
    def budget_is_kept(self) -> None:
        assert self.cache.nbytes <= self.ceiling
        if not self.leases and not self.reservations:
            assert self.cache.nbytes <= self.cache.capacity

    @invariant()
    def what_is_leased_is_there_untouched(self) -> None:
        for lease in self.leases:
            assert self.cache.tier(lease.key) >= lease.tier
            for index, tensor in lease.parts.parts.items():
                assert tensor.eq(mark(lease.key, index)).all()

    @invariant()
    def nothing_is_kept_that_nobody_wants(self) -> None:
        used = {lease.key for lease in self.leases} | {r.key for r in self.reservations}
        for key in KEYS:
            there = set(held(self.cache, key))
            assert self.told.get(key, set()) == there
            if there and key not in used:
                tier = self.cache.tier(key)
                assert tier
                assert there == set(LAYOUT.parts_for(tier))


CacheMachine.TestCase.settings = settings(max_examples=40, stateful_step_count=40, deadline=None)
TestCacheMachine = CacheMachine.TestCase


def test_what_is_lent_is_the_memory_that_came_last_but_for_what_is_in_use() -> None:
    """Whole pages go back to the system then; the policy would have let the first go."""
    cache = make_cache(8 * WHOLE)
    for key in KEYS[:8]:
        load(cache, key, 8).release()
    lease = cache.lookup(KEYS[7], 8)
    assert lease is not None
    cache.lend(4 * WHOLE)
    assert cache.nbytes == cache.capacity == 4 * WHOLE
    assert set(cache.residency()) == {*KEYS[:3], KEYS[7]}
    lease.release()
    cache.lend(8 * WHOLE)
    assert set(cache.residency()) == {*KEYS[:3], KEYS[7]}
    for key in KEYS[8:]:
        load(cache, key, 8).release()
    assert len(cache.residency()) == 8
    cache.lend(0)
    assert cache.capacity == WHOLE == cache.nbytes


def test_raising_the_tier_keeps_the_bytes_that_are_there() -> None:
    cache = make_cache(2 * WHOLE)
    lease = load(cache, KEYS[0], 2)
    address = lease.parts.addresses[0]
    reservation = cache.reserve(KEYS[0], 8)
    assert reservation is not None
    assert reservation.parts == (2, 4, 5)
    assert reservation.nbytes == LAYOUT.bytes_for(8, (0, 1))
    still = cache.lookup(KEYS[0], 2)  # usable at its lower tier while the rest is on its way
    assert still is not None
    assert cache.lookup(KEYS[0], 4) is None
    fill(reservation)
    raised = cache.commit(reservation)
    assert (raised.tier, still.tier) == (8, 2)
    assert raised.parts.addresses[0] == address
    assert held(cache, KEYS[0]) == [0, 1, 2, 4, 5]  # somebody still runs it at 2 bits
    lease.release()
    raised.release()
    assert still.parts.parts[0].eq(mark(KEYS[0], 0)).all()
    still.release()
    assert held(cache, KEYS[0]) == [1, 2, 4, 5]
    assert cache.nbytes == WHOLE + LAYOUT.parts[0].nbytes  # waiting for reuse


def test_an_expert_of_four_bits_is_none_of_two_and_one_of_eight_none_of_four() -> None:
    cache = make_cache(2 * WHOLE)
    load(cache, KEYS[0], 4).release()
    load(cache, KEYS[1], 8).release()
    assert cache.lookup(KEYS[0], 2, 2) is None
    assert cache.lookup(KEYS[1], 2, 4) is None
    finer = cache.lookup(KEYS[0], 2)  # a hit uses the best that is there
    assert finer is not None
    assert finer.tier == 4
    finer.release()
    fourth = cache.reserve(KEYS[1], 4)
    assert fourth is not None
    assert fourth.parts == (3,)
    fill(fourth)
    lease = cache.commit(fourth)
    assert (lease.tier, lease.parts.planes) == (4, 2)
    lease.release()
    assert held(cache, KEYS[1]) == [1, 2, 3]  # nobody asks for the finer one any more


def test_an_expert_is_raised_within_its_own_room() -> None:
    """The least capacity has room for what the finer tier needs, not for what only the coarser one did."""
    cache = make_cache(WHOLE)
    load(cache, KEYS[0], 2).release()
    told: list[tuple[int, bool]] = []
    cache.changed = lambda entry, there: told.append((entry.tier, there))
    reservation = cache.reserve(KEYS[0], 8)
    assert reservation is not None
    assert cache.residency() == {}
    assert cache.lookup(KEYS[0], 0) is None
    cache.abandon(reservation)
    assert told == [(0, True), (0, False)]
    assert held(cache, KEYS[0]) == []
    load(cache, KEYS[0], 2).release()
    load(cache, KEYS[0], 8).release()
    assert held(cache, KEYS[0]) == [1, 2, 4, 5]
    lease = load(cache, KEYS[1], 2)
    assert cache.reserve(KEYS[1], 8) is None  # in use: nothing of it may go
    assert lease.parts.parts[0].eq(mark(KEYS[1], 0)).all()


def test_buffers_lie_on_page_boundaries_and_are_used_again() -> None:
    cache = make_cache(WHOLE)
    first = load(cache, KEYS[0], 8)
    addresses = first.parts.addresses
    assert all(a % ALIGN == 0 for a in addresses)
    first.release()
    assert set(load(cache, KEYS[1], 8).parts.addresses) == set(addresses)


def test_an_expert_like_the_one_that_leaves_takes_its_place_and_nobody_elses() -> None:
    cache = make_cache(3 * WHOLE)
    addresses = {}
    for key in KEYS[:3]:
        lease = load(cache, key, 8)
        addresses[key] = lease.parts.addresses
        lease.release()
    newcomer = load(cache, KEYS[3], 8)
    assert newcomer.parts.addresses == addresses[KEYS[0]]
    assert cache.nbytes == 3 * WHOLE
    assert cache.residency() == {KEYS[1]: 8, KEYS[2]: 8, KEYS[3]: 8}
    coarse = load(cache, KEYS[4], 2)  # smaller than who leaves: what is over waits
    assert cache.residency() == {KEYS[2]: 8, KEYS[3]: 8, KEYS[4]: 2}
    assert cache.free == WHOLE - LAYOUT.bytes_for(2)
    assert cache.nbytes <= 3 * WHOLE
    assert newcomer.parts.parts[1].eq(mark(KEYS[3], 1)).all()
    newcomer.release()
    coarse.release()


def test_who_was_placed_for_nobody_may_leave_at_once() -> None:
    cache = make_cache(WHOLE)
    reservation = cache.reserve(KEYS[0], 8)
    assert reservation is not None
    fill(reservation)
    cache.place(reservation)
    assert cache.residency() == {KEYS[0]: 8}
    with pytest.raises(RuntimeError, match="ended before"):
        cache.place(reservation)
    load(cache, KEYS[1], 8)
    assert cache.residency() == {KEYS[1]: 8}


def test_nobody_takes_a_place_that_a_lowered_ceiling_has_done_away_with() -> None:
    cache = make_cache(3 * WHOLE)
    leases = [load(cache, key, 8) for key in KEYS[:3]]
    cache.set_capacity(WHOLE)
    with cache.lock:
        leases[0]._entry.pins -= 1  # type: ignore[union-attr]  # may leave, but the ceiling has not been settled yet
        assert cache.reserve(KEYS[3], 8) is None
    assert cache.nbytes == 2 * WHOLE


def test_nothing_is_reserved_when_leases_hold_everything() -> None:
    cache = make_cache(WHOLE)
    lease = load(cache, KEYS[0], 8)
    assert cache.reserve(KEYS[1], 2) is None
    assert cache.residency() == {KEYS[0]: 8}
    lease.release()
    assert cache.reserve(KEYS[1], 2) is not None


def test_a_failed_upgrade_leaves_the_coarser_expert() -> None:
    cache = make_cache(2 * WHOLE)
    load(cache, KEYS[0], 2).release()
    reservation = cache.reserve(KEYS[0], 8)
    assert reservation is not None
    cache.abandon(reservation)
    assert cache.residency() == {KEYS[0]: 2}
    with pytest.raises(RuntimeError, match="ended before"):
        cache.commit(reservation)


def test_an_expert_cannot_be_reserved_twice() -> None:
    cache = make_cache(2 * WHOLE)
    cache.reserve(KEYS[0], 8)
    with pytest.raises(RuntimeError, match="on its way"):
        cache.reserve(KEYS[0], 8)


def test_shrinking_evicts_the_oldest_and_waits_for_leases() -> None:
    cache = make_cache(3 * WHOLE)
    leases = [load(cache, key, 8) for key in KEYS[:3]]
    leases[0].release()
    leases[1].release()
    cache.set_capacity(WHOLE)
    assert cache.residency() == {KEYS[2]: 8}
    cache.set_capacity(3 * WHOLE)
    held = [leases[2], load(cache, KEYS[3], 8)]
    cache.set_capacity(WHOLE)
    assert cache.nbytes == 2 * WHOLE
    assert cache.reserve(KEYS[4], 2) is None
    held[0].release()
    assert cache.nbytes == WHOLE
    assert cache.residency() == {KEYS[3]: 8}


def test_too_little_for_one_expert_is_refused() -> None:
    with pytest.raises(UnderhillError, match="cannot hold a single expert"):
        make_cache(WHOLE - 1)
    cache = make_cache(WHOLE)
    with pytest.raises(UnderhillError, match=f"at least {WHOLE:,} bytes"):
        cache.set_capacity(WHOLE - 1)
    assert cache.capacity == WHOLE
    smaller = LAYOUT.bytes_for(4)
    cache.set_capacity(smaller, smaller)  # of experts that are never finer
    with pytest.raises(UnderhillError, match="at least"):
        cache.set_capacity(smaller, WHOLE)
    assert (cache.capacity, cache.least) == (smaller, smaller)


def test_a_lease_is_no_use_after_release() -> None:
    lease = load(make_cache(WHOLE), KEYS[0], 4)
    lease.release()
    for use in (lambda: lease.parts, lambda: lease.held):
        with pytest.raises(RuntimeError, match="was released"):
            use()


def test_refused_memory_is_told_and_nothing_is_lost() -> None:
    calls, allocate = 0, host_allocator()

    def stingy(nbytes: int):  # type: ignore[no-untyped-def]
        nonlocal calls
        calls += 1
        if calls == 2:
            raise MemoryError
        return allocate(nbytes)

    cache = ExpertCache(2 * WHOLE, Lru(SHAPE), lambda key: SPEC, WHOLE, stingy)
    with pytest.raises(UnderhillError, match="no memory left"):
        cache.reserve(KEYS[0], 8)
    assert cache.residency() == {}
    load(cache, KEYS[0], 8).release()
    assert cache.nbytes == WHOLE


def test_many_threads_at_once_keep_the_books() -> None:
    cache = make_cache(4 * WHOLE)
    problems: list[BaseException] = []

    def work(seed: int) -> None:
        random = torch.Generator().manual_seed(seed)
        try:
            for _ in range(200):
                key = KEYS[int(torch.randint(len(KEYS), (1,), generator=random))]
                lease = cache.lookup(key, 2)
                if lease is None:
                    try:
                        reservation = cache.reserve(key, 2)
                    except RuntimeError:  # another thread is bringing it
                        continue
                    if reservation is None:
                        continue
                    lease = cache.commit(reservation)
                assert cache.nbytes <= 4 * WHOLE
                lease.release()
        except BaseException as problem:
            problems.append(problem)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not problems
    cache.set_capacity(WHOLE)
    assert cache.nbytes <= WHOLE


def test_waiting_buffers_count_and_make_way() -> None:
    pool = BufferPool(3 * ALIGN)
    small = pool.take([ALIGN])
    assert small is not None
    pool.give(small)
    assert (pool.in_use, pool.total) == (0, ALIGN)
    assert pool.take([2 * ALIGN, ALIGN]) is not None
    assert pool.total == 3 * ALIGN
    assert pool.take([ALIGN]) is None
