"""The trial of expert deferral: what a layer lacks comes one layer later, whole, and to the token that asked for it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
from torch import Tensor

from engine.experts.backend import Step
from engine.experts.runtime import ExpertRuntime
from engine.record.layout import ExpertSpec
from tests.benchmarks.deferral import Deferral
from tests.engine.experts.sources import MemorySource

SPEC = ExpertSpec(96, 64, 8, 32)
LAYERS, EXPERTS, K = (0, 1, 2), 6, 3
Runtimes = tuple[ExpertRuntime, ExpertRuntime]


@pytest.fixture
def runtimes() -> Iterator[Runtimes]:
    """One that defers nothing, and another of the same experts."""
    source = MemorySource(SPEC, LAYERS, EXPERTS)
    plain, deferring = source.open(EXPERTS * len(LAYERS)), source.open(EXPERTS * len(LAYERS))
    yield plain, deferring
    plain.close()
    deferring.close()


def passed(runtime: ExpertRuntime, tokens: int = 1, seed: int = 0) -> list[Tensor]:
    """What every layer answers, whose inputs do not depend on the layer before."""
    source, answers = MemorySource(SPEC, (), EXPERTS), []
    for layer in LAYERS:
        x, ids, weights = source.routing(tokens, K, 10 * seed + layer)
        step = Step(x, ids, weights, torch.full_like(x, float("nan")))
        runtime.moe_step(layer, step)
        answers.append(step.y)
    return answers


def test_what_is_missing_is_added_one_layer_later_but_for_the_last(runtimes: Runtimes) -> None:
    plain, runtime = runtimes
    deferral = Deferral(runtime, K)
    with deferral.in_force():
        found = passed(runtime)
        again = passed(runtime)
    first, second, third = passed(plain)
    assert not found[0].any()
    assert torch.equal(found[1], first)
    assert torch.equal(found[2], third + second)
    assert (deferral.experts, deferral.lacking, deferral.spared) == (2 * K, 3, 2)
    assert all(map(torch.equal, again, (first, second, third)))  # nothing is missing any more, and nothing is left over
    assert runtime.snapshot().precision == {"8": 6 * K}


@pytest.mark.parametrize("add", [True, False])
def test_of_those_missing_the_least_important_wait(runtimes: Runtimes, add: bool) -> None:
    plain, runtime = runtimes
    with Deferral(runtime, 1, add=add).in_force():
        found = passed(runtime)
    x, ids, weights = MemorySource(SPEC, (), EXPERTS).routing(1, K, 0)
    without = weights.clone()
    without[0, weights[0].argmin()] = 0.0
    late = plain.moe(0, x, ids, weights - without).clone()
    assert torch.equal(found[0], plain.moe(0, x, ids, without))
    x, ids, weights = MemorySource(SPEC, (), EXPERTS).routing(1, K, 1)
    weights[0, weights[0].argmin()] = 0.0
    second = plain.moe(1, x, ids, weights)
    assert torch.equal(found[1], second + late if add else second)


def test_several_tokens_wait_for_all_of_theirs(runtimes: Runtimes) -> None:
    plain, runtime = runtimes
    deferral = Deferral(runtime, K)
    with deferral.in_force():
        assert all(map(torch.equal, passed(runtime, 3), passed(plain, 3)))
    assert not deferral.experts


def test_what_is_late_and_already_gone_is_read_again(runtimes: Runtimes) -> None:
    plain, runtime = runtimes
    runtime.set_capacity(K * SPEC.layout.bytes_for(8))
    with Deferral(runtime, K).in_force():
        found = [sum(passed(runtime, seed=seed)) for seed in range(4)]
    for seed, total in enumerate(found):
        assert torch.allclose(total, sum(passed(plain, seed=seed)), atol=1e-5)
    runtime.set_capacity(EXPERTS * SPEC.layout.bytes_for(8))  # nothing is pinned or pending
    assert not runtime.pending


def test_the_same_steps_without_the_delay_change_nothing(runtimes: Runtimes) -> None:
    plain, runtime = runtimes
    deferral = Deferral(runtime, 2, at_once=True)
    with deferral.in_force():
        found = passed(runtime)
    assert deferral.experts == 2 * 2
    assert all(torch.allclose(mine, theirs, atol=1e-5) for mine, theirs in zip(found, passed(plain)))
