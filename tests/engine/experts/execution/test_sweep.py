"""Long prompts: every expert read once a chunk and no more than fits, the next layer's early, the most chosen kept."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

import pytest
import torch

from engine.errors import Kind, UnderhillError
from engine.experts.cache.expert_cache import Lease
from engine.experts.execution import batch
from engine.experts.execution.batch import Call
from engine.experts.execution.requests import ExpertRequest
from engine.experts.keys import ExpertKey, Urgency
from engine.experts.runtime import ExpertRuntime
from engine.planning import speed
from engine.record.layout import ExpertSpec
from tests.engine.experts.sources import MemorySource

pytestmark = pytest.mark.long

SPEC = ExpertSpec(32, 32, 8, 16)
LAYERS, EXPERTS, K = (0, 1, 2), 16, 2
Open = Callable[..., ExpertRuntime]


@pytest.fixture
def source() -> MemorySource:
    return MemorySource(SPEC, LAYERS, EXPERTS)


@pytest.fixture
def opened(source: MemorySource) -> Iterator[Open]:
    """Opens runtimes whose capacity is given in whole experts."""
    made: list[ExpertRuntime] = []

    def make(experts: float, **options: object) -> ExpertRuntime:
        made.append(source.open(experts, **{"exact": True, "readers": 2, **options}))
        return made[-1]

    yield make
    for runtime in made:
        runtime.close()


def prompt(
    source: MemorySource, tokens: int, seed: int = 0, favourites: tuple[int, ...] = ()
) -> list[tuple[torch.Tensor, ...]]:
    """Routing of every layer; the favourites are each chosen by half of the tokens."""
    routed = []
    for layer in LAYERS:
        x, ids, weights = source.routing(tokens, K, 100 * seed + layer)
        for at, expert in enumerate(favourites):
            rows = torch.arange(at % 2, tokens, 2)
            ids[rows, at % K] = expert
            ids[rows[ids[rows, 1 - at % K] == expert], 1 - at % K] = (expert + 1) % EXPERTS
        routed.append((x, ids, weights))
    return routed


@pytest.mark.parametrize("policy", ["lru", "lru_layer", "hobbit"])
def test_a_prompt_is_the_same_whatever_fits(source: MemorySource, opened: Open, policy: str) -> None:
    full = opened(len(source.records))
    routed = prompt(source, 40)
    expected = [full.moe(layer, *routed[layer]) for layer in LAYERS]
    for experts in (1, 2, 5, 12, 24, 40):
        runtime = opened(experts, policy=policy)
        for _ in range(2):
            for layer in LAYERS:
                assert torch.equal(runtime.moe(layer, *routed[layer]), expected[layer])
                assert runtime.cache.nbytes <= runtime.cache.capacity


def test_each_expert_is_read_once_in_the_order_of_the_disk(source: MemorySource, opened: Open) -> None:
    runtime = opened(12, readers=1)
    routed = prompt(source, 60)
    for layer in LAYERS:
        runtime.moe(layer, *routed[layer])
    keys = [key for key, _ in source.reads]
    assert max(Counter(keys).values()) == 1
    assert set(keys) == set(source.records)
    assert keys == sorted(keys)


def test_the_next_layer_is_read_before_it_is_asked_for(source: MemorySource, opened: Open) -> None:
    runtime = opened(12)
    urgencies: list[tuple[int, Urgency]] = []
    runtime.loader.listener = lambda reader, key, parts, urgency, *rest: urgencies.append((key.layer, urgency))
    routed = prompt(source, 60)
    runtime.moe(0, *routed[0])
    runtime.moe(1, *routed[1])
    assert (1, Urgency.PREFETCH) in urgencies
    assert (0, Urgency.PREFETCH) not in urgencies


def test_few_tokens_read_nothing_for_the_next_layer(source: MemorySource, opened: Open) -> None:
    runtime = opened(12)
    for layer in LAYERS:
        x, _, weights = source.routing(4, K, layer)
        runtime.moe(layer, x, torch.tensor([[0, 1], [2, 3], [4, 5], [6, 7]]), weights)
    assert runtime.snapshot().reads == 3 * 8


def test_what_comes_is_computed_before_what_was_there_so_that_reads_go_on(
    source: MemorySource, opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    runtime = opened(24, readers=1)
    routed = prompt(source, 60)
    for layer in LAYERS:
        runtime.moe(layer, *routed[layer])
    there = {key.expert for key in runtime.cache.residency() if key.layer == 0}
    assert 0 < len(there) < EXPERTS
    order: list[int] = []
    run = runtime.batch.compute

    def then_wait(call: Call, found: Sequence[tuple[ExpertRequest, Lease]]) -> None:
        run(call, found)
        order.extend(want.key.expert for want, _ in found)
        while not runtime.loader.idle:
            time.sleep(0.001)

    monkeypatch.setattr(batch, "BATCH", 1)
    monkeypatch.setattr(runtime.batch, "compute", then_wait)
    runtime.moe(0, *routed[0])
    assert sorted(order) == list(range(EXPERTS))
    assert order[-1] in there
    assert [expert for expert in order if expert not in there] == sorted(set(range(EXPERTS)) - there)


def test_experts_as_large_as_the_window_are_read_while_others_are_computed(
    source: MemorySource, opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(speed, "WINDOW", source.expert_bytes // 2)
    monkeypatch.setattr(batch, "BATCH", 1)
    runtime = opened(10)
    routed = prompt(source, 60)
    most = 0
    run = runtime.batch.compute

    def watched(call: Call, found: Sequence[tuple[ExpertRequest, Lease]]) -> None:
        nonlocal most
        most = max(most, sum(map(bool, map(runtime.pending.pending_tier, source.records))))
        run(call, found)

    monkeypatch.setattr(runtime.batch, "compute", watched)
    for layer in LAYERS:
        runtime.moe(layer, *routed[layer])
    assert most >= 1
    assert runtime.cache.nbytes <= runtime.cache.capacity


@pytest.mark.parametrize("policy", ["lru", "lru_layer", "hobbit"])
def test_what_the_prompt_chose_most_is_there_for_the_answer(source: MemorySource, opened: Open, policy: str) -> None:
    runtime = opened(12, policy=policy)
    favourites = (3, 8)
    runtime.telemetry.begin_answer()
    for seed in range(2):
        routed = prompt(source, 60, seed, favourites)
        for layer in LAYERS:
            runtime.moe(layer, *routed[layer])
    resident = runtime.cache.residency()
    assert all(ExpertKey(layer, expert) in resident for layer in LAYERS for expert in favourites)


def test_a_second_chunk_finds_what_stayed(source: MemorySource, opened: Open) -> None:
    runtime = opened(24, policy="lru")
    for seed in range(2):
        before = runtime.snapshot().reads
        routed = prompt(source, 60, seed)
        for layer in LAYERS:
            runtime.moe(layer, *routed[layer])
    assert runtime.snapshot().reads - before <= len(source.records) - 3 * 5  # (24 - window) / 3 stay in each layer


def test_a_prompt_that_is_stopped_or_fails_leaves_nothing_behind(source: MemorySource, opened: Open) -> None:
    runtime = opened(8)
    routed = prompt(source, 40)
    full = opened(len(source.records))
    expected = [full.moe(layer, *routed[layer]) for layer in LAYERS]
    source.failing.add(ExpertKey(1, 9))
    runtime.moe(0, *routed[0])
    with pytest.raises(UnderhillError, match="could not read"):
        runtime.moe(1, *routed[1])
    source.failing.clear()
    runtime.interrupted = lambda: True
    with pytest.raises(UnderhillError) as caught:
        runtime.moe(1, *routed[1])
    assert caught.value.kind is Kind.CANCELLED
    runtime.interrupted = None
    for layer in LAYERS:
        assert torch.equal(runtime.moe(layer, *routed[layer]), expected[layer])
    runtime.set_capacity(source.expert_bytes)
    assert runtime.cache.nbytes <= source.expert_bytes
