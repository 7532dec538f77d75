"""Bets over a native table, beside those in Python: the same reads begun and the same counts after every step."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import pytest
import torch

from engine.experts import opening
from engine.experts.backend import Step
from engine.experts.bets import Bets, KeptBets
from engine.experts.keys import ExpertKey
from engine.experts.loader_native import NativeLoader
from engine.experts.native_bets import NativeBets
from engine.experts.native_cache import NativeCache
from engine.experts.opening import open_runtime
from engine.experts.policies import NAMES
from engine.experts.precision import EXACT, Thresholds
from engine.experts.predictors import Predictor, Sight
from engine.experts.predictors.predictor import Floats
from engine.experts.runtime import ExpertRuntime
from engine.kernels.activation import Activation
from engine.kernels.choice import available
from engine.store.layout import ExpertSpec
from tests.engine.experts.sources import MemorySource
from tests.waiting import LONGEST

pytestmark = [pytest.mark.skipif(not available().native, reason="no native library"), pytest.mark.long]

SPEC = ExpertSpec(48, 40, 8, 16)
K, EXPERTS, LAYERS, DEPTH = 3, 8, (0, 2, 3, 5), 2
FOLLOWED = [name for name in NAMES if not name.startswith("lru")]  # the table finds out itself who leaves


class Side(NamedTuple):
    """One of two that are played beside each other."""

    runtime: ExpertRuntime
    source: MemorySource

    def residency(self) -> dict[ExpertKey, int]:
        """Who is there."""
        return self.runtime.cache.residency()

    def coming(self) -> dict[ExpertKey, int]:
        """Who is on the way, and to what."""
        keys = [ExpertKey(layer, expert) for layer in LAYERS for expert in range(EXPERTS)]
        return {key: tier for key in keys if (tier := self.runtime.arrivals.coming(key))}

    def till_all_has_come(self) -> None:
        """Reads end without anybody's help."""
        while self.runtime.arrivals.under_way:
            self.runtime.arrivals.settle()


Open = Callable[..., tuple[Side, Side]]


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> Iterator[Open]:
    """Opens two runtimes over native tables, each with room for so many experts."""
    made: list[Side] = []

    def one(experts: float, policy: str, thresholds: Thresholds) -> Side:
        source = MemorySource(SPEC, LAYERS, EXPERTS)
        source.as_files()
        runtime = open_runtime(
            source, Activation(), int(experts * source.expert_bytes), policy=policy, readers=2, kernel="native",
            thresholds=thresholds,
        )  # fmt: skip
        made.append(Side(runtime, source))
        return made[-1]

    def both(experts: float, policy: str = "hobbit", thresholds: Thresholds = EXACT) -> tuple[Side, Side]:
        with monkeypatch.context() as patched:
            patched.setattr(opening, "open_loader", lambda of, n: NativeLoader(of, n, instead=of.instead))
            return one(experts, policy, thresholds), one(experts, policy, thresholds)

    yield both
    for side in made:
        side.source.gate.set()
        side.runtime.close()


class Guess(Predictor):
    """Of every row some that are right, and others."""

    name = "guess"

    def scores(self, sight: Sight, row: int) -> Floats | None:
        random = np.random.default_rng(1000 * sight.token + 10 * row + sight.row)
        if random.random() < 0.05:
            return None
        found = random.random(EXPERTS, np.float32)
        found[chosen(sight.token, row)] += random.choice([0.0, 0.5, 1.0])
        return found

    def learn(self, sight: Sight) -> None: ...


class Planner(Guess):
    """Of all later rows at once."""

    name = "planner"
    everywhere = True

    def plan(self, sight: Sight) -> Floats | None:
        random = np.random.default_rng(1000 * sight.token + sight.row)
        found = random.random((len(LAYERS), EXPERTS), np.float32)
        for row in range(len(LAYERS)):
            found[row, chosen(sight.token, row)] += random.choice([0.0, 0.5, 1.0])
        return np.where(found < 0.2, np.float32(0), np.round(found, 1))  # equals among them


def chosen(token: int, row: int) -> list[int]:
    return random.Random(100 * token + row).sample(range(EXPERTS), K)


@pytest.mark.parametrize("thresholds", [EXACT, Thresholds(0.6, 0.8)])
@pytest.mark.parametrize("experts", [5, 12, 20])
@pytest.mark.parametrize("predictor", [Guess, Planner])
@pytest.mark.parametrize("policy", FOLLOWED)
def test_tokens_find_the_same_experts_at_the_same_tiers(
    opened: Open,
    monkeypatch: pytest.MonkeyPatch,
    policy: str,
    predictor: type[Guess],
    experts: int,
    thresholds: Thresholds,
) -> None:
    kept, native = both = opened(experts, policy, thresholds)
    with monkeypatch.context() as patched:
        patched.setattr(NativeBets, "takes", staticmethod(lambda *_: False))
        kept.runtime.read_ahead(predictor(), K, DEPTH)
    native.runtime.read_ahead(predictor(), K, DEPTH)
    dice = torch.Generator().manual_seed(1)
    for token in range(40):
        for runtime, _ in both:
            if token % 15 == 0:
                runtime.begin_sequence()
            runtime.begin_pass([token], token % 15)
        for row, layer in enumerate(LAYERS):
            if token % 9 == 5 and row == 2:
                break  # this token ends here
            x, ids = torch.randn(1, 48, generator=dice), torch.tensor([chosen(token, row)])
            weights = torch.rand(1, K, generator=dice)
            found = []
            for side in both:
                side.till_all_has_come()
                step = Step(x.clone(), ids.clone(), weights.clone(), torch.zeros_like(x))
                side.runtime.moe_step(layer, step)
                side.till_all_has_come()
                found.append(step.y)
            assert torch.equal(*found)
            assert kept.residency() == native.residency()
            assert sorted(kept.source.reads) == sorted(native.source.reads)
            snapshots = [runtime.snapshot() for runtime, _ in both]
            ahead = [snapshot.foresight for snapshot in snapshots]
            assert ahead[0] is not None
            assert ahead[1] is not None
            for one in ahead:  # how much of what is demanded has come by now is up to the readers
                one.seconds, one.early = 0.0, 0
            assert ahead[0] == ahead[1]
            assert snapshots[0].precision == snapshots[1].precision
    assert ahead[1].started > 20
    assert ahead[1].used > 5
    assert ahead[1].wasted > 0


def of_both(sides: tuple[Side, Side], depth: int = DEPTH) -> tuple[Bets, Bets]:
    """Bets in Python over the first, native ones over the second."""
    first, second = (side.runtime for side in sides)
    keys = [[ExpertKey(layer, expert) for expert in range(EXPERTS)] for layer in LAYERS]
    kept = KeptBets(keys, first.arrivals, first.cache, first._foresee, K, depth)
    native = second._bets(K, depth, K)
    assert isinstance(native, NativeBets)
    return kept, native


@pytest.mark.parametrize("everywhere", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_what_is_given_up_on_its_way_is_the_same(opened: Open, seed: int, everywhere: bool) -> None:
    """One read is in hand, which waits; all others are queued, or come when the gate opens for a while."""
    sides = opened(20)
    both, dice = of_both(sides, len(LAYERS) if everywhere else DEPTH), random.Random(seed)
    held = False  # whether a reader has one in hand

    def close() -> None:
        for side in sides:
            side.till_all_has_come()
            while side.source.started.acquire(blocking=False):
                pass
            side.source.gate.clear()

    def same() -> None:
        assert sides[0].coming() == sides[1].coming()
        assert sides[0].residency() == sides[1].residency()
        assert both[0].foresight() == both[1].foresight()
        assert (both[0].used, both[0].balance) == (both[1].used, both[1].balance)

    close()
    for _ in range(60):
        row = -1
        for bets in both:
            bets.give_up()
            bets.routed(-1, ())
        while row < len(LAYERS) - 1:
            for ahead in range(row + 1, min(row + 1 + DEPTH, len(LAYERS))):
                width = dice.choice([1, K])
                if everywhere:
                    plan = np.array([[dice.randrange(9) for _ in range(EXPERTS)] for _ in LAYERS], np.float32)
                    found = [bets.spread(plan, width) for bets in both]
                else:
                    scores = np.array([dice.random() for _ in range(EXPERTS)], np.float32)
                    found = [bets.look(ahead, scores, width) for bets in both]
                assert found[0] == found[1]
                if found[0] > 0 and not held:
                    held = True
                    for side in sides:
                        assert side.source.started.acquire(timeout=LONGEST)
                same()
                if everywhere or dice.random() < 0.7:
                    break
            if dice.random() < 0.3:
                for side in sides:
                    side.source.gate.set()
                close()
                held = False
                same()
            row += 1
            expert = dice.sample(range(EXPERTS), K)
            for bets in both:
                bets.routed(row, expert)
            same()
    for side in sides:
        side.source.gate.set()
    for bets in both:
        bets.give_up()
    same()
    seen = both[1].foresight()
    assert min(seen.started, seen.used, seen.joined, seen.cancelled, seen.wasted, seen.early) > 0


@pytest.mark.parametrize("policy", NAMES)
def test_where_a_policy_wants_to_hear_of_everybody_python_bets(opened: Open, policy: str) -> None:
    side, _ = opened(5, policy)
    level = side.runtime.cache.levels[0]
    assert isinstance(level, NativeCache)
    assert level.follows == (policy in FOLLOWED)
    assert isinstance(side.runtime._bets(K, DEPTH, K), NativeBets if level.follows else KeptBets)
    assert isinstance(side.runtime._bets(K, DEPTH, 33), KeptBets)  # more than a look of native code has room for


@pytest.mark.parametrize("which", [0, 1])
def test_all_rows_are_read_the_likeliest_and_nearest_first_and_given_up_when_they_are_not(
    opened: Open, which: int
) -> None:
    sides = opened(20)
    bets, side = of_both(sides, len(LAYERS))[which], sides[which]
    plan = np.zeros((len(LAYERS), EXPERTS), np.float32)
    wanted = [(3, 5), (1, 2), (2, 0), (1, 7)]
    for rank, (row, expert) in enumerate(wanted):
        plan[row, expert] = 1 - 0.1 * rank
    side.source.gate.clear()
    bets.routed(-1, ())
    assert bets.spread(plan, K) > 0
    keys = [ExpertKey(LAYERS[row], expert) for row, expert in wanted]
    under_way = [key for key in keys if side.runtime.arrivals.coming(key)]
    assert under_way == keys[: len(under_way)]  # as many as there is room for
    assert under_way
    bets.give_up()
    side.source.gate.set()
    side.till_all_has_come()
    assert bets.foresight().started == len(under_way)
