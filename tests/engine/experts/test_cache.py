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
from engine.experts.cache import ExpertCache, Lease, Reservation
from engine.experts.keys import ExpertKey
from engine.experts.policies import Lru, LruPerLayer
from engine.store.layout import ALIGN, ExpertSpec

SPEC = ExpertSpec(48, 32, 8, 16)
WHOLE = SPEC.layout.nbytes
KEYS = [ExpertKey(layer, expert) for layer in range(3) for expert in range(4)]


def make_cache(capacity: int) -> ExpertCache:
    return ExpertCache(capacity, Lru(), lambda key: SPEC, WHOLE)


def load(cache: ExpertCache, key: ExpertKey, tier: int) -> Lease:
    reservation = cache.reserve(key, tier)
    assert reservation is not None
    for number, buffer in enumerate(reservation.buffers, reservation.first_plane):
        buffer.tensor.fill_(10 * key.layer + key.expert + 100 * number)
    return cache.commit(reservation)


class CacheMachine(RuleBasedStateMachine):
    """Random operations; a mirror of what must be resident because it is leased."""

    def __init__(self) -> None:
        super().__init__()
        self.cache = make_cache(3 * WHOLE)
        self.leases: list[Lease] = []
        self.reservations: list[Reservation] = []
        self.ceiling = 3 * WHOLE

    @rule(key=st.sampled_from(KEYS), tier=st.sampled_from([2, 4, 8]))
    def use(self, key: ExpertKey, tier: int) -> None:
        held = self.cache.tier(key)
        lease = self.cache.lookup(key, tier)
        assert (lease is not None) == (held >= tier)
        if lease is not None:
            assert lease.tier == held
            self.leases.append(lease)
        elif all(r.key != key for r in self.reservations):
            reservation = self.cache.reserve(key, tier)
            if reservation is None:
                return
            assert reservation.first_plane == {0: 0, 2: 1, 4: 2}[held]
            for number, buffer in enumerate(reservation.buffers, reservation.first_plane):
                buffer.tensor.fill_(10 * key.layer + key.expert + 100 * number)
            self.reservations.append(reservation)

    @precondition(lambda self: self.reservations)
    @rule(which=st.integers(0, 99), ok=st.booleans())
    def arrive(self, which: int, ok: bool) -> None:
        reservation = self.reservations.pop(which % len(self.reservations))
        if ok:
            self.leases.append(self.cache.commit(reservation))
        else:
            self.cache.abandon(reservation)

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
            for number, plane in enumerate(lease.planes(lease.tier).planes):
                assert plane.eq((10 * lease.key.layer + lease.key.expert + 100 * number) % 256).all()


CacheMachine.TestCase.settings = settings(max_examples=40, stateful_step_count=40, deadline=None)
TestCacheMachine = CacheMachine.TestCase


def test_raising_the_tier_keeps_the_bytes_that_are_there() -> None:
    cache = make_cache(2 * WHOLE)
    lease = load(cache, KEYS[0], 2)
    address = lease.planes(2).addresses[0]
    reservation = cache.reserve(KEYS[0], 8)
    assert reservation is not None
    assert (reservation.first_plane, len(reservation.buffers)) == (1, 2)
    assert reservation.nbytes == WHOLE - SPEC.layout.prefix_bytes(2)
    still = cache.lookup(KEYS[0], 2)  # usable at its lower tier while the rest is on its way
    assert still is not None
    assert cache.lookup(KEYS[0], 4) is None
    raised = cache.commit(reservation)
    assert raised.tier == 8
    assert raised.planes(8).addresses[0] == address
    assert len(raised.planes(4).planes) == 2


def test_buffers_lie_on_page_boundaries_and_are_used_again() -> None:
    cache = make_cache(WHOLE)
    first = load(cache, KEYS[0], 8)
    addresses = first.planes(8).addresses
    assert all(a % ALIGN == 0 for a in addresses)
    first.release()
    assert set(load(cache, KEYS[1], 8).planes(8).addresses) == set(addresses)


def test_nothing_is_reserved_when_leases_hold_everything() -> None:
    cache = make_cache(WHOLE)
    lease = load(cache, KEYS[0], 8)
    assert cache.reserve(KEYS[1], 2) is None
    assert cache.residency() == {KEYS[0]: 8}
    lease.release()
    assert cache.reserve(KEYS[1], 2) is not None


def test_a_failed_upgrade_leaves_the_coarser_expert() -> None:
    cache = make_cache(WHOLE)
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


def test_a_lease_is_no_use_after_release() -> None:
    lease = load(make_cache(WHOLE), KEYS[0], 4)
    with pytest.raises(ValueError, match="tier 8 needs 3 planes"):
        lease.planes(8)
    lease.release()
    with pytest.raises(RuntimeError, match="was released"):
        lease.planes(4)


def test_refused_memory_is_told_and_nothing_is_lost() -> None:
    calls, allocate = 0, host_allocator()

    def stingy(nbytes: int):  # type: ignore[no-untyped-def]
        nonlocal calls
        calls += 1
        if calls == 2:
            raise MemoryError
        return allocate(nbytes)

    cache = ExpertCache(2 * WHOLE, Lru(), lambda key: SPEC, WHOLE, stingy)
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
    small = pool.take(ALIGN)
    assert small is not None
    pool.give(small)
    assert (pool.in_use, pool.total) == (0, ALIGN)
    assert pool.take(3 * ALIGN) is not None
    assert pool.total == 3 * ALIGN
    assert pool.take(ALIGN) is None


def test_lru_gives_up_the_one_unused_for_longest() -> None:
    policy = Lru()
    for key in (KEYS[0], KEYS[5], KEYS[1], KEYS[0]):
        policy.used(key)
    assert policy.victim(KEYS[9], lambda key: True) == KEYS[5]
    assert policy.victim(KEYS[9], lambda key: key != KEYS[5]) == KEYS[1]
    policy.removed(KEYS[5])
    assert policy.victim(KEYS[9], lambda key: True) == KEYS[1]
    assert policy.victim(KEYS[9], lambda key: False) is None


def test_lru_per_layer_replays_mixtral_offloading() -> None:
    """k = 2 per layer over three layers: every layer keeps its own last two, whatever the others do."""
    policy, held = LruPerLayer(3), set[ExpertKey]()
    trace = [(layer, (7 * step + layer * step) % 4) for step in range(30) for layer in range(3)]
    recent: dict[int, list[int]] = {0: [], 1: [], 2: []}
    for layer, expert in trace:
        key = ExpertKey(layer, expert)
        if key not in held and len(held) == 6:
            victim = policy.victim(key, lambda k: True)
            assert victim is not None
            policy.removed(victim)
            held.remove(victim)
        held.add(key)
        policy.used(key)
        recent[layer] = [e for e in recent[layer] if e != expert] + [expert]
        if len(held) == 6 and all(len(r) >= 2 for r in recent.values()):
            assert {k.expert for k in held if k.layer == layer} == set(recent[layer][-2:])


def test_a_layer_with_less_than_its_share_takes_from_the_fullest() -> None:
    policy = LruPerLayer(2)
    for expert in range(4):
        policy.used(ExpertKey(0, expert))
    assert policy.victim(ExpertKey(1, 0), lambda k: True) == ExpertKey(0, 0)
    assert policy.victim(ExpertKey(1, 0), lambda k: k.expert == 3) == ExpertKey(0, 3)
