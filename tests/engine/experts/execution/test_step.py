"""The short way of a few tokens: the same bits, counters and cache as the long one, whatever was cached."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Callable, Iterator

import pytest
import torch
from torch import Tensor

from engine.errors import UnderhillError
from engine.experts import runtime as runtimes
from engine.experts.backend import Step
from engine.experts.keys import ExpertKey
from engine.experts.policies import HobbitWeights, HobbitWeightsByShare
from engine.experts.precision import EXACT, Thresholds
from engine.experts.runtime import ExpertRuntime
from engine.experts.telemetry import COARSE, SKIPPED, ExpertSnapshot
from engine.native.eviction import unimportance
from engine.native.op_graph import MOST_ROWS
from engine.record.layout import ExpertSpec
from tests.engine.experts.sources import MemorySource
from tests.waiting import LONGEST

SPEC = ExpertSpec(48, 40, 8, 16)
K = 3
WEIGHTS = HobbitWeightsByShare(((1.0, HobbitWeights(0.2, 0.2, 0.5, 0.1)),))
Open = Callable[..., ExpertRuntime]


@pytest.fixture
def opened() -> Iterator[Open]:
    """Opens runtimes whose capacity is given in whole experts."""
    made: list[ExpertRuntime] = []

    def make(source: MemorySource, experts: float, **options: object) -> ExpertRuntime:
        made.append(source.open(experts, **options))
        return made[-1]

    yield make
    for runtime in made:
        runtime.close()


def stepped(runtime: ExpertRuntime, layer: int, x: Tensor, ids: Tensor, weights: Tensor) -> Tensor:
    step = Step(x.clone(), ids.clone(), weights.clone(), torch.full_like(x, float("nan")))
    runtime.moe_step(layer, step)
    return step.y


def told(runtime: ExpertRuntime) -> ExpertSnapshot:
    """The counters, without what depends on the clock."""
    return dataclasses.replace(runtime.snapshot(), read_seconds=0.0)


@pytest.mark.parametrize("policy", ["lru", "lru_layer"])
def test_exact_steps_are_the_same_at_every_capacity(opened: Open, policy: str) -> None:
    source = MemorySource(SPEC)
    full = opened(source, 12)
    for experts in (1, 4, 7, 12):
        small = opened(source, experts, policy=policy, readers=2)
        for seed in range(12):
            for layer in source.layers:
                routing = source.routing(1, K, 10 * seed + layer)
                assert torch.equal(stepped(small, layer, *routing), full.moe(layer, *routing))
                assert small.cache.nbytes <= small.cache.capacity


@pytest.mark.parametrize(
    "spec", [SPEC, ExpertSpec(48, 40, 4, 16), ExpertSpec(33, 21, 32, 16, has_bias=True), ExpertSpec(64, 48, 16, 16)]
)
@pytest.mark.parametrize("policy", ["lru", "hobbit"])
def test_tokens_of_one_step_have_the_bits_of_single_ones(opened: Open, spec: ExpertSpec, policy: str) -> None:
    source = MemorySource(spec)
    full = opened(source, 12)
    for experts in (1, 4, 7, 12):  # of 6 in each layer: from none that can stay to all
        small = opened(source, experts, policy=policy, weights=WEIGHTS, readers=2)
        for seed, tokens in enumerate((2, 1, 3, 5, MOST_ROWS, 8, 4, 11)):
            for layer in source.layers:
                routing = source.routing(tokens, K, 10 * seed + layer)
                singles = [stepped(full, layer, *(part[at : at + 1] for part in routing)) for at in range(tokens)]
                assert torch.equal(stepped(small, layer, *routing), torch.cat(singles))
                assert small.cache.nbytes <= small.cache.capacity
        if experts < 12:
            assert small.snapshot().misses > 0


def test_each_expert_of_several_tokens_is_read_once(opened: Open) -> None:
    source = MemorySource(SPEC)
    runtime = opened(source, 12)
    ids = torch.tensor([[0, 1], [1, 2], [2, 0], [1, 0]])
    x, weights = torch.randn(4, 48), torch.full((4, 2), 0.5)
    for hits, misses in ((0, 3), (3, 3)):
        stepped(runtime, 0, x, ids, weights)
        told_now = runtime.snapshot()
        assert (told_now.hits, told_now.misses, told_now.reads) == (hits, misses, 3)
    assert told_now.uses[0][:4] == (6, 6, 4, 0)
    assert told_now.precision["8"] == 16


def test_memory_is_taken_away_once_a_layer_has_what_it_waits_for(opened: Open) -> None:
    """By another thread, as it is by the one that watches the system's memory."""
    source = MemorySource(SPEC)
    routing = source.routing(1, K, 5)
    wanted = opened(source, 12).moe(0, *routing)
    runtime = opened(source, 6)
    outs: list[Tensor] = []
    source.gate.clear()
    while source.started.acquire(blocking=False):
        pass
    model = threading.Thread(target=lambda: outs.append(stepped(runtime, 0, *routing)), daemon=True)
    model.start()
    assert source.started.acquire(timeout=LONGEST)  # it waits for its experts
    memory = threading.Thread(target=runtime.set_capacity, args=(4 * source.expert_bytes,), daemon=True)
    memory.start()
    memory.join(0.1)
    source.gate.set()
    model.join(LONGEST)
    memory.join(LONGEST)
    assert not model.is_alive()
    assert not memory.is_alive()
    assert torch.equal(outs[0], wanted)
    assert runtime.cache.nbytes <= runtime.cache.capacity == 4 * source.expert_bytes


@pytest.mark.parametrize("policy", ["lru", "lru_layer", "hobbit"])
@pytest.mark.parametrize("spec", [SPEC, ExpertSpec(48, 40, 4, 16), ExpertSpec(33, 21, 32, 16, has_bias=True)])
def test_a_run_of_steps_leaves_what_the_long_way_leaves(
    opened: Open, policy: str, spec: ExpertSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bits, counters, and through the counters who was evicted; the dial, tier and capacity changing on the way."""
    monkeypatch.setattr(runtimes, "READS_AHEAD", 1)  # or who is evicted for a raised expert hangs on the clock
    source = MemorySource(spec)
    long, short = (opened(source, 8, policy=policy, weights=WEIGHTS) for _ in range(2))
    random = torch.Generator().manual_seed(1)
    for seed in range(120):
        layer = source.layers[seed % 2]
        x, ids, _ = source.routing(1, K, seed)
        weights = torch.rand(1, K, generator=random) ** 3 * (torch.rand(1, K, generator=random) - 0.3).sign()
        for runtime in (long, short):
            if seed % 20 == 10:
                runtime.set_thresholds(EXACT if seed % 40 == 10 else Thresholds(0.4, 0.8))
            if seed % 30 == 15:
                runtime.set_tier(spec.tiers[seed // 30 % len(spec.tiers)])
            if seed % 40 == 25:
                runtime.set_capacity((8 if seed % 80 == 25 else 9) * source.expert_bytes)
        expected = long.moe(layer, x, ids, weights)
        assert torch.equal(stepped(short, layer, x, ids, weights), expected), seed
        assert told(short) == told(long), seed
    assert told(short).hits > told(short).misses > 0
    for layer in source.layers:
        notes = short.telemetry.notes(layer)
        assert notes.tolist() == long.telemetry.notes(layer).tolist()
        assert notes[:, COARSE].any() == (len(spec.tiers) > 1)
        assert notes[:, SKIPPED].any()


@pytest.mark.parametrize("policy", ["lru", "hobbit"])
def test_steps_of_several_tokens_are_counted_as_the_long_way_counts_them(opened: Open, policy: str) -> None:
    source = MemorySource(SPEC)
    dial = Thresholds(0.4, 0.8)
    long, short = (opened(source, 12, policy=policy, weights=WEIGHTS, thresholds=dial) for _ in range(2))
    random = torch.Generator().manual_seed(1)
    for seed in range(40):
        layer, tokens = source.layers[seed % 2], 2 + seed % 5
        x, ids, _ = source.routing(tokens, K, seed)
        weights = torch.rand(tokens, K, generator=random) ** 3
        if seed == 20:
            for runtime in (long, short):
                runtime.set_thresholds(EXACT)
        assert torch.equal(stepped(short, layer, x, ids, weights), long.moe(layer, x, ids, weights)), seed
        assert told(short) == told(long), seed
    for layer in source.layers:
        assert short.telemetry.notes(layer).tolist() == long.telemetry.notes(layer).tolist()
        assert short.telemetry.notes(layer)[:, COARSE].any()


def test_several_tokens_that_visit_more_than_a_layer_may_keep_are_a_sweep(opened: Open) -> None:
    """Or the layers to come would lose all they have to this one."""
    source = MemorySource(SPEC)
    runtime = opened(source, 7, policy="lru")
    for layer in source.layers:
        for expert in range(2):
            stepped(runtime, layer, torch.randn(1, 48), torch.tensor([[expert]]), torch.ones(1, 1))
    ids = torch.tensor([[0, 1], [2, 3], [4, 5]])
    stepped(runtime, source.layers[0], torch.randn(3, 48), ids, torch.full((3, 2), 0.5))
    assert all(runtime.cache.tier(ExpertKey(source.layers[1], expert), 8) for expert in range(2))


def test_the_dial_decides_as_it_does_the_long_way(opened: Open) -> None:
    """Scores that fall exactly on a threshold included."""
    source = MemorySource(SPEC)
    for seed in range(60):
        x, ids, _ = source.routing(1, 5, seed)
        random = torch.Generator().manual_seed(seed)
        weights = torch.randint(0, 5, (1, 5), generator=random) / 8 + 0.125 if seed % 2 else torch.rand(1, 5)
        scores = sorted(unimportance(weights).ravel().tolist())
        dial = Thresholds(scores[2], scores[3 + seed % 2])
        long, short = (opened(source, 12, thresholds=dial) for _ in range(2))
        for _ in range(2):  # nothing is there, then what the dial left
            assert torch.equal(stepped(short, 0, x, ids, weights), long.moe(0, x, ids, weights))
            assert told(short) == told(long)


def test_a_token_whose_experts_are_there_takes_no_lease(opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    source = MemorySource(SPEC)
    runtime = opened(source, 12)
    routing = source.routing(1, K)
    expected = runtime.moe(0, *routing)
    monkeypatch.setattr(runtime.cache, "lookup", lambda *_: pytest.fail("the long way"))
    assert torch.equal(stepped(runtime, 0, *routing), expected)


def test_an_expert_that_left_is_fetched_again(opened: Open) -> None:
    source = MemorySource(SPEC)
    runtime = opened(source, 12)
    x, ids, weights = torch.randn(1, 48), torch.tensor([[0, 1]]), torch.tensor([[0.5, 0.5]])
    expected = stepped(runtime, 0, x, ids, weights)
    runtime.set_capacity(source.expert_bytes)
    runtime.set_capacity(12 * source.expert_bytes)
    assert torch.equal(stepped(runtime, 0, x, ids, weights), expected)
    assert runtime.snapshot().misses == 3


def test_a_failed_read_fails_the_step_and_nothing_else(opened: Open) -> None:
    source = MemorySource(SPEC)
    runtime = opened(source, 3)
    routing = source.routing(1, K)
    expected = opened(source, 12).moe(0, *routing)
    source.failing.add(ExpertKey(0, int(routing[1][0, 1])))
    for _ in range(2):
        with pytest.raises(UnderhillError, match="could not read"):
            stepped(runtime, 0, *routing)
    source.failing.clear()
    assert torch.equal(stepped(runtime, 0, *routing), expected)


@pytest.mark.parametrize("wrong", [-1, 6])
def test_an_expert_that_does_not_exist_is_refused(opened: Open, wrong: int) -> None:
    runtime = opened(MemorySource(SPEC), 12)
    with pytest.raises(ValueError, match=f"no expert {wrong}"):
        stepped(runtime, 0, torch.randn(1, 48), torch.tensor([[wrong]]), torch.ones(1, 1))


def test_what_is_no_matter_for_the_short_way_goes_the_long_one(opened: Open) -> None:
    source = MemorySource(SPEC)
    x, weights = torch.randn(1, 48), torch.tensor([[0.4, 0.4]])
    twice = torch.tensor([[4, 4]])
    runtime = opened(source, 12)
    for _ in range(2):
        assert torch.equal(stepped(runtime, 0, x, twice, weights), runtime.moe(0, x, twice, weights))
    assert runtime.snapshot().hits == 3
    assert runtime.snapshot().uses[0][4] == 8
    nan = torch.tensor([[float("nan"), 0.5]])
    runtime = opened(source, 12, thresholds=Thresholds(0.2, 0.5))
    for _ in range(2):
        assert stepped(runtime, 0, x, torch.tensor([[1, 2]]), nan).isnan().all()


def test_listeners_hear_of_steps_and_keep_what_they_heard(opened: Open) -> None:
    runtime = opened(MemorySource(SPEC), 12)
    heard: list[tuple[int, Tensor, Tensor]] = []
    runtime.route_listener = lambda *routing: heard.append(routing)
    step = Step.of(48, 2)
    for first in (1, 3):
        step.ids.copy_(torch.tensor([[first, 0]]))
        step.weights.fill_(0.1 * first)
        runtime.moe_step(2, step)
    assert [(layer, ids.tolist()) for layer, ids, _ in heard] == [(2, [[1, 0]]), (2, [[3, 0]])]
    assert heard[0][2].flatten().tolist() == pytest.approx([0.1, 0.1])
