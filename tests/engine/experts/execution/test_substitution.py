"""Cache-aware routing: what is in memory stands in for what is missing, held against the same rules in numpy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from engine.experts.backend import Step
from engine.experts.precision import EXACT, Thresholds
from engine.experts.runtime import ExpertRuntime
from engine.native import route_op
from engine.native.eviction import unimportance
from engine.native.op_graph import GraphStep, OpGraph
from engine.native.route_op import Routing
from engine.record.layout import ExpertSpec
from tests.engine.experts.sources import MemorySource

SPEC = ExpertSpec(48, 40, 8, 16)
EXPERTS, K, ROWS, LAYER = 12, 4, 3, 2
NEARLY_EXACT = Thresholds(0.999, 1.0)  # all but what weighs nothing at full precision, and yet not the exact dial
SHARE = 0.5
ROUTINGS = {
    "softmax": Routing(experts=EXPERTS, top_k=K, score="softmax", normalize=True),
    "not normalized": Routing(experts=EXPERTS, top_k=K, score="softmax", scale=2.5),
    "softmax of the chosen": Routing(experts=EXPERTS, top_k=K, score="topk_softmax"),
    "groups": Routing(
        experts=EXPERTS, top_k=K, score="sigmoid", groups=3, top_groups=2, normalize=True, scale=1.5, masked_score=-1e9
    ),
}


class Layer:
    """One layer: a router on logits that are given, and experts behind it."""

    def __init__(self, runtime: ExpertRuntime, spec: Routing) -> None:
        self.runtime, self.spec = runtime, spec
        self.logits, self.room = torch.zeros(ROWS, EXPERTS), torch.zeros(ROWS, route_op.route_room(EXPERTS))
        self.ids, self.chosen = (torch.zeros(ROWS, K, dtype=torch.int64) for _ in range(2))
        self.weights = torch.zeros(ROWS, K)
        groups = torch.zeros(ROWS, spec.top_groups, dtype=torch.int64)
        op = route_op.route(
            spec, self.logits, self.room, ids=self.ids, weights=self.weights, groups=groups, chosen=self.chosen
        )
        self.graph = OpGraph([op])
        self.x, self.y = torch.zeros(ROWS, 48), torch.zeros(ROWS, 48)

    def run(self, logits: Tensor) -> None:
        """logits, x: [T, .], through router and experts."""
        tokens, step = len(logits), GraphStep(0)
        self.logits[:tokens] = logits
        self.x[:tokens] = torch.randn(tokens, 48, generator=torch.Generator().manual_seed(3))
        step.set(0, [], tokens)
        self.runtime.kernel.run_graph(self.graph, step)
        cut = (self.x[:tokens], self.ids[:tokens], self.weights[:tokens], self.y[:tokens])
        self.runtime.moe_step(LAYER, Step(*cut, chosen=self.chosen[:tokens], route=self.graph.address_of(0)))

    def there(self) -> set[int]:
        residency = self.runtime.snapshot().residency[self.runtime.telemetry.layers.index(LAYER)]
        return {expert for expert, tier in enumerate(residency) if tier}


def scores_of(spec: Routing, logits: Tensor) -> Tensor:
    return {"softmax": lambda: logits.softmax(-1), "sigmoid": logits.sigmoid}.get(spec.score, lambda: logits.exp())()


def weighed(spec: Routing, scores: Tensor, ids: list[int]) -> Tensor:
    weights = scores[ids]
    if spec.normalize or spec.score == "topk_softmax":
        weights = weights / weights.sum()
    return weights * spec.scale


def expected(spec: Routing, logits: Tensor, chosen: list[int], there: set[int]) -> list[int]:
    """The rules: the most important stays; of those in memory the best that is near enough stands in."""
    scores = scores_of(spec, logits).double()
    allowed = set(range(EXPERTS))
    if spec.groups > 1:
        rating = logits.sigmoid().view(spec.groups, -1).topk(2).values.sum(-1)
        allowed = {e for g in rating.topk(spec.top_groups).indices.tolist() for e in range(4 * g, 4 * g + 4)}
    ids = list(chosen)
    order = np.argsort(unimportance(weighed(spec, scores, chosen).float()[None])[0], kind="stable")
    for slot in order[1:]:
        if ids[slot] in there:
            continue
        near = [e for e in there & allowed if e not in {*ids, *chosen} and scores[e] >= SHARE * scores[ids[slot]]]
        if near:
            ids[slot] = max(near, key=lambda e: float(scores[e]))
    return ids


@pytest.fixture
def runtimes() -> Iterator[list[ExpertRuntime]]:
    made: list[ExpertRuntime] = []
    yield made
    for runtime in made:
        runtime.close()


def opened(runtimes: list[ExpertRuntime], experts: float, **options: Any) -> ExpertRuntime:
    runtimes.append(MemorySource(SPEC, (LAYER,), EXPERTS).open(experts, **options))
    return runtimes[-1]


@pytest.mark.parametrize("name", ROUTINGS)
@pytest.mark.parametrize("tokens", [1, ROWS])
def test_what_stands_in_and_its_weight(runtimes: list[ExpertRuntime], name: str, tokens: int) -> None:
    spec, drawn = ROUTINGS[name], torch.Generator().manual_seed(5)
    # Room for more than a step asks for, or the layer is swept, and nothing stands in.
    layer, whole = Layer(opened(runtimes, 6 if tokens == 1 else 11), spec), opened(runtimes, EXPERTS)
    layer.runtime.set_thresholds(NEARLY_EXACT, SHARE)
    replaced = 0
    for _ in range(40):
        logits, there = torch.randn(tokens, EXPERTS, generator=drawn), layer.there()
        before = layer.runtime.snapshot().substituted
        layer.run(logits)
        wanted = [
            expected(spec, own, chosen, there)
            for own, chosen in zip(logits, layer.chosen[:tokens].tolist(), strict=True)
        ]
        # An expert that was denied long enough is read all the same.
        denied = [
            [mine in (theirs, chosen) for mine, theirs, chosen in zip(*rows, strict=True)]
            for rows in zip(layer.ids[:tokens].tolist(), wanted, layer.chosen[:tokens].tolist(), strict=True)
        ]
        assert all(map(all, denied))
        for row in range(tokens):
            ids = layer.ids[row].tolist()
            torch.testing.assert_close(
                layer.weights[row].double(), weighed(spec, scores_of(spec, logits[row]).double(), ids), rtol=1e-5,
                atol=1e-7,
            )  # fmt: skip
        apart = int((layer.ids[:tokens] != layer.chosen[:tokens]).sum())
        assert layer.runtime.snapshot().substituted - before == apart
        replaced += apart
        same = whole.moe(LAYER, layer.x[:tokens], layer.ids[:tokens], layer.weights[:tokens])
        torch.testing.assert_close(layer.y[:tokens], same, rtol=1e-5, atol=1e-5)
    assert replaced > 20


def test_nothing_stands_in_under_the_exact_dial_or_without_a_share(runtimes: list[ExpertRuntime]) -> None:
    for thresholds, share in ((EXACT, SHARE), (NEARLY_EXACT, 0.0)):
        layer = Layer(opened(runtimes, 6), ROUTINGS["softmax"])
        layer.runtime.set_thresholds(thresholds, share)
        drawn = torch.Generator().manual_seed(6)
        for _ in range(20):
            layer.run(torch.randn(1, EXPERTS, generator=drawn))
            assert layer.ids.equal(layer.chosen)
        assert layer.runtime.snapshot().substituted == 0


def test_no_expert_stays_out_for_ever(runtimes: list[ExpertRuntime]) -> None:
    """One that is chosen again and again, and for which others stand in, is read before it has missed much weight."""
    layer = Layer(opened(runtimes, 6), ROUTINGS["softmax"])
    layer.runtime.set_thresholds(NEARLY_EXACT, SHARE)
    first = torch.tensor([[4.0, 3.9, 3.8, 3.7, 3.6, 3.5, *[-4.0] * 6]])
    for at in range(3):
        layer.run(first.roll(at % 2, 1))
    other = first.clone()
    other[0, 7] = 3.75  # now among the best four, and not in memory
    assert 7 not in layer.there()
    seen = []
    for _ in range(12):
        layer.run(other)
        seen.append(7 in layer.ids[0].tolist())
    assert not seen[0]
    assert seen[-1]
    assert 3 <= seen.index(True) <= 6  # a quarter of a token's weight each time, and one whole weight is the most
    assert all(seen[seen.index(True) :])


def test_prefetch_is_told_what_the_router_chose(runtimes: list[ExpertRuntime]) -> None:
    layer = Layer(opened(runtimes, 6), ROUTINGS["softmax"])
    layer.runtime.set_thresholds(NEARLY_EXACT, SHARE)
    told: list[list[int]] = []
    layer.runtime.route_listener = lambda _, ids, weights: told.append(ids[0].tolist())
    drawn = torch.Generator().manual_seed(8)
    for _ in range(10):
        layer.run(torch.randn(1, EXPERTS, generator=drawn))
        assert told[-1] == layer.chosen[0].tolist()
        step = Step(layer.x[:1], layer.ids[:1], layer.weights[:1], layer.y[:1], chosen=layer.chosen[:1])
        assert step.chosen.tolist() == told[-1]
    assert layer.runtime.snapshot().substituted


def test_what_cannot_stand_in_is_refused() -> None:
    spec = Routing(experts=EXPERTS, top_k=2, score="sparsemixer", jitter=0.01)
    assert not route_op.may_substitute(spec)
    ids = torch.zeros(1, 2, dtype=torch.int64)
    with pytest.raises(ValueError, match="nothing stands in"):
        route_op.route(
            spec, torch.zeros(1, EXPERTS), torch.zeros(1, route_op.route_room(EXPERTS)), ids=ids,
            weights=torch.zeros(1, 2), groups=torch.zeros(1, 1, dtype=torch.int64), chosen=ids.clone(),
        )  # fmt: skip
