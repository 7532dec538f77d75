"""Layers in one native call: the bits, counters and cache of the same layers one by one, as far as all is there."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import pytest
import torch
from torch import Tensor

from engine.experts.backend import GraphLayers, Step
from engine.experts.policies import HobbitWeights, HobbitWeightsByShare
from engine.experts.precision import EXACT, Thresholds
from engine.experts.runtime import ExpertRuntime
from engine.native.op_graph import MOST_ROWS, GraphStep, OpGraph, scale
from engine.record.layout import ExpertSpec
from tests.engine.experts.sources import MemorySource

SPEC = ExpertSpec(48, 40, 8, 16)
K, LAYERS, TOKENS = 3, 5, (1, 1, 4, 1, 1, 1, MOST_ROWS, 1, 2, 1, 1)
WEIGHTS = HobbitWeightsByShare(((1.0, HobbitWeights(0.2, 0.2, 0.5, 0.1)),))


class Model:
    """Layers of nothing but experts, with memory for each to be asked in."""

    def __init__(self, source: MemorySource, experts: float, **options: object) -> None:
        self.source, self.runtime = source, source.open(experts, weights=WEIGHTS, **options)
        self.memory = [Step.of(48, K, MOST_ROWS) for _ in source.layers]
        self.steps = [self.of_tokens(memory, 1) for memory in self.memory]
        asked = [*zip(source.layers, self.steps, strict=True), None]
        self.layers = GraphLayers(self.runtime.kernel, [OpGraph([])] * len(asked), asked)
        self.alone = 0  # layers that were asked for one by one

    @staticmethod
    def of_tokens(memory: Step, tokens: int) -> Step:
        return Step(memory.x[:tokens], memory.ids[:tokens], memory.weights[:tokens], memory.y[:tokens])

    def asked(self, tokens: int, seed: int) -> list[Step]:
        """The layers, asked for tokens."""
        steps = [self.of_tokens(memory, tokens) for memory in self.memory]
        for layer, step in zip(self.source.layers, steps, strict=True):
            for to, given in zip((step.x, step.ids, step.weights), self.source.routing(tokens, K, 10 * seed + layer)):
                to.copy_(given)
            step.y.fill_(float("nan"))
        return steps

    def one_by_one(self, tokens: int, seed: int) -> list[Tensor]:
        steps = self.asked(tokens, seed)
        for layer, step in zip(self.source.layers, steps, strict=True):
            self.runtime.moe_step(layer, step)
        return [step.y.clone() for step in steps]

    def together(self, tokens: int, seed: int) -> list[Tensor]:
        """As an executor of op graphs does it."""
        steps, graph_step = self.asked(tokens, seed), GraphStep(0)
        graph_step.set(0, [], tokens)
        at = self.runtime.run_layers(self.layers, 0, graph_step)
        while at < len(steps):
            self.alone += 1
            self.runtime.moe_step(self.source.layers[at], steps[at])
            at = self.runtime.run_layers(self.layers, at + 1, graph_step)
        return [step.y.clone() for step in steps]

    def told(self) -> object:
        return dataclasses.replace(self.runtime.snapshot(), read_seconds=0.0)


@pytest.fixture
def models() -> Iterator[list[Model]]:
    made: list[Model] = []
    yield made
    for model in made:
        model.runtime.close()


def two(models: list[Model], experts: float, **options: object) -> tuple[Model, Model]:
    models.extend(Model(MemorySource(SPEC, range(LAYERS)), experts, **options) for _ in range(2))
    return models[-2], models[-1]


@pytest.mark.parametrize("thresholds", [EXACT, Thresholds(0.3, 0.6)])
def test_it_is_the_same_and_counts_the_same(models: list[Model], thresholds: Thresholds) -> None:
    one, other = two(models, 6 * LAYERS, policy="hobbit", thresholds=thresholds)
    for seed, tokens in enumerate(2 * TOKENS):
        for alone, together in zip(one.one_by_one(tokens, seed), other.together(tokens, seed), strict=True):
            assert torch.equal(alone, together)
        assert one.told() == other.told()
    assert other.alone
    other.alone = 0  # all is there by now, and a step is one call
    other.together(1, 99)
    other.together(MOST_ROWS, 98)
    assert not other.alone


@pytest.mark.parametrize("experts", [6 * LAYERS - 3, 12, 4])
def test_it_is_the_same_with_less_room(models: list[Model], experts: int) -> None:
    one, other = two(models, experts, policy="hobbit")
    for seed, tokens in enumerate(3 * TOKENS):
        for alone, together in zip(one.one_by_one(tokens, seed), other.together(tokens, seed), strict=True):
            assert torch.equal(alone, together)
        assert other.runtime.cache.nbytes <= other.runtime.cache.capacity


def test_a_policy_that_python_tells_is_told_of_each_layer(models: list[Model]) -> None:
    one, other = two(models, 9, policy="lru")
    for seed in range(12):
        for alone, together in zip(one.one_by_one(1, seed), other.together(1, seed), strict=True):
            assert torch.equal(alone, together)
    assert one.told() == other.told()
    assert other.alone == 12 * LAYERS


def test_who_follows_each_layer_is_told_of_each(models: list[Model]) -> None:
    _, model = two(models, 6 * LAYERS, policy="hobbit")
    heard: list[int] = []
    for told in (False, True, False):
        model.runtime.route_listener = (lambda layer, *_: heard.append(layer)) if told else None
        model.together(1, 3)
    assert heard == list(range(LAYERS))


def test_whoever_wants_the_cache_gets_it_between_layers(models: list[Model], monkeypatch: pytest.MonkeyPatch) -> None:
    _, model = two(models, 6 * LAYERS, policy="hobbit")
    wanted = model.together(1, 3)
    monkeypatch.setattr("engine.experts.execution.decode.PATIENCE", 0)
    model.alone = 0
    assert all(torch.equal(a, b) for a, b in zip(wanted, model.together(1, 3), strict=True))
    assert model.alone == LAYERS


def test_what_follows_the_layers_runs_in_their_call_where_it_is_wanted(models: list[Model]) -> None:
    _, model = two(models, 6 * LAYERS, policy="hobbit")
    given, step = torch.ones(MOST_ROWS, 4), GraphStep(0)
    layers = GraphLayers(
        model.runtime.kernel,
        [OpGraph([])] * (LAYERS + 2),
        [None, *model.layers.asked],
        head=OpGraph([scale(given, 2.0)]),
    )
    for tokens, with_head in ((1, False), (1, True), (MOST_ROWS, True)):
        model.together(tokens, 3)  # so that all is there
        model.asked(tokens, 3)
        given.fill_(1.0)
        step.set(0, [], tokens)
        step.with_head = with_head
        assert model.runtime.run_layers(layers, 0, step) == LAYERS + 1 + with_head
        assert torch.equal(given[:, 0], torch.tensor([1.0 + (with_head and at < tokens) for at in range(MOST_ROWS)]))


def test_a_closed_kernel_is_an_error(models: list[Model]) -> None:
    _, model = two(models, 6 * LAYERS, policy="hobbit")
    model.runtime.kernel.close()
    with pytest.raises(RuntimeError, match="closed"):
        model.together(1, 1)


def test_runtimes_do_not_share_what_layers_know_of_experts(models: list[Model]) -> None:
    """The same layers, then of another runtime: where its experts lie is told anew."""
    one, other = two(models, 6 * LAYERS, policy="hobbit")
    runtime: ExpertRuntime = other.runtime
    wanted = one.together(1, 4)
    one.runtime = runtime
    assert all(torch.equal(a, b) for a, b in zip(wanted, one.together(1, 4), strict=True))
    assert runtime.snapshot().misses > 0
