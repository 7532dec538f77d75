"""The card's memory for experts: blocks of several sizes, a card that gives no more, and everything given back."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from engine.cuda.arena import DeviceArena
from engine.cuda.device import CardDevice
from engine.cuda.driver import Driver
from engine.cuda.errors import CardError
from tests.engine.cuda.simulated_driver import MIB, OUT_OF_MEMORY, SimulatedDriver


@pytest.fixture
def card() -> Iterator[tuple[SimulatedDriver, CardDevice]]:
    simulated = SimulatedDriver(total=16 * MIB)
    device = CardDevice(Driver(simulated), 0)
    yield simulated, device
    device.close()
    assert simulated.leaks == []


def test_blocks_never_overlap_and_never_exceed_the_capacity(card: tuple[SimulatedDriver, CardDevice]) -> None:
    simulated, device = card
    arena, rng = DeviceArena(device, 8 * MIB, slab=MIB), random.Random(5)
    held: dict[int, int] = {}
    for _ in range(2000):
        size = rng.choice([3000, 70_000, 400_000])
        if held and rng.random() < 0.45:
            at = rng.choice(list(held))
            arena.give(at)
            del held[at]
        elif (at := arena.take(size)) is not None:
            assert not at % 256
            assert all(at + size <= other or other + n <= at for other, n in held.items())
            held[at] = size
        assert arena.used <= arena.held <= arena.capacity
        assert arena.used >= sum(held.values())
        assert simulated.memory.used == arena.held


def test_memory_of_one_size_serves_another_once_it_is_free(card: tuple[SimulatedDriver, CardDevice]) -> None:
    _, device = card
    arena = DeviceArena(device, MIB, slab=MIB)
    blocks = [at for _ in range(4) if (at := arena.take(MIB // 4)) is not None]
    assert len(blocks) == 4
    assert arena.take(MIB) is None
    for at in blocks:
        arena.give(at)
    assert arena.take(MIB) is not None


def test_where_the_card_gives_no_more_it_is_not_asked_again(card: tuple[SimulatedDriver, CardDevice]) -> None:
    simulated, device = card
    arena = DeviceArena(device, 64 * MIB, slab=MIB)
    taken = 0
    while arena.take(MIB) is not None:
        taken += 1
    assert taken == 15  # the simulated card leaves gaps
    assert arena.capacity == 15 * MIB
    asked = simulated.calls["cuMemAlloc_v2"]
    assert arena.take(MIB) is None
    assert simulated.calls["cuMemAlloc_v2"] == asked


def test_another_error_than_memory_is_told(card: tuple[SimulatedDriver, CardDevice]) -> None:
    simulated, device = card
    arena = DeviceArena(device, MIB)
    simulated.fail["cuMemAlloc_v2"] = [OUT_OF_MEMORY, 719]
    assert arena.take(10) is None
    arena.capacity = MIB
    with pytest.raises(CardError):
        arena.take(10)


def test_a_smaller_capacity_gives_back_what_nobody_uses(card: tuple[SimulatedDriver, CardDevice]) -> None:
    simulated, device = card
    arena = DeviceArena(device, 4 * MIB, slab=MIB)
    blocks = [arena.take(MIB) for _ in range(4)]
    arena.shrink(MIB)
    assert arena.held == 4 * MIB
    for at in blocks[1:]:
        assert at is not None
        arena.give(at)
    arena.shrink(MIB)
    assert simulated.memory.used == arena.held == MIB
