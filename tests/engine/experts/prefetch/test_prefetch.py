"""Reading ahead changes when experts are read, never what comes out; it leaves nothing behind, and rests if in vain."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

import numpy as np
import pytest
import torch
from torch import Tensor

from engine.errors import UnderhillError
from engine.experts.backend import Step
from engine.experts.keys import ExpertKey
from engine.experts.precision import Thresholds
from engine.experts.predictors import Predictor, RoutingContext
from engine.experts.predictors.predictor import Floats
from engine.experts.prefetch.controller import FIRST_BACKOFF, LONGEST_BACKOFF, WINDOW, PrefetchController
from engine.experts.prefetch.prefetcher import QUIET
from engine.experts.runtime import ExpertRuntime
from engine.record.layout import ExpertSpec
from tests.engine.experts.sources import MemorySource

pytestmark = pytest.mark.long

SPEC = ExpertSpec(48, 40, 8, 16)
K, EXPERTS, LAYERS = 3, 8, (0, 2, 3)
Open = Callable[..., ExpertRuntime]


@pytest.fixture
def opened() -> Iterator[Open]:
    """Opens runtimes whose capacity is given in whole experts."""
    made: list[ExpertRuntime] = []

    def make(source: MemorySource, experts: float, **options: object) -> ExpertRuntime:
        made.append(source.open(experts, **{"readers": 2, **options}))
        return made[-1]

    yield make
    for runtime in made:
        runtime.close()


def model() -> MemorySource:
    return MemorySource(SPEC, LAYERS, EXPERTS)


def chosen(source: MemorySource, token: int, row: int) -> list[int]:
    return source.routing(1, K, 100 * token + row)[1][0].tolist()


class Said(Predictor):
    """Says of every row what it is told to; counts how often it is asked."""

    def __init__(self, source: MemorySource, say: Callable[[list[int]], list[int]]) -> None:
        self.name, self.asked = "said", 0
        self.told: list[str] = []
        self._source, self._say = source, say

    def begin_sequence(self) -> None:
        self.told.append("begin")

    def interrupted(self) -> None:
        self.told.append("gap")

    def put_aside(self) -> object:
        self.told.append("aside")
        return self

    def bring_back(self, records: object) -> None:
        assert records is self
        self.told.append("back")

    def scores(self, context: RoutingContext, row: int) -> Floats | None:
        self.asked += 1
        found = np.zeros(EXPERTS, np.float32)
        for rank, expert in enumerate(self._say(chosen(self._source, context.token, row))):
            found[expert] = EXPERTS - rank
        return found

    def learn(self, context: RoutingContext) -> None: ...


def truth(right: list[int]) -> list[int]:
    return right


def lie(right: list[int]) -> list[int]:
    return [expert for expert in range(EXPERTS) if expert not in right]


def run(
    runtime: ExpertRuntime, source: MemorySource, tokens: range, weights: Tensor | None = None, patient: bool = False
) -> list[Tensor]:
    """The outputs of every layer of these tokens, one after the other. patient: what is read ahead comes in time."""
    out = []
    for token in tokens:
        runtime.begin_pass([token], token)
        for row, layer in enumerate(LAYERS):
            while patient and runtime.pending:
                runtime.pending.commit_completed()
            x, ids, own = source.routing(1, K, 100 * token + row)
            step = Step(x, ids, own if weights is None else weights.clone(), torch.empty_like(x))
            runtime.moe_step(layer, step)
            out.append(step.y)
    return out


def nothing_left(runtime: ExpertRuntime, source: MemorySource) -> bool:
    """Whether nothing is leased or reserved any more: then a single expert can be all that is left."""
    runtime.read_ahead(None)
    runtime.pending.cancel_all()
    runtime.set_capacity(source.expert_bytes)
    return runtime.cache.nbytes <= source.expert_bytes


@pytest.mark.parametrize("say", [truth, lie])
@pytest.mark.parametrize("experts", [4, 10, 16])
def test_not_a_bit_changes_and_nothing_is_left_behind(opened: Open, experts: int, say: object) -> None:
    source = model()
    expected = run(opened(source, 24), source, range(20))
    runtime = opened(source, experts)
    runtime.read_ahead(Said(source, say), K)  # type: ignore[arg-type]
    for ours, theirs in zip(run(runtime, source, range(20)), expected, strict=True):
        assert torch.equal(ours, theirs)
    assert runtime.cache.nbytes <= runtime.cache.capacity
    assert nothing_left(runtime, source)


def test_what_was_foreseen_is_counted_and_what_was_not_is_wasted(opened: Open) -> None:
    source = model()
    right, wrong = opened(source, 16), opened(source, 16)
    for runtime, say in ((right, truth), (wrong, lie)):
        runtime.read_ahead(Said(source, say), K)
        run(runtime, source, range(12), patient=True)
    assert right.prefetch is not None
    assert wrong.prefetch is not None
    good, bad = right.prefetch.stats, wrong.prefetch.stats
    assert good.recall[0] == 1.0
    assert bad.recall[0] == 0.0
    assert good.started > 5
    assert good.useful > 0
    assert 0 < good.early <= good.useful
    assert good.wasted == 0
    assert bad.useful == 0
    assert right.telemetry.bytes_read < wrong.telemetry.bytes_read


def test_where_all_is_in_memory_nobody_is_asked(opened: Open) -> None:
    source = model()
    runtime = opened(source, 24)
    for layer in LAYERS:
        x = torch.randn(1, 48)
        runtime.moe(layer, x, torch.arange(EXPERTS)[None], torch.full((1, EXPERTS), 1 / EXPERTS))
    said = Said(source, truth)
    runtime.read_ahead(said, K)
    run(runtime, source, range(QUIET))
    before = said.asked
    run(runtime, source, range(QUIET, QUIET + 10))
    assert said.asked == before
    assert runtime.prefetch is not None
    assert not runtime.prefetch.awake
    runtime.set_capacity(4 * source.expert_bytes)  # from now on experts are missing
    run(runtime, source, range(100, 104))
    assert said.asked > before


def test_as_long_as_what_it_reads_is_used_it_stays_awake(opened: Open) -> None:
    """Though nothing is missing any more when it is asked for."""
    source = model()
    runtime = opened(source, 10)
    runtime.read_ahead(Said(source, truth), K)
    for token in range(QUIET + 10):
        run(runtime, source, range(token, token + 1), patient=True)
        assert runtime.prefetch is not None
        assert runtime.prefetch.awake or not token
    assert runtime.telemetry.misses < runtime.prefetch.stats.used / 2


def test_batch_tokens_at_once_are_none_of_its_business(opened: Open) -> None:
    source = model()
    runtime = opened(source, 10)
    said = Said(source, truth)
    runtime.read_ahead(said, K)
    run(runtime, source, range(4))
    assert runtime.prefetch is not None
    assert runtime.prefetch.awake
    runtime.begin_pass([1, 2], 4)
    asked = said.asked
    runtime.moe(0, *source.routing(2, K))
    assert not runtime.prefetch.awake
    assert said.asked == asked
    assert nothing_left(runtime, source)


def test_a_predictor_hears_of_sequences_and_gaps_as_they_are_told_and_never_from_a_position(opened: Open) -> None:
    source = model()
    runtime = opened(source, 10)
    said = Said(source, truth)
    runtime.read_ahead(said, K)
    run(runtime, source, range(3))  # token 0 at position 0
    assert said.told == ["gap"]
    runtime.begin_pass([1, 2], 0)
    runtime.moe(0, *source.routing(2, K))
    runtime.begin_sequence()
    run(runtime, source, range(3, 5))
    assert said.told == ["gap", "begin", "gap"]
    with runtime.aside():
        run(runtime, source, range(2))
    assert said.told[3:] == ["aside", "back"]
    run(runtime, source, range(5, 7))
    assert said.told[5:] == []
    assert nothing_left(runtime, source)


def test_a_token_that_broke_off_in_the_middle_is_forgotten(opened: Open) -> None:
    source = model()
    expected = run(opened(source, 24), source, range(6))
    runtime = opened(source, 10)
    runtime.read_ahead(Said(source, truth), K)
    run(runtime, source, range(3))
    runtime.begin_pass([77], 3)
    runtime.moe_step(0, Step(*source.routing(1, K, 7700), torch.empty(1, 48)))
    for ours, theirs in zip(run(runtime, source, range(3, 6)), expected[9:], strict=True):
        assert torch.equal(ours, theirs)
    assert nothing_left(runtime, source)


def test_a_failed_read_ahead_is_nobodys_matter_until_somebody_needs_it(opened: Open) -> None:
    source = model()
    last = 40
    expected = run(opened(source, 24), source, range(last))
    runtime = opened(source, 10)
    runtime.read_ahead(Said(source, lambda right: [*lie(right)[:2], *right]), K)
    run(runtime, source, range(4))
    for token in range(4, last):  # until one is begun that cannot be read: most are in memory already
        bad = ExpertKey(2, lie(chosen(source, token, 1))[0])
        source.failing = {ExpertKey(2, expert) for expert in lie(chosen(source, token, 1))}
        ours = run(runtime, source, range(token, token + 1), patient=True)
        assert all(map(torch.equal, ours, expected[3 * token : 3 * token + 3]))
        runtime.pending.cancel_all()
        seen = runtime.snapshot().prefetch
        assert seen is not None
        if seen.failed:
            break
    assert seen.failed > 0
    runtime.set_capacity(source.expert_bytes)
    runtime.set_capacity(16 * source.expert_bytes)
    with pytest.raises(UnderhillError, match="could not read"):
        runtime.moe(bad.layer, torch.randn(1, 48), torch.tensor([[bad.expert]]), torch.ones(1, 1))
    source.failing = set()
    for ours_after, theirs in zip(run(runtime, source, range(last - 5, last)), expected[-15:], strict=True):
        assert torch.equal(ours_after, theirs)
    assert nothing_left(runtime, source)


def test_random_errors_cancels_and_sizes_leave_no_lease(opened: Open) -> None:
    source = model()
    expected = run(opened(source, 24), source, range(60))
    runtime = opened(source, 10)
    dice = random.Random(3)
    runtime.read_ahead(Said(source, lambda right: dice.sample(range(EXPERTS), EXPERTS)), K)
    done = 0
    for token in range(60):
        if dice.random() < 0.2:
            source.failing = {dice.choice(list(source.records))}
        if dice.random() < 0.2:
            runtime.set_capacity(dice.choice([4, 9, 16]) * source.expert_bytes)
        try:
            outputs = run(runtime, source, range(token, token + 1))
        except UnderhillError:
            source.failing = set()
            continue
        source.failing = set()
        done += 1
        for ours, theirs in zip(outputs, expected[3 * token : 3 * token + 3], strict=True):
            assert torch.equal(ours, theirs)
    assert done > 30
    assert nothing_left(runtime, source)


class Balance:
    """Bytes that came in time and that were wasted, window by window."""

    def __init__(self) -> None:
        self.controller = PrefetchController()
        self._early = self._wasted = 0

    def window(self, early: int, wasted: int, spent: float = 0.0, rate: float = 1e9) -> None:
        self._early, self._wasted = self._early + early, self._wasted + wasted
        self.controller.spent += spent
        for _ in range(WINDOW):
            self.controller.called((self._early, self._wasted), lambda: rate)


def test_what_costs_more_than_it_saves_backs_off_ever_longer_until_it_pays() -> None:
    balance = Balance()
    controller, window = balance.controller, balance.window
    window(10**6, 10**5)
    assert not controller.backoff
    window(10**6, 10**5, spent=1.0)  # what it brought took less time than it took
    assert controller.backoff == FIRST_BACKOFF
    controller.passed(FIRST_BACKOFF)
    window(0, 10**6)
    assert controller.backoff == 2 * FIRST_BACKOFF
    controller.passed(10**9)
    window(10**6, 0)
    assert not controller.backoff
    window(0, 1)
    assert controller.backoff == FIRST_BACKOFF
    for _ in range(20):
        window(0, 1)
    assert controller.backoff == LONGEST_BACKOFF


def test_more_waste_than_use_narrows_what_is_read_and_little_waste_widens_it() -> None:
    balance = Balance()
    for early, wasted, width in ((100, 130, 0.5), (100, 80, 0.5), (100, 130, 0.25), (100, 130, 0.25), (100, 0, 0.5)):
        balance.window(early, wasted, rate=1.0)
        assert balance.controller.width == width


def test_without_a_known_rate_nothing_is_judged() -> None:
    balance = Balance()
    balance.window(0, 10, rate=0.0)
    balance.window(0, 0, rate=0.0)
    assert not balance.controller.backoff


def test_it_rests_when_all_it_says_is_wrong(opened: Open) -> None:
    source = model()
    runtime = opened(source, 16)
    said = Said(source, lie)
    runtime.read_ahead(said, K)
    run(runtime, source, range(WINDOW))
    assert runtime.prefetch is not None
    assert runtime.prefetch.stats.rests >= 1
    assert runtime.prefetch.stats.useful == 0
    assert nothing_left(runtime, source)


def test_what_is_read_ahead_is_wanted_so(opened: Open) -> None:
    """The first and second choice run high here, the third is skipped: none comes coarse first, or for nothing."""
    source = model()
    weights = torch.tensor([[0.5, 0.3, 0.2]])
    runtime = opened(source, 2 * K, thresholds=Thresholds(0.6, 0.7))
    runtime.read_ahead(Said(source, truth), K)
    run(runtime, source, range(1), weights)
    runtime.pending.cancel_all()
    before = len(source.reads)
    run(runtime, source, range(1, 12), weights)
    runtime.pending.cancel_all()
    ahead = runtime.snapshot().prefetch
    assert ahead is not None
    assert ahead.started > 10
    read = source.reads[before:]
    assert {parts for _, parts in read} == {SPEC.layout.parts_for(8)}
    wanted = {(layer, e) for t in range(1, 12) for row, layer in enumerate(LAYERS) for e in chosen(source, t, row)[:2]}
    assert {tuple(key) for key, _ in read} <= wanted
    assert runtime.snapshot().precision["skipped"] > 0


def test_a_layer_that_lacks_only_what_it_skips_is_told_of(opened: Open) -> None:
    """Else reading ahead would have lost count of the layers, and have nothing to say until the next token."""
    source = model()
    runtime = opened(source, 2 * K, thresholds=Thresholds(0.6, 0.7))
    runtime.read_ahead(Said(source, truth), K)
    run(runtime, source, range(16), torch.tensor([[0.5, 0.3, 0.2]]))  # the third is skipped
    ahead = runtime.snapshot().prefetch
    assert ahead is not None
    assert ahead.said[0] == 15 * (len(LAYERS) - 1) * K  # all tokens but the first, which it sleeps through
