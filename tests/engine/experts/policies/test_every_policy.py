"""What holds for every policy: who leaves is there and may leave, and what is expected soon leaves last."""

from __future__ import annotations

import random

import pytest

from engine.errors import Kind, UnderhillError
from engine.experts.keys import ExpertKey
from engine.experts.policies import NAMES, ExpertGrid, LayerVisit, Policy, make_policy
from engine.settings import ALL

SHAPE = ExpertGrid((1, 2, 5), 8)
KEYS = [ExpertKey(layer, expert) for layer in SHAPE.layers for expert in range(8)]


@pytest.mark.parametrize("name", NAMES)
def test_who_leaves_is_resident_and_evictable_whatever_happened(name: str) -> None:
    chance = random.Random(0)
    policy, resident = make_policy(name, SHAPE), set[ExpertKey]()
    for step in range(600):
        if step % 90 == 0:
            policy.begin_sequence()
        layer = SHAPE.layers[step % 3]
        prompt = step % 41 == 0
        chosen = chance.sample(range(8), 6 if prompt else 2)
        counts = [chance.randint(1, 5) for _ in chosen] if prompt else None
        policy.routed(LayerVisit(layer, chosen, [chance.random() < 0.7 for _ in chosen], counts, 9 if prompt else 1))
        pinned = {ExpertKey(layer, expert) for expert in chosen[:2]}
        for key in [ExpertKey(layer, expert) for expert in chosen if ExpertKey(layer, expert) not in resident]:
            if len(resident) >= 7:
                victim = policy.victim(key, lambda k, pinned=pinned: k not in pinned)  # type: ignore[misc]
                assert victim in resident - pinned
                resident.remove(victim)
                policy.removed(victim)
            policy.inserted(key)
            resident.add(key)
    for _ in range(len(resident)):
        victim = policy.victim(ExpertKey(-1, -1), lambda key: True)
        assert victim in resident
        resident.remove(victim)
        policy.removed(victim)
    assert policy.victim(KEYS[0], lambda key: True) is None


@pytest.mark.parametrize("name", NAMES)
def test_nobody_leaves_where_nobody_may(name: str) -> None:
    policy = make_policy(name, SHAPE)
    for key in KEYS:
        policy.inserted(key)
    assert policy.victim(KEYS[0], lambda key: False) is None
    assert policy.victim(KEYS[0], lambda key: key == KEYS[13]) == KEYS[13]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("refused", [2, 12])  # few are passed over one by one, many at once
def test_who_was_in_use_may_leave_the_next_time(name: str, refused: int) -> None:
    policy = make_policy(name, SHAPE)
    for row, layer in enumerate(SHAPE.layers):
        policy.routed(LayerVisit(layer, [row, row + 3]))
    for key in KEYS:
        policy.inserted(key)
    first: list[ExpertKey] = []
    for _ in range(refused):
        first.append(policy.victim(KEYS[0], lambda key: key not in first) or KEYS[0])
    assert len({*first}) == refused
    assert policy.victim(KEYS[0], lambda key: True) == first[0]
    policy.removed(first[0])
    assert policy.victim(KEYS[0], lambda key: key not in first[1:]) not in first
    assert policy.victim(KEYS[0], lambda key: key in first) in first[1:]


@pytest.mark.parametrize("name", NAMES)
def test_the_expected_leave_last_until_others_are_expected(name: str) -> None:
    policy = make_policy(name, SHAPE)
    first = KEYS[:3]
    policy.protect([*first, KEYS[20]])  # KEYS[20] is yet to come
    for key in (*first, KEYS[9], KEYS[20]):
        policy.inserted(key)
    assert policy.victim(KEYS[23], lambda key: True) == KEYS[9]
    policy.removed(KEYS[9])
    assert policy.victim(KEYS[23], lambda key: True) in {*first, KEYS[20]}  # rather than nobody
    policy.protect([KEYS[20], KEYS[1], KEYS[2]])
    assert policy.victim(KEYS[23], lambda key: True) == KEYS[0]


def order(policy: Policy) -> list[ExpertKey]:
    """All experts, as they would leave."""
    left: list[ExpertKey] = []
    while (victim := policy.victim(KEYS[0], lambda key: key not in left)) is not None:
        left.append(victim)
    return left


def visits(seed: int, count: int) -> list[LayerVisit]:
    chance = random.Random(seed)
    return [
        LayerVisit(SHAPE.layers[step % 3], chance.sample(range(8), 2), [chance.random() < 0.7 for _ in range(2)])
        for step in range(count)
    ]


@pytest.mark.parametrize("name", NAMES)
def test_a_sequence_beside_leaves_the_records_of_the_open_one_as_they_were(name: str) -> None:
    policy, undisturbed = make_policy(name, SHAPE), make_policy(name, SHAPE)
    for one in (policy, undisturbed):
        for key in KEYS:
            one.inserted(key)
        one.begin_sequence()
        for visit in visits(1, 70):
            one.routed(visit)
    records = policy.put_aside()
    for visit in visits(2, 50):
        policy.routed(visit)
    order(policy)
    policy.routed(visits(3, 1)[0])  # of which nothing was asked any more
    policy.bring_back(records)
    for more in range(3):
        assert order(policy) == order(undisturbed)
        for visit in visits(4 + more, 20):
            policy.routed(visit)
            undisturbed.routed(visit)


@pytest.mark.parametrize("name", ["hobbit", "lfu", "activation"])
def test_what_runs_beside_begins_with_nothing(name: str) -> None:
    policy, fresh = make_policy(name, SHAPE), make_policy(name, SHAPE)
    for one in (policy, fresh):
        for key in KEYS:
            one.inserted(key)
    for visit in visits(1, 1) * 40:
        policy.routed(visit)
    policy.put_aside()
    for one in (policy, fresh):
        for visit in visits(2, 60):
            one.routed(visit)
    assert order(policy) == order(fresh)


def test_the_setting_offers_every_policy() -> None:
    assert set(ALL["policy"].choices) == set(NAMES)
    with pytest.raises(UnderhillError, match="no cache policy called 'magic'") as error:
        make_policy("magic", SHAPE)
    assert error.value.kind is Kind.BAD_REQUEST
