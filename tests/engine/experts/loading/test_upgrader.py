"""Compute now, upgrade later: what ran coarse and is used again is completed once the disk is idle."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
import torch

from engine.experts.backend import Step
from engine.experts.keys import ExpertKey
from engine.experts.precision import EXACT, Thresholds
from engine.experts.runtime import ExpertRuntime
from engine.record.layout import ExpertSpec
from tests.engine.experts.sources import MemorySource
from tests.waiting import until

SPEC = ExpertSpec(48, 40, 8, 16)
Open = Callable[..., ExpertRuntime]
COARSE = ExpertKey(0, 4)  # the second choice of `step`


@pytest.fixture
def source() -> MemorySource:
    return MemorySource(SPEC)


@pytest.fixture
def opened(source: MemorySource) -> Iterator[Open]:
    """Opens runtimes whose capacity is given in whole experts, under a dial that fetches second choices coarse."""
    made: list[ExpertRuntime] = []

    def make(experts: float) -> ExpertRuntime:
        made.append(source.open(experts, thresholds=Thresholds(0.2, 1.0)))
        made[-1].upgrade = True
        return made[-1]

    yield make
    source.gate.set()
    for runtime in made:
        runtime.close()


def step(runtime: ExpertRuntime, first: int, second: int = COARSE.expert) -> None:
    asked = Step.of(48, 2)
    asked.x.fill_(0.5)
    asked.ids.copy_(torch.tensor([[first, second]]))
    asked.weights.copy_(torch.tensor([[0.7, 0.3]]))
    runtime.moe_step(0, asked)


def settled(runtime: ExpertRuntime) -> None:
    """Whatever was begun has come."""
    until(lambda: runtime.loader.idle)
    runtime.pending.commit_completed()


def test_what_is_used_again_is_completed(source: MemorySource, opened: Open) -> None:
    runtime = opened(12)
    step(runtime, 1)
    assert runtime.cache.residency()[COARSE] == 2
    step(runtime, 1)
    settled(runtime)
    assert runtime.cache.residency()[COARSE] == 8
    assert runtime.snapshot().upgraded == 1
    assert source.reads[-1] == (COARSE, tuple(p for p in SPEC.layout.parts_for(8) if p not in SPEC.layout.parts_for(2)))
    before = runtime.snapshot().precision
    step(runtime, 1)
    assert runtime.snapshot().precision == {**before, "8": before["8"] + 2}


def test_one_use_is_no_reason(source: MemorySource, opened: Open) -> None:
    runtime = opened(12)
    step(runtime, 1)
    step(runtime, 2, 3)
    settled(runtime)
    assert runtime.cache.residency()[COARSE] == 2
    assert runtime.snapshot().upgraded == 0


def test_a_demand_takes_it_over(source: MemorySource, opened: Open) -> None:
    runtime = opened(12)
    step(runtime, 1)
    source.gate.clear()
    step(runtime, 1)  # begins the upgrade, which waits
    assert runtime.pending.pending_tier(COARSE) == 8
    runtime.set_thresholds(EXACT)
    source.gate.set()
    reads = len(source.reads)
    step(runtime, 1)
    assert len(source.reads) - reads <= 1
    assert runtime.cache.residency()[COARSE] == 8


def test_it_gives_way_where_room_is_short(source: MemorySource, opened: Open) -> None:
    runtime = opened(2)
    for first in (1, 1, 2, 3, 5, 1, 2):
        step(runtime, first)
        assert runtime.cache.nbytes <= runtime.cache.capacity
    settled(runtime)
    runtime.set_capacity(source.expert_bytes)
    assert runtime.cache.nbytes <= source.expert_bytes


def test_under_the_exact_dial_there_is_nothing_to_repair(source: MemorySource, opened: Open) -> None:
    runtime = opened(12)
    step(runtime, 1)
    runtime.set_thresholds(EXACT)
    step(runtime, 2, 3)
    step(runtime, 2, 3)
    settled(runtime)
    assert runtime.cache.residency()[COARSE] == 2


def test_while_much_is_missing_nothing_is_repaired(source: MemorySource, opened: Open) -> None:
    runtime = opened(3)
    for turn in range(30):
        step(runtime, 1 + turn % 3)
        step(runtime, turn % 2 * 5, 3)
    settled(runtime)
    assert runtime.snapshot().misses > 30
    assert runtime.snapshot().upgraded <= 2  # before it was known
