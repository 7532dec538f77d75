"""The simulated cache: sums worked out by hand, and the same counts as the runtime that it stands for."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from engine.experts.policies import NAMES, HobbitWeights, HobbitWeightsByShare, Lru, make_policy
from engine.experts.precision import EXACT, Thresholds
from engine.record.layout import ExpertSpec
from engine.tracing.recorder import Recorder
from engine.tracing.replay import Replayer
from engine.tracing.simulate import Outcome, Simulation
from engine.tracing.trace import Trace, TraceConditions
from engine.tracing.visits import Sizes, sizes_of, visits_of
from tests.engine.experts.sources import MemorySource
from tests.engine.tracing.traces import trace_of

SIZES = Sizes(coarse=6, full=10, rest=5)
MIXED = Thresholds(0.5, 0.9)


def run(trace: Trace, capacity: int, thresholds: Thresholds = EXACT) -> Outcome:
    return Simulation(shape=trace.shape, sizes=SIZES, capacity=capacity, policy=Lru(trace.shape)).run(
        visits_of(trace, thresholds)
    )


def test_coarse_raised_and_skipped_are_counted_in_bytes() -> None:
    choices = [[0, 1], [0, 1], [1, 0], [0, 2], [0, 1]]
    weights = [[0.8, 0.2], [0.8, 0.2], [0.8, 0.2], [0.95, 0.05], [0.95, 0.05]]
    found = run(trace_of(choices, weights=weights), 1000, MIXED)
    # 0 in full, 1 coarse | both hit | 1 raised, 0 hits | 2 skipped | 1 would be skipped, but it is there
    assert (found.uses, found.misses, found.coarse, found.raised, found.skipped) == (9, 3, 1, 1, 1)
    assert found.bytes_read == 10 + 6 + 5
    assert found.penalty == pytest.approx(2.1)
    assert found.hit_rate == pytest.approx(6 / 9)


def test_the_bytes_of_a_cache_are_what_it_holds() -> None:
    choices = [[0], [1], [2], [0]]
    assert run(trace_of(choices), 30).misses == 3
    assert run(trace_of(choices), 29).misses == 4  # the third pushes one out
    coarse = [[3, 0], [3, 1], [3, 2], [3, 0]]
    weights = [[0.6, 0.4]] * 4
    assert run(trace_of(coarse, weights=weights), 28, MIXED).misses == 4  # one in full and three coarse
    assert run(trace_of(coarse, weights=weights), 27, MIXED).misses == 5


def test_what_one_token_uses_stays_while_it_is_used() -> None:
    found = run(trace_of([[0, 1], [2, 3], [2, 3]]), 20)
    assert (found.uses, found.misses) == (6, 4)
    assert run(trace_of([[0, 1, 2], [0, 1, 2]]), 20).misses == 4  # the third finds no room and is read each time


def test_coarse_experts_weigh_what_their_bits_weigh() -> None:
    spec = ExpertSpec(64, 64, 8, 32)
    two, four = sizes_of(spec, 8), sizes_of(spec, 8, 4)
    assert (two.coarse, four.coarse) == (spec.layout.bytes_for(2), spec.layout.bytes_for(4))
    trace = trace_of([[3, 0]], weights=[[0.6, 0.4]])
    known = replace(trace, conditions=replace(trace.conditions, spec=spec, tier=8, low=4))
    assert Replayer(known, MIXED).play("lru", 0.99).bytes_read == four.full + four.coarse


@pytest.mark.parametrize("policy", NAMES)
@pytest.mark.parametrize("thresholds", [EXACT, Thresholds(0.4, 0.8)])
@pytest.mark.parametrize("prompt", [1, 16])
def test_a_replay_counts_what_the_runtime_counts(policy: str, thresholds: Thresholds, prompt: int) -> None:
    """Nearly: the runtime makes room for two reads before the first has come, and so asks a little earlier; for a
    prompt it reads ahead, too. Prompts of 16 tokens visit more experts than may stay, and are swept.
    """
    spec = ExpertSpec(48, 40, 8, 16)
    source = MemorySource(spec)
    experts = source.experts(0)
    recorder = Recorder(source.layers, experts, TraceConditions(thresholds=thresholds, tier=8, spec=spec))
    weights = HobbitWeightsByShare(((1.0, HobbitWeights(0.4, 0.2, 0.2, 0.2)),))
    capacity = 9 * source.expert_bytes
    runtime = source.open(9, policy=policy, weights=weights, thresholds=thresholds)
    runtime.route_listener, runtime.pass_listener = recorder, recorder.begin_pass
    chance = torch.Generator().manual_seed(3)
    try:
        for step in range(150):
            if step % 40 == 0:
                runtime.begin_sequence()
            tokens = prompt if step % 10 == 0 else 1
            if tokens > 1:
                runtime.telemetry.begin_answer()
            runtime.begin_pass([step] * tokens, step % 40)
            for layer in source.layers:
                x, ids, _ = source.routing(tokens, 3, int(torch.randint(40, (1,), generator=chance)) + layer)
                gates = (torch.rand(tokens, 3, generator=chance) ** 2).half().float()
                runtime.moe(layer, x, ids, gates)
        counted = runtime.snapshot()
    finally:
        runtime.close()
    trace = recorder.trace()
    sizes = sizes_of(spec, 8)
    assert sizes.full == source.expert_bytes
    simulation = Simulation(
        shape=trace.shape, sizes=sizes, capacity=capacity, policy=make_policy(policy, trace.shape, 0.5, weights)
    )
    outcome = simulation.run(visits_of(trace, thresholds))
    close = 0.08  # of some 200
    if prompt == 1:
        assert outcome.misses == pytest.approx(counted.misses, rel=close)
    assert outcome.bytes_read == pytest.approx(counted.bytes_read, rel=close)
    assert outcome.skipped == pytest.approx(counted.precision.get("skipped", 0), rel=0.15, abs=2)
