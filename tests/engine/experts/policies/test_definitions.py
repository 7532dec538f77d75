"""Each policy against its definition, worked out anew from everything that happened."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import pytest

from engine.errors import UnderhillError
from engine.experts import eam
from engine.experts.eam import EamCollection
from engine.experts.keys import ExpertKey
from engine.experts.policies import (
    ActivationAware,
    EdgeMoe,
    ExpertGrid,
    Hobbit,
    HobbitWeights,
    LayerVisit,
    Lfu,
    Lru,
    LruPerLayer,
    Policy,
)

SHAPE = ExpertGrid((0, 1, 2, 3), 6)
ROWS = len(SHAPE.layers)


@dataclass
class History:
    """Everything told to a policy, and from it what the papers' symbols stand for."""

    events: list[tuple[int, list[int], list[bool], int]] = field(default_factory=list)  # layer, experts, high, token
    token: int = 0

    def visit(self, policy: Policy, layer: int, experts: list[int], high: list[bool]) -> None:
        self.token += layer == 0
        policy.routed(LayerVisit(layer, experts, high))
        self.events.append((layer, experts, high, self.token))

    def uses(self, key: ExpertKey) -> list[tuple[int, bool]]:
        """Token and precision of every use."""
        return [
            (token, high[experts.index(key.expert)])
            for layer, experts, high, token in self.events
            if layer == key.layer and key.expert in experts
        ]


def play(policy: Policy, seed: int, steps: int = 60) -> tuple[History, set[ExpertKey], int]:
    """A random sequence, all experts of it resident; returns also the layer that runs."""
    chance, history = random.Random(seed), History()
    layer = 0
    for step in range(steps):
        layer = step % ROWS
        experts = chance.sample(range(6), 2)
        history.visit(policy, layer, experts, [chance.random() < 0.6 for _ in experts])
    resident = {ExpertKey(layer, expert) for layer in SHAPE.layers for expert in chance.sample(range(6), 4)}
    for key in resident:
        policy.inserted(key)
    return history, resident, layer


def leaves(policy: Policy, resident: set[ExpertKey]) -> list[ExpertKey]:
    """Everyone, in the order in which they would leave."""
    order: list[ExpertKey] = []
    for _ in resident:
        victim = policy.victim(ExpertKey(0, 0), lambda key: key not in order)
        assert victim is not None
        order.append(victim)
    return order


def ascending(scores: Sequence[float]) -> bool:
    return all(a <= b + 1e-6 for a, b in pairwise(scores))


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(
    "weights", [HobbitWeights(1, 0, 0, 0), HobbitWeights(0, 0, 0, 1), HobbitWeights(0.3, 0.3, 0.2, 0.2)]
)
def test_hobbit_leaves_in_the_order_of_equation_3(weights: HobbitWeights, seed: int) -> None:
    policy = Hobbit(SHAPE, weights)
    policy.begin_sequence()
    history, resident, running = play(policy, seed, 58)

    def priority(key: ExpertKey) -> float:
        uses, total = history.uses(key), history.token
        recency = max((token for token, _ in uses), default=0) / total
        frequency, high = len(uses) / total, sum(h for _, h in uses) / total
        distance = (key.layer - running - 1) % ROWS + 1
        near = 1 - distance / ROWS
        return weights.lru * recency + weights.lfu * frequency + weights.lhu * high + weights.fld * near

    assert ascending([priority(key) for key in leaves(policy, resident)])


def test_hobbit_forgets_the_last_sequence_but_in_a_tie() -> None:
    policy = Hobbit(SHAPE, HobbitWeights(0.5, 0.5, 0, 0))
    policy.begin_sequence()
    for _ in range(5):
        policy.routed(LayerVisit(1, [2]))
    policy.routed(LayerVisit(1, [3]))
    policy.begin_sequence()
    policy.routed(LayerVisit(1, [4]))
    for expert in (2, 3, 4):
        policy.inserted(ExpertKey(1, expert))
    assert [key.expert for key in leaves(policy, {ExpertKey(1, e) for e in (2, 3, 4)})] == [2, 3, 4]


@pytest.mark.parametrize("weights", [HobbitWeights(0, 0, 0, 1), HobbitWeights(0.3, 0.3, 0.2, 0.2)])
def test_hobbit_with_other_weights_still_knows_who_was_used_last_and_counts_from_there(weights: HobbitWeights) -> None:
    policy, chance = Hobbit(SHAPE, HobbitWeights(0.1, 0.5, 0.3, 0.1)), random.Random(3)
    policy.begin_sequence()
    history, resident, running = play(policy, 3, 40)
    before = len(history.events)
    policy.reweigh(weights)
    for step in range(40, 58):
        running = step % ROWS
        history.visit(policy, running, chance.sample(range(6), 2), [True, False])

    def priority(key: ExpertKey) -> float:
        recency = max((token for token, _ in history.uses(key)), default=0)
        late = History(history.events[before:]).uses(key)
        frequency, high = len(late), sum(h for _, h in late)
        near = history.token * (1 - ((key.layer - running - 1) % ROWS + 1) / ROWS)
        return weights.lru * recency + weights.lfu * frequency + weights.lhu * high + weights.fld * near

    assert ascending([priority(key) for key in leaves(policy, resident)])


def test_hobbit_counts_a_prompt_as_one_use() -> None:
    policy = Hobbit(SHAPE, HobbitWeights(0, 1, 0, 0))
    policy.routed(LayerVisit(0, [1, 2], None, [3, 40], 50))
    policy.routed(LayerVisit(0, [1]))
    for expert in (1, 2):
        policy.inserted(ExpertKey(0, expert))
    assert policy.victim(ExpertKey(0, 3), lambda key: True) == ExpertKey(0, 2)


@pytest.mark.parametrize("wrong", [(0.5, 0.5, 0.5, 0.0), (1.5, -0.5, 0.0, 0.0), (float("nan"), 0.0, 0.0, 1.0)])
def test_weights_that_make_no_sense_are_refused(wrong: tuple[float, float, float, float]) -> None:
    with pytest.raises(UnderhillError, match="weights"):
        HobbitWeights(*wrong)


@pytest.mark.parametrize("seed", range(5))
def test_edgemoe_leaves_in_the_order_of_its_score(seed: int) -> None:
    policy = EdgeMoe(SHAPE)
    history, resident, running = play(policy, seed, 59)

    def score(key: ExpertKey) -> float:
        return len(history.uses(key)) / ((key.layer - running - 1) % ROWS + 1)

    assert ascending([score(key) for key in leaves(policy, resident)])


@pytest.mark.parametrize("seed", range(5))
def test_moe_infinity_leaves_in_the_order_of_algorithm_1(seed: int) -> None:
    earlier = np.random.default_rng(seed).integers(0, 9, (ROWS, 6)).astype(np.float32)
    earlier[2] = 0  # the collection knows nothing of this layer: what the sequence did counts
    collection = EamCollection(ROWS, 6)
    collection.add(earlier)
    policy = ActivationAware(SHAPE, collection)
    history, resident, _ = play(policy, seed)

    def score(key: ExpertKey) -> float:
        row = earlier[key.layer]
        if not row.sum():
            row = np.array([len(history.uses(ExpertKey(key.layer, e))) for e in range(6)])
        return float((row[key.expert] / row.sum() + 1e-4) * (1 - key.layer / ROWS))

    assert ascending([score(key) for key in leaves(policy, resident)])
    policy.begin_sequence()
    assert len(collection) == 2  # what has ended is remembered


def test_moe_infinity_predicts_per_iteration_and_keeps_prompts_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(eam, "MATCHES", 1)
    kinds = [np.zeros((ROWS, 6), np.float32) for _ in range(3)]
    for expert, kind in enumerate(kinds):
        kind[:, 2 * expert : 2 * expert + 2] = 5
    collection = EamCollection(ROWS, 6)
    collection.add(kinds[0], kinds[1])  # to a prompt of the second kind, an answer of the first
    collection.add(kinds[2], kinds[0])
    policy = ActivationAware(SHAPE, collection, adds=False)

    def stays() -> set[int]:
        """The experts of the second layer that leave last."""
        own = [ExpertKey(1, expert) for expert in range(6)]
        for key in own:
            policy.inserted(key)
        return {key.expert for key in leaves(policy, set(own))[-2:]}

    policy.routed(LayerVisit(0, [2, 3], None, [30, 30], 30))
    assert stays() == {0, 1}
    policy.routed(LayerVisit(0, [4, 5]))  # one token like the other kind
    assert stays() == {4, 5}
    for _ in range(2):
        policy.routed(LayerVisit(0, [0, 1]))  # and then others, whatever the answer did before
    assert stays() == {0, 1}
    policy.begin_sequence()
    assert len(collection) == 2  # somebody else adds to it


def test_lfu_counts_within_a_sequence_or_over_all() -> None:
    for within, first in ((True, 1), (False, 2)):
        policy = Lfu(SHAPE, within_sequence=within)
        for expert in (1, 1, 1, 2):
            policy.routed(LayerVisit(0, [expert]))
        policy.begin_sequence()
        policy.routed(LayerVisit(0, [2]))
        for expert in (1, 2):
            policy.inserted(ExpertKey(0, expert))
        assert policy.victim(ExpertKey(0, 3), lambda key: True) == ExpertKey(0, first)


def test_lru_gives_up_the_one_unused_for_longest() -> None:
    policy = Lru(SHAPE)
    a, b, c = ExpertKey(0, 0), ExpertKey(1, 1), ExpertKey(0, 1)
    for key in (a, b, c):
        policy.inserted(key)
    policy.routed(LayerVisit(0, [0]))
    assert leaves(policy, {a, b, c}) == [b, c, a]
    policy.removed(b)
    assert leaves(policy, {a, c}) == [c, a]


def test_lru_per_layer_replays_mixtral_offloading() -> None:
    """k = 2 per layer over three layers: every layer keeps its own last two, whatever the others do."""
    policy, held = LruPerLayer(ExpertGrid((0, 1, 2), 4)), set[ExpertKey]()
    trace = [(layer, (7 * step + layer * step) % 4) for step in range(30) for layer in range(3)]
    recent: dict[int, list[int]] = {0: [], 1: [], 2: []}
    for layer, expert in trace:
        key = ExpertKey(layer, expert)
        policy.routed(LayerVisit(layer, [expert]))
        if key not in held:
            if len(held) == 6:
                victim = policy.victim(key, lambda k: True)
                assert victim is not None
                policy.removed(victim)
                held.remove(victim)
            held.add(key)
            policy.inserted(key)
        recent[layer] = [e for e in recent[layer] if e != expert] + [expert]
        if len(held) == 6 and all(len(r) >= 2 for r in recent.values()):
            assert {k.expert for k in held if k.layer == layer} == set(recent[layer][-2:])


def test_a_layer_with_less_than_its_share_takes_from_the_fullest() -> None:
    policy = LruPerLayer(ExpertGrid((0, 1), 4))
    for expert in range(4):
        policy.inserted(ExpertKey(0, expert))
        policy.inserted(ExpertKey(0, expert))  # once more finely: still one
    assert policy.victim(ExpertKey(1, 0), lambda k: True) == ExpertKey(0, 0)
    assert policy.victim(ExpertKey(1, 0), lambda k: k.expert == 3) == ExpertKey(0, 3)


def test_a_layer_keeps_its_share_where_room_is_made_for_all_that_a_token_misses_at_once() -> None:
    policy = LruPerLayer(ExpertGrid((0, 1), 8))
    for layer in (1, 0):
        for expert in range(4):
            policy.inserted(ExpertKey(layer, expert))
    policy.routed(LayerVisit(0, [4, 5, 6, 7]))
    for expert in (4, 5, 6, 7):
        victim = policy.victim(ExpertKey(0, expert), lambda k: True)
        assert victim == ExpertKey(0, expert - 4)
        policy.removed(victim)
