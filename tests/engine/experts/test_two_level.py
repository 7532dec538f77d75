"""Two levels of memory by themselves: where an expert is found, and which way it moves."""

from __future__ import annotations

import pytest

from engine.experts import two_level
from engine.experts.buffers import allocate_on
from engine.experts.cache import ExpertCache
from engine.experts.entry import Lease
from engine.experts.keys import ExpertKey
from engine.experts.policies import Lru, Shape
from engine.experts.two_level import TieredCache
from engine.store.layout import ExpertSpec

SPEC = ExpertSpec(48, 32, 8, 16)
WHOLE = SPEC.layout.bytes_for(8)
SHAPE = Shape((0,), 4)
A, B, C, D = (ExpertKey(0, e) for e in range(4))


def make(device: float, host: int) -> TieredCache:
    """Capacities in whole experts; the device is a second pool in ordinary memory."""
    return TieredCache(
        [
            ExpertCache(int(device * WHOLE), Lru(SHAPE), lambda key: SPEC, WHOLE, allocate_on("cpu")),
            ExpertCache(host * WHOLE, Lru(SHAPE), lambda key: SPEC, WHOLE),
        ]
    )


def load(cache: TieredCache, key: ExpertKey, tier: int = 8) -> Lease:
    arrival = cache.reserve(key, tier)
    assert arrival is not None
    for index, view in zip(arrival.reservation.parts, arrival.views, strict=True):
        view[:] = bytes([10 * key.expert + index]) * len(view)
    return cache.commit(arrival)


def find(cache: TieredCache, key: ExpertKey, tier: int = 8) -> Lease | None:
    return cache.lookup([(key, tier, None)]).get(key)


def holds(lease: Lease | None) -> list[int]:
    """The first byte of every part, all of whose bytes must be equal."""
    assert lease is not None
    parts = lease.parts.parts.values()
    assert all(p.eq(p[0]).all() for p in parts)
    return [int(p[0]) for p in parts]


def where(cache: TieredCache) -> list[dict[ExpertKey, int]]:
    return [level.residency() for level in cache.levels]


def test_from_disk_through_memory_to_the_device() -> None:
    cache = make(1, 2)
    lease = load(cache, A)
    assert (lease.level, holds(lease)) == (0, [1, 2, 4, 5])
    assert where(cache) == [{A: 8}, {}]
    assert cache.levels[1].nbytes <= cache.levels[1].capacity
    assert cache.counts[0].arrivals == 1


def test_the_evicted_moves_down_and_comes_back_up() -> None:
    cache = make(1, 2)
    load(cache, A).release()
    load(cache, B).release()
    assert where(cache) == [{B: 8}, {A: 8}]
    assert cache.places() == {B: 2, A: 1}
    again = find(cache, A)
    assert again is not None
    assert (again.level, holds(again)) == (0, [1, 2, 4, 5])
    assert where(cache) == [{A: 8}, {B: 8}]
    assert (cache.counts[0].demotions, cache.counts[1].promotions, cache.counts[1].hits) == (2, 1, 1)


def test_what_cannot_move_up_is_used_where_it_is() -> None:
    cache = make(1, 2)
    load(cache, A).release()
    held = load(cache, B)
    below = find(cache, A)
    assert below is not None
    assert (below.level, holds(below)) == (1, [1, 2, 4, 5])
    from_disk = load(cache, C)
    assert (from_disk.level, holds(from_disk)) == (1, [21, 22, 24, 25])
    assert cache.reserve(D, 2) is None  # both levels are leased to the last byte
    assert find(cache, B) is not None
    held.release()


def test_of_one_call_no_hit_pushes_out_another() -> None:
    cache = make(1, 2)
    load(cache, A).release()
    load(cache, B).release()  # B above, A below
    found = cache.lookup([(A, 8, 8), (B, 8, 8)])
    assert {key: lease.level for key, lease in found.items()} == {A: 1, B: 0}
    assert cache.counts[0].demotions == 1


def test_a_coarse_expert_is_raised_across_levels() -> None:
    cache = make(1.3, 2)  # above, too little for both, enough to raise one beside what it was
    load(cache, A, 2).release()
    load(cache, B).release()
    assert where(cache) == [{B: 8}, {A: 2}]
    assert find(cache, A, 8) is None
    arrival = cache.reserve(A, 8)
    assert arrival is not None
    assert (arrival.level, arrival.reservation.parts) == (0, (2, 4, 5))  # the others came from memory, not from disk
    cache.abandon(arrival)
    assert cache.residency()[A] == 2
    assert holds(load(cache, A)) == [1, 2, 4, 5]


def test_when_memory_is_full_too_the_oldest_is_dropped() -> None:
    cache = make(1, 1)
    for key in (A, B, C):
        load(cache, key).release()
    assert where(cache)[0] == {C: 8}
    assert find(cache, A) is None
    assert cache.counts[1].dropped + cache.counts[0].dropped > 0
    for level in cache.levels:
        assert level.nbytes <= level.capacity


def test_lookup_at_any_tier_takes_what_is_there() -> None:
    cache = make(2, 1)
    load(cache, A, 4).release()
    assert find(cache, B, 0) is None
    lease = find(cache, A, 0)
    assert lease is not None
    assert lease.tier == 4
    assert holds(lease) == [1, 2, 3]


def test_a_copy_that_fails_leaves_nothing_held(monkeypatch: pytest.MonkeyPatch) -> None:
    cache = make(1, 2)
    load(cache, A).release()
    load(cache, B).release()  # B above, A below
    arrival = cache.reserve(C, 8)
    assert arrival is not None

    def fail(parts: object, reservation: object) -> None:
        raise RuntimeError("the device is gone")

    monkeypatch.setattr(two_level, "_copy", fail)
    with pytest.raises(RuntimeError, match="gone"):
        cache.commit(arrival)
    with pytest.raises(RuntimeError, match="gone"):
        cache.lookup([(B, 8, 8)])  # given up for C, so below
    monkeypatch.undo()
    for level in cache.levels:
        level.set_capacity(WHOLE)  # comes down at once only when nothing is held
        assert level.nbytes <= WHOLE
    assert holds(load(cache, D)) == [31, 32, 34, 35]
