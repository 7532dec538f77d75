"""The runtime as a decoder sees it: the same bits whatever was cached, errors that break nothing, honest counters."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
import torch
from torch import Tensor

from engine.errors import Kind, UnderhillError
from engine.experts.backend import Step, stepper
from engine.experts.keys import ExpertKey
from engine.experts.loading.pending import LoadQueue
from engine.experts.precision import Thresholds
from engine.experts.runtime import ExpertRuntime, open_runtime
from engine.kernels.activation import Activation
from engine.record.layout import ExpertSpec
from tests.engine.experts.sources import MemorySource
from tests.engine.kernels.reference import moe_forward

SPEC = ExpertSpec(48, 40, 8, 16)
SILU = Activation()
Open = Callable[..., ExpertRuntime]


@pytest.fixture
def opened() -> Iterator[Open]:
    """Opens runtimes whose capacity is given in whole experts."""
    made: list[ExpertRuntime] = []

    def make(source: MemorySource, experts: float, **options: object) -> ExpertRuntime:
        made.append(source.open(experts, **{"exact": True, "readers": 4, **options}))
        return made[-1]

    yield make
    for runtime in made:
        runtime.close()


def near(ours: Tensor, oracle: Tensor) -> bool:
    """Within what the exact kernels promise of float64."""
    return bool((ours.double() - oracle).norm() <= 1e-5 * oracle.norm())


def conversation(runtime: ExpertRuntime, source: MemorySource) -> list[Tensor]:
    """A prompt and some decode steps over every layer."""
    outputs = []
    for step, tokens in enumerate([9, 1, 1, 1, 1, 4, 1, 1]):
        for layer in source.layers:
            outputs.append(runtime.moe(layer, *source.routing(tokens, 3, 10 * step + layer)))
            assert runtime.cache.nbytes <= runtime.cache.capacity
    return outputs


@pytest.mark.parametrize("policy", ["lru", "lru_layer"])
def test_exact_output_is_the_same_at_every_capacity(opened: Open, policy: str) -> None:
    source = MemorySource(SPEC)
    everything = len(source.records)
    full = opened(source, everything)
    expected = conversation(full, source)
    assert full.snapshot().misses == everything
    x, ids, weights = source.routing(9, 3, 0)
    oracle = moe_forward(x.double(), ids, weights, source.parts(0, dict.fromkeys(range(6), 8)), SPEC, SILU)
    assert near(expected[0], oracle)
    for share in (0.5, 0.25, 1 / everything):  # the last holds a single expert: many rounds per layer
        small = opened(source, share * everything, policy=policy, readers=2)
        for ours, theirs in zip(conversation(small, source), expected, strict=True):
            assert torch.equal(ours, theirs)
        seen = small.snapshot()
        assert seen.misses > full.snapshot().misses
        assert seen.bytes_read == seen.reads * source.expert_bytes
        assert seen.precision == {"8": 3 * 2 * 19}
        assert max(map(max, seen.residency)) <= 8


def test_calls_in_and_out_of_inference_mode_leave_earlier_outputs_alone(opened: Open) -> None:
    source = MemorySource(SPEC)
    runtime = opened(source, 12)
    with torch.inference_mode():
        first = runtime.moe(0, *source.routing(9, 3, 0))
        kept = first.clone()
    second = runtime.moe(0, *source.routing(7, 3, 1))
    assert torch.equal(first, kept)
    with torch.inference_mode():
        assert torch.equal(runtime.moe(0, *source.routing(7, 3, 1)), second)


def test_lower_dials_run_what_the_scores_ask_for(opened: Open) -> None:
    source = MemorySource(SPEC)
    runtime = opened(source, 12, thresholds=Thresholds(0.6, 0.9))
    x = torch.randn(1, 48)
    ids, weights = torch.tensor([[4, 1, 0, 3]]), torch.tensor([[0.5, 0.3, 0.15, 0.05]])
    ours = runtime.moe(0, x, ids, weights)
    kept = torch.tensor([[0.5, 0.3, 0.15, 0.0]])  # skipped is dropped, the rest is not renormalized
    expected = moe_forward(x.double(), ids, kept, source.parts(0, {4: 8, 1: 8, 0: 2, 3: 8}), SPEC, SILU)
    assert near(ours, expected)
    seen = runtime.snapshot()
    assert seen.precision == {"8": 2, "2": 1, "skipped": 1}
    assert (seen.hits, seen.misses) == (0, 3)
    assert seen.residency[0] == (2, 8, 0, 0, 8, 0)
    assert seen.bytes_read == 2 * SPEC.layout.bytes_for(8) + SPEC.layout.bytes_for(2)


def test_a_hit_uses_the_best_that_is_resident(opened: Open) -> None:
    source = MemorySource(SPEC)
    runtime = opened(source, 12)
    x, ids = torch.randn(1, 48), torch.tensor([[4, 1, 0, 3]])
    runtime.moe(0, x, ids, torch.tensor([[0.25, 0.25, 0.25, 0.25]]))
    runtime.set_thresholds(Thresholds(0.6, 0.9))
    weights = torch.tensor([[0.5, 0.3, 0.15, 0.05]])
    ours = runtime.moe(0, x, ids, weights)
    assert near(ours, moe_forward(x.double(), ids, weights, source.parts(0, dict.fromkeys(range(6), 8)), SPEC, SILU))
    assert runtime.snapshot().hits == 4
    assert runtime.snapshot().precision == {"8": 8}


def test_high_demand_reads_only_what_a_coarse_expert_lacks(opened: Open) -> None:
    source = MemorySource(SPEC)
    runtime = opened(source, 12, thresholds=Thresholds(0.0, 1.0))
    x, ids = torch.randn(1, 48), torch.tensor([[0, 1]])
    runtime.moe(0, x, ids, torch.tensor([[0.6, 0.4]]))
    runtime.set_thresholds(Thresholds())
    exact = runtime.moe(0, x, ids, torch.tensor([[0.6, 0.4]]))
    assert sorted(source.reads) == [
        (ExpertKey(0, 0), (1, 2, 4, 5)), (ExpertKey(0, 1), (0, 1)), (ExpertKey(0, 1), (2, 4, 5)),
    ]  # fmt: skip
    expected = moe_forward(x.double(), ids, torch.tensor([[0.6, 0.4]]), source.parts(0, {0: 8, 1: 8}), SPEC, SILU)
    assert near(exact, expected)


def test_of_batch_tokens_the_strongest_demand_wins(opened: Open) -> None:
    source = MemorySource(SPEC)
    runtime = opened(source, 12, thresholds=Thresholds(0.1, 0.5))
    ids = torch.tensor([[0, 1], [1, 2]])
    runtime.moe(0, torch.randn(2, 48), ids, torch.tensor([[0.9, 0.1], [0.8, 0.2]]))
    # expert 0: high; 1: skip for the first token, high for the second; 2: skip
    assert runtime.snapshot().precision == {"8": 3, "skipped": 1}


@pytest.mark.parametrize("tier", [2, 4, 8])
def test_a_lower_full_tier_is_exact_too(opened: Open, tier: int) -> None:
    source = MemorySource(SPEC)
    warm = opened(source, 12)
    conversation(warm, source)
    warm.set_tier(tier)  # what is resident is finer than asked for; it must not show
    cold = opened(source, 2, tier=tier)
    for ours, theirs in zip(conversation(warm, source), conversation(cold, source), strict=True):
        assert torch.equal(ours, theirs)
    assert cold.snapshot().precision == {str(tier): 3 * 2 * 19}
    with pytest.raises(UnderhillError, match="no 16-bit experts"):
        warm.set_tier(16)


@pytest.mark.parametrize("tier", [2, 4, 8])
def test_every_tier_reads_and_keeps_its_own_bytes_alone(opened: Open, tier: int) -> None:
    source = MemorySource(SPEC)
    runtime = opened(source, 12, tier=tier, thresholds=Thresholds(0.3, 0.9))
    conversation(runtime, source)  # leaves coarse ones, and raises some of them
    runtime.set_thresholds(Thresholds())
    conversation(runtime, source)
    assert {key: sorted(source.spec_.layout.parts_for(tier)) for key in source.records} == {
        key: sorted(piece.part for piece in runtime.cache.table.pieces(runtime.cache.number(key)))
        for key in source.records
    }
    cold = opened(source, 12, tier=tier)
    conversation(cold, source)
    assert cold.snapshot().bytes_read == cold.cache.nbytes == 12 * SPEC.layout.bytes_for(tier)


def test_the_least_capacity_is_an_expert_of_the_tier_in_use(opened: Open) -> None:
    source = MemorySource(SPEC)
    least, whole = SPEC.layout.bytes_for(4), SPEC.layout.bytes_for(8)
    assert least < whole
    with pytest.raises(UnderhillError, match=f"at least {least:,} bytes"):
        open_runtime(source, SILU, least - 1, tier=4)
    runtime = opened(source, (least + 0.5) / source.expert_bytes, tier=4)
    assert runtime.cache.capacity == least
    expected = conversation(opened(source, 12, tier=4), source)
    runtime.set_thresholds(Thresholds(0.3, 0.9))
    conversation(runtime, source)  # raised within its own room
    runtime.set_thresholds(Thresholds())
    for ours, theirs in zip(conversation(runtime, source), expected, strict=True):
        assert torch.equal(ours, theirs)
    with pytest.raises(UnderhillError, match=f"at least {whole:,} bytes"):
        runtime.set_tier(8)
    assert all(torch.equal(*both) for both in zip(conversation(runtime, source), expected, strict=True))
    runtime.set_tier(8, whole)
    runtime.set_tier(4, least)
    assert runtime.cache.capacity == least


@pytest.mark.parametrize("tokens", [1, 8])
def test_a_failed_read_fails_the_call_and_nothing_else(opened: Open, tokens: int) -> None:
    source = MemorySource(SPEC)
    runtime = opened(source, 3, readers=2)
    x, ids, weights = source.routing(tokens, 4, 1)
    expected = opened(source, 12).moe(0, x, ids, weights)
    source.failing.add(ExpertKey(0, int(ids[0, 2])))
    for _ in range(3):
        with pytest.raises(UnderhillError, match="could not read"):
            runtime.moe(0, x, ids, weights)
        assert runtime.cache.nbytes <= runtime.cache.capacity
    source.failing.clear()
    assert torch.equal(runtime.moe(0, x, ids, weights), expected)
    runtime.set_capacity(source.expert_bytes)  # possible only when no lease was left behind
    assert runtime.cache.nbytes <= source.expert_bytes


def test_a_corrupt_expert_is_named_and_never_computed_with(opened: Open) -> None:
    source = MemorySource(SPEC)
    source.records[ExpertKey(2, 4)][1][77] ^= 1
    runtime = opened(source, 12)
    x, weights = torch.randn(1, 48), torch.tensor([[1.0]])
    with pytest.raises(UnderhillError, match="expert 4 of layer 2") as caught:
        runtime.moe(2, x, torch.tensor([[4]]), weights)
    assert caught.value.kind is Kind.BROKEN_FILE
    assert runtime.snapshot().residency[1][4] == 0
    assert runtime.moe(2, x, torch.tensor([[3]]), weights).isfinite().all()


def test_an_error_of_a_kernel_leaves_no_lease_behind(opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    source = MemorySource(SPEC)
    runtime = opened(source, 2, readers=1)
    routing = source.routing(5, 3)
    runtime.moe(0, *routing)
    with pytest.raises(ValueError, match="the experts take"):
        runtime.moe(0, torch.randn(5, 47), *routing[1:])
    runtime.set_capacity(source.expert_bytes)
    assert runtime.cache.nbytes <= source.expert_bytes
    assert runtime.moe(0, *routing).isfinite().all()


def test_an_expert_that_does_not_exist_is_refused(opened: Open) -> None:
    runtime = opened(MemorySource(SPEC), 2)
    for wrong in (-1, 6):
        with pytest.raises(ValueError, match=f"no expert {wrong}"):
            runtime.moe(0, torch.randn(1, 48), torch.tensor([[wrong]]), torch.ones(1, 1))


def test_capacity_changes_between_layers(opened: Open) -> None:
    source = MemorySource(SPEC)
    runtime, full = opened(source, 12), opened(source, 12)
    for step, experts in enumerate([12, 1, 5, 2, 12]):
        runtime.set_capacity(experts * source.expert_bytes)
        assert runtime.cache.nbytes <= experts * source.expert_bytes
        routing = source.routing(6, 3, step)
        assert torch.equal(runtime.moe(2, *routing), full.moe(2, *routing))
    with pytest.raises(UnderhillError, match="single expert"):
        runtime.set_capacity(source.expert_bytes - 1)


def test_counters_of_this_answer_and_since_load(opened: Open) -> None:
    source = MemorySource(SPEC, layers=(1, 3))
    runtime = opened(source, 12)
    heard: list[tuple[int, list[list[int]]]] = []
    runtime.route_listener = lambda layer, ids, weights: heard.append((layer, ids.tolist()))
    x, weights = torch.randn(2, 48), torch.full((2, 2), 0.5)
    runtime.moe(3, x, torch.tensor([[0, 5], [5, 2]]), weights)
    runtime.telemetry.begin_answer()
    runtime.moe(3, x[:1], torch.tensor([[5, 4]]), torch.tensor([[0.75, -0.25]]))
    seen = runtime.snapshot()
    assert runtime.telemetry.mean_gates() == ((0.0,) * 6, (0.0, 0.0, 0.0, 0.0, 0.25, 0.75))
    assert runtime.telemetry.notes(3)[:, :2].tolist() == [
        [0.5, 0.5],
        [0, 0],
        [0.5, 0.5],
        [0, 0],
        [0.25] * 2,
        [1.75, 0.75],
    ]
    assert seen.layers == (1, 3)
    assert seen.uses == ((0,) * 6, (1, 0, 1, 0, 1, 3))
    assert seen.activations == ((0,) * 6, (0, 0, 0, 0, 1, 1))
    assert seen.residency == ((0,) * 6, (8, 0, 8, 0, 8, 8))
    assert (seen.hits, seen.misses, seen.reads) == (1, 4, 4)
    assert seen.read_seconds > 0
    assert heard == [(3, [[0, 5], [5, 2]]), (3, [[5, 4]])]


def test_raw_experts_run_too(opened: Open) -> None:
    source = MemorySource(ExpertSpec(33, 21, 16, 16, has_bias=True))
    x, ids, weights = source.routing(4, 2)
    ours = opened(source, 2, thresholds=Thresholds(0.5, 1.0)).moe(0, x, ids, weights)
    oracle = moe_forward(x.double(), ids, weights, source.parts(0, dict.fromkeys(range(6), 16)), source.spec_, SILU)
    assert (ours.double() - oracle).norm() <= 1e-5 * oracle.norm()


class OnlyMoe:
    """A backend without a short way."""

    def moe(self, layer: int, x: Tensor, ids: Tensor, weights: Tensor) -> Tensor:
        return layer * x * weights.sum()


def test_every_backend_can_be_stepped() -> None:
    step = Step.of(3, 2)
    step.x.fill_(2.0)
    step.weights.fill_(0.25)
    stepper(OnlyMoe()).moe_step(7, step)
    assert step.y.tolist() == [[7.0, 7.0, 7.0]]


def test_a_step_refuses_memory_that_a_kernel_could_not_use() -> None:
    x, ids, weights = torch.zeros(1, 4), torch.zeros(1, 2, dtype=torch.int64), torch.zeros(1, 2)
    for wrong in (
        (x.double(), ids, weights, x),
        (x, ids.int(), weights, x),
        (x, ids, weights, torch.zeros(1, 8)[:, ::2]),
        (torch.zeros(2, 4), ids, weights, torch.zeros(2, 4)),
        (x, ids, torch.zeros(1, 3), x),
    ):
        with pytest.raises(ValueError, match=r"contiguous|one token|one shape"):
            Step(*wrong)


def test_the_policy_hears_what_is_routed_before_anything_is_fetched(
    opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = MemorySource(SPEC)
    runtime = opened(source, 12, thresholds=Thresholds(0.5, 0.8))
    events: list[object] = []
    told, start = runtime.cache.routed, LoadQueue.start
    monkeypatch.setattr(runtime.cache, "begin_sequence", lambda: events.append("begin"))
    monkeypatch.setattr(runtime.cache, "routed", lambda visit: (events.append(visit), told(visit)))
    monkeypatch.setattr(LoadQueue, "start", lambda loads, *n: (events.append("read"), start(loads, *n))[1])
    runtime.begin_sequence()
    runtime.begin_pass([7, 8], 0)
    runtime.moe(0, torch.randn(2, 48), torch.tensor([[0, 1, 4], [4, 2, 0]]), torch.tensor([[6.0, 3.0, 1.0]] * 2))
    runtime.begin_pass([9], 2)
    runtime.moe(0, torch.randn(1, 48), torch.tensor([[5, 0, 3]]), torch.tensor([[6.0, 3.0, 1.0]]))
    # of a prompt: by number, the strongest demand of its tokens, and how many chose each; the one to skip not at all
    assert events[:2] == ["begin", (0, [0, 1, 2, 4], [True, False, False, True], [2, 1, 1, 2], 2)]
    assert [event for event in events[2:] if event != "read"] == [(0, [5, 0], [True, False], None, 1)]
    assert events[2] == "read"


def test_what_was_used_again_stays(opened: Open) -> None:
    """Also where no lease is taken."""
    source = MemorySource(SPEC)
    runtime = opened(source, 3, policy="lru")
    one = torch.ones(1, 1)
    for expert in (0, 1, 2, 0, 3, 0):
        step = Step(torch.randn(1, 48), torch.tensor([[expert]]), one, torch.empty(1, 48))
        runtime.moe_step(0, step)
    assert set(runtime.cache.residency()) == {ExpertKey(0, expert) for expert in (0, 2, 3)}
    assert runtime.snapshot().misses == 4


def test_unknown_policy_is_refused() -> None:
    source = MemorySource(SPEC)
    with pytest.raises(UnderhillError, match="no cache policy"):
        open_runtime(source, SILU, source.expert_bytes, policy="magic")
