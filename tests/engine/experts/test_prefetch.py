"""Reading ahead changes when experts are read, never what comes out; it leaves nothing behind, and rests if in vain."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

import numpy as np
import pytest
import torch
from torch import Tensor

from engine.errors import Kind, UnderhillError
from engine.experts import opening
from engine.experts.backend import Step
from engine.experts.keys import ExpertKey
from engine.experts.loader_native import NativeLoader
from engine.experts.opening import DevicePool, open_runtime
from engine.experts.precision import Thresholds
from engine.experts.predictors import Predictor, Sight
from engine.experts.predictors.predictor import Floats
from engine.experts.prefetch import QUIET
from engine.experts.runtime import ExpertRuntime
from engine.experts.worth import FIRST_REST, LONGEST_REST, WINDOW, Worth
from engine.kernels.activation import Activation
from engine.kernels.choice import available
from engine.store.layout import ExpertSpec
from tests.engine.experts.sources import MemorySource

pytestmark = pytest.mark.long

SPEC = ExpertSpec(48, 40, 8, 16)
K, EXPERTS, LAYERS = 3, 8, (0, 2, 3)
Open = Callable[..., ExpertRuntime]
NATIVE = pytest.mark.skipif(not available().native, reason="not built")
# torch and native code over a cache and readers in Python; native code over a native table and readers
KERNELS = ["torch", pytest.param("native", marks=NATIVE), pytest.param("table", marks=NATIVE)]


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> Iterator[Open]:
    """Opens runtimes whose capacity is given in whole experts."""
    made: list[ExpertRuntime] = []

    def make(source: MemorySource, experts: float, kernel: str = "torch", **options: object) -> ExpertRuntime:
        options = {"kernel": "native" if kernel == "table" else kernel, "readers": 2, **options}
        with monkeypatch.context() as patched:
            if kernel == "table":
                source.as_files()
                patched.setattr(opening, "open_loader", lambda of, n: NativeLoader(of, n, instead=of.instead))
            made.append(open_runtime(source, Activation(), int(experts * source.expert_bytes), **options))  # type: ignore[arg-type]
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

    def scores(self, sight: Sight, row: int) -> Floats | None:
        self.asked += 1
        found = np.zeros(EXPERTS, np.float32)
        for rank, expert in enumerate(self._say(chosen(self._source, sight.token, row))):
            found[expert] = EXPERTS - rank
        return found

    def learn(self, sight: Sight) -> None: ...


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
            while patient and runtime.arrivals.under_way:
                runtime.arrivals.settle()
            x, ids, own = source.routing(1, K, 100 * token + row)
            step = Step(x, ids, own if weights is None else weights.clone(), torch.empty_like(x))
            runtime.moe_step(layer, step)
            out.append(step.y)
    return out


def nothing_left(runtime: ExpertRuntime, source: MemorySource) -> bool:
    """Whether nothing is leased or reserved any more: then a single expert can be all that is left."""
    runtime.read_ahead(None)
    runtime.arrivals.make_way()
    runtime.set_capacity(source.expert_bytes)
    return runtime.cache.nbytes <= source.expert_bytes


@pytest.mark.parametrize("say", [truth, lie])
@pytest.mark.parametrize("experts", [4, 10, 16])
@pytest.mark.parametrize("kernel", KERNELS)
def test_not_a_bit_changes_and_nothing_is_left_behind(opened: Open, kernel: str, experts: int, say: object) -> None:
    source = model()
    expected = run(opened(source, 24, kernel=kernel), source, range(20))
    runtime = opened(source, experts, kernel=kernel)
    runtime.read_ahead(Said(source, say), K)  # type: ignore[arg-type]
    for ours, theirs in zip(run(runtime, source, range(20)), expected, strict=True):
        assert torch.equal(ours, theirs)
    assert runtime.cache.nbytes <= runtime.cache.capacity
    assert nothing_left(runtime, source)


def test_over_two_levels_of_memory_too(opened: Open) -> None:
    source = model()
    expected = run(opened(source, 24), source, range(8))
    pool = DevicePool(torch.device("cpu"), 10 * source.expert_bytes)
    runtime = opened(source, 10, device=pool)
    runtime.read_ahead(Said(source, truth), K)
    for ours, theirs in zip(run(runtime, source, range(8)), expected, strict=True):
        assert torch.equal(ours, theirs)


@pytest.mark.parametrize("kernel", KERNELS)
def test_what_was_foreseen_is_counted_and_what_was_not_is_wasted(opened: Open, kernel: str) -> None:
    source = model()
    right, wrong = opened(source, 16, kernel=kernel), opened(source, 16, kernel=kernel)
    for runtime, say in ((right, truth), (wrong, lie)):
        runtime.read_ahead(Said(source, say), K)
        run(runtime, source, range(12), patient=True)
    assert right.prefetch is not None
    assert wrong.prefetch is not None
    good, bad = right.prefetch.foresight, wrong.prefetch.foresight
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
    assert runtime.telemetry.misses < runtime.prefetch.foresight.used / 2


def test_several_tokens_at_once_are_none_of_its_business(opened: Open) -> None:
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
    expected = run(opened(source, 24), source, range(10))
    runtime = opened(source, 16)
    bad = ExpertKey(2, lie(chosen(source, 4, 1))[0])
    runtime.read_ahead(Said(source, lambda right: [*lie(right)[:2], *right]), K)
    run(runtime, source, range(4))
    failing = UnderhillError(Kind.DISK_ERROR, "The disk said no.")
    source.failing = {ExpertKey(2, expert): failing for expert in lie(chosen(source, 4, 1))}
    for ours, theirs in zip(run(runtime, source, range(4, 5), patient=True), expected[12:15], strict=True):
        assert torch.equal(ours, theirs)
    runtime.arrivals.make_way()
    seen = runtime.snapshot().foresight
    assert seen is not None
    assert seen.failed > 0
    runtime.set_capacity(source.expert_bytes)
    runtime.set_capacity(16 * source.expert_bytes)
    with pytest.raises(UnderhillError, match="said no"):
        runtime.moe(bad.layer, torch.randn(1, 48), torch.tensor([[bad.expert]]), torch.ones(1, 1))
    source.failing = {}
    for ours, theirs in zip(run(runtime, source, range(5, 10)), expected[15:], strict=True):
        assert torch.equal(ours, theirs)
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
            source.failing = {dice.choice(list(source.records)): UnderhillError(Kind.DISK_ERROR, "The disk said no.")}
        if dice.random() < 0.2:
            runtime.set_capacity(dice.choice([4, 9, 16]) * source.expert_bytes)
        try:
            outputs = run(runtime, source, range(token, token + 1))
        except UnderhillError:
            source.failing = {}
            continue
        source.failing = {}
        done += 1
        for ours, theirs in zip(outputs, expected[3 * token : 3 * token + 3], strict=True):
            assert torch.equal(ours, theirs)
    assert done > 30
    assert nothing_left(runtime, source)


class Bytes:
    """A balance. early, wasted: so far."""

    def __init__(self) -> None:
        self.balance = 0, 0

    def add(self, early: int, wasted: int) -> None:
        self.balance = self.balance[0] + early, self.balance[1] + wasted


def test_books_that_do_not_balance_bring_a_rest_that_grows_and_ends() -> None:
    worth, so_far = Worth(), Bytes()

    def window(early: int, wasted: int, spent: float = 0.0) -> None:
        so_far.add(early, wasted)
        worth.spent += spent
        for _ in range(WINDOW):
            worth.called(so_far, lambda: 1e9)

    window(10**6, 10**5)
    assert not worth.resting
    window(10**6, 10**5, spent=1.0)  # what it brought took less time than it took
    assert worth.resting == FIRST_REST
    worth.rested(FIRST_REST)
    window(0, 10**6)
    assert worth.resting == 2 * FIRST_REST
    worth.rested(10**9)
    window(10**6, 0)
    assert not worth.resting
    window(0, 1)
    assert worth.resting == FIRST_REST
    for _ in range(20):
        window(0, 1)
    assert worth.resting == LONGEST_REST


def test_more_waste_than_use_narrows_what_is_read_and_little_waste_widens_it() -> None:
    worth, so_far = Worth(), Bytes()
    for early, wasted, width in ((100, 130, 0.5), (100, 80, 0.5), (100, 130, 0.25), (100, 130, 0.25), (100, 0, 0.5)):
        so_far.add(early, wasted)
        for _ in range(WINDOW):
            worth.called(so_far, lambda: 1.0)
        assert worth.width == width


def test_what_ranks_show_is_not_learnt_while_it_sleeps(opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    source, learnt = model(), []
    runtime = opened(source, len(LAYERS) * EXPERTS, thresholds=Thresholds(0.5, 0.9))
    learn = runtime._ranks.learn
    monkeypatch.setattr(runtime._ranks, "learn", lambda layer, weights: (learnt.append(layer), learn(layer, weights)))
    runtime.read_ahead(Said(source, truth), K)
    run(runtime, source, range(10))
    assert learnt
    for token in range(10):  # all is in memory by now, so that there is nothing to read ahead
        run(runtime, source, range(token, token + 1))
    assert runtime.prefetch is not None
    assert not runtime.prefetch.awake
    learnt.clear()
    run(runtime, source, range(3))
    assert not learnt


def test_without_a_known_rate_nothing_is_judged() -> None:
    worth, so_far = Worth(), Bytes()
    so_far.add(0, 10)
    for _ in range(2 * WINDOW):
        worth.called(so_far, lambda: 0.0)
    assert not worth.resting


def test_it_rests_when_all_it_says_is_wrong(opened: Open) -> None:
    source = model()
    runtime = opened(source, 16)
    said = Said(source, lie)
    runtime.read_ahead(said, K)
    run(runtime, source, range(WINDOW))
    assert runtime.prefetch is not None
    assert runtime.prefetch.foresight.rests >= 1
    assert runtime.prefetch.foresight.useful == 0
    assert nothing_left(runtime, source)


@pytest.mark.parametrize("kernel", KERNELS)
def test_what_is_read_ahead_is_wanted_so(opened: Open, kernel: str) -> None:
    """The first and second choice run high here, the third is skipped: none comes coarse first, or for nothing."""
    source = model()
    weights = torch.tensor([[0.5, 0.3, 0.2]])
    runtime = opened(source, 2 * K, kernel=kernel, thresholds=Thresholds(0.6, 0.7))
    runtime.read_ahead(Said(source, truth), K)
    run(runtime, source, range(1), weights)
    runtime.arrivals.make_way()
    before = len(source.reads)
    run(runtime, source, range(1, 12), weights)
    runtime.arrivals.make_way()
    ahead = runtime.snapshot().foresight
    assert ahead is not None
    assert ahead.started > 10
    read = source.reads[before:]
    assert {parts for _, parts in read} == {SPEC.layout.parts_for(8)}
    wanted = {(layer, e) for t in range(1, 12) for row, layer in enumerate(LAYERS) for e in chosen(source, t, row)[:2]}
    assert {tuple(key) for key, _ in read} <= wanted
    assert runtime.snapshot().precision["skipped"] > 0


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_layer_that_lacks_only_what_it_skips_is_told_of(opened: Open, kernel: str) -> None:
    """Else reading ahead would have lost count of the layers, and have nothing to say until the next token."""
    source = model()
    runtime = opened(source, 2 * K, kernel=kernel, thresholds=Thresholds(0.6, 0.7))
    runtime.read_ahead(Said(source, truth), K)
    run(runtime, source, range(16), torch.tensor([[0.5, 0.3, 0.2]]))  # the third is skipped
    ahead = runtime.snapshot().foresight
    assert ahead is not None
    assert ahead.said[0] == 15 * (len(LAYERS) - 1) * K  # all tokens but the first, which it sleeps through
