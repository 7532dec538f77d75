"""Card and processor together give the bits of the processor alone, in every legal order and whatever fails."""

from __future__ import annotations

from contextlib import closing, suppress
from pathlib import Path

import pytest
import torch
from torch import Tensor

from engine.cuda import arena
from engine.cuda.errors import CardError
from engine.experts.card.split import SideRates
from engine.experts.execution import assistant
from engine.experts.keys import ExpertKey
from engine.experts.precision import EXACT, Thresholds
from engine.experts.runtime import ExpertRuntime, open_runtime
from engine.kernels.activation import Activation
from engine.store.reader import Store
from tests.engine.cuda.simulated_driver import LAUNCH_FAILED, MIB, OUT_OF_MEMORY, SimulatedDriver, interpreted
from tests.engine.cuda.stand_in import StandIn
from tests.engine.experts.card.cards import SPEC, TOTAL, Beside, beside, settle, stepped
from tests.engine.experts.sources import MemorySource

LAYERS, EXPERTS, K, STEPS = (0, 1), 8, 3, 60
SOURCE = MemorySource(SPEC, layers=LAYERS, experts=EXPERTS)
ROUTING = [SOURCE.routing(1, K, seed) for seed in range(STEPS)]
CLOSE_TO_THE_CALLS_BIT = 0.0


@pytest.fixture(scope="module")
def alone(path: Path) -> list[Tensor]:
    """What the processor alone gives, step by step."""
    with Store.open(path) as store:
        runtime = open_runtime(store, Activation(), 16 * SPEC.layout.bytes_for(8), threads=1)
        try:
            return steps(runtime)
        finally:
            runtime.close()


def steps(runtime: ExpertRuntime, count: int = STEPS) -> list[Tensor]:
    """Layer by layer, token by token."""
    return [stepped(runtime, layer, *routing) for routing in ROUTING[:count] for layer in LAYERS]


def same(found: list[Tensor], expected: list[Tensor]) -> None:
    for one, other in zip(found, expected):
        assert torch.equal(one, other)


def nothing_left(open_card: Beside) -> None:
    open_card.card.close()
    assert open_card.simulated.leaks == []


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize(("experts", "on_card"), [(16, 5), (16, 16), (4, 5), (4, 1)])
def test_the_bits_are_those_of_the_processor_alone(
    path: Path, compiler: StandIn, alone: list[Tensor], seed: int, experts: int, on_card: int
) -> None:
    with beside(path, compiler, experts=experts, on_card=on_card, seed=seed, eagerness=0.05 + seed / 13) as both:
        while both.card.fill(list(SOURCE.records)):
            pass
        same(steps(both.runtime), alone)
        assert both.card.assistant.ran > (0 if on_card == 1 else STEPS / 4)  # the card had its part in it,
        assert both.card.assistant.host_ran > 0 or on_card == 16  # and so had the processor
        assert both.card.held.nbytes <= on_card * SPEC.layout.bytes_for(8)
        ran = sum(both.runtime.telemetry.precision)
        assert ran == STEPS * len(LAYERS) * K
        nothing_left(both)


def test_once_all_of_them_lie_there_the_memory_is_asked_for_nothing(
    path: Path, compiler: StandIn, alone: list[Tensor]
) -> None:
    with beside(path, compiler, experts=2, on_card=16) as both:
        keys = list(SOURCE.records)
        assert both.card.likely_first(keys) == keys
        while both.card.fill(keys):
            pass
        both.runtime.telemetry.misses = 0
        same(steps(both.runtime), alone)
        assert both.runtime.telemetry.misses == 0
        assert set(both.card.held.tiers) == set(SOURCE.records)


def test_a_full_card_gives_the_place_of_who_is_used_less(path: Path, compiler: StandIn) -> None:
    with beside(path, compiler, experts=16, on_card=2) as both:
        x, weights = torch.randn(1, SPEC.hidden), torch.full((1, 2), 0.5)
        held, nbytes = both.card.held, SPEC.layout.bytes_for(8)
        for times, chosen in ((12, (0, 1)), (70, (4, 5))):
            for _ in range(times):
                stepped(both.runtime, 0, x, torch.tensor([chosen]), weights)
                settle(both.card)
                if held.tiers:
                    assert held.least_uses(nbytes) <= min(map(held.uses, held.tiers))
            assert {*both.card.held.tiers} == {ExpertKey(0, expert) for expert in chosen}
        nothing_left(both)


@pytest.mark.parametrize("crossing", [False, True])
def test_experts_cross_over_only_where_that_is_wanted(
    path: Path, compiler: StandIn, alone: list[Tensor], crossing: bool
) -> None:
    with beside(path, compiler, experts=16, on_card=4, rates=SideRates(1e-6, 1e-5, 1e-3)) as both:
        steps(both.runtime, 10)  # all come to memory
        both.card.assistant.crossing, both.card.assistant.ran = crossing, 0
        before = both.card.assistant.host_ran
        same([stepped(both.runtime, layer, *routing) for routing in ROUTING[:10] for layer in LAYERS], alone)
        assert (both.card.assistant.ran, both.card.assistant.host_ran - before) == (
            (10 * len(LAYERS) * K, 0) if crossing else (0, 0)
        )
        nothing_left(both)


def test_what_is_asked_for_coarsely_crosses_and_stays_as_memory_has_it(path: Path, compiler: StandIn) -> None:
    """HOBBIT's T1 and T2: what was read with fewer bits serves on the card for tokens that are content with them, and
    for no others."""
    x, weights = torch.randn(1, SPEC.hidden), torch.tensor([[0.5, 0.3, 0.2]])
    low, high = torch.tensor([[0, 1, 2]]), torch.tensor([[1, 0, 2]])  # expert 1 matters less, then most
    with beside(path, compiler, experts=16, on_card=8) as both:
        both.runtime.upgrade = False
        both.runtime.set_thresholds(Thresholds(0.4, 0.95))
        both.runtime.use_card(None)
        expected = stepped(both.runtime, 0, x, low, weights).clone()
        both.runtime.use_card(both.card.assistant)
        both.card.assistant.crossing, held = True, both.card.held
        held.arena.clear()
        held.arena.slab = 2 * SPEC.layout.bytes_for(8)  # or all of the card would be for experts of one size
        assert torch.equal(stepped(both.runtime, 0, x, low, weights), expected)
        assert set(held.coarse) == {ExpertKey(0, 1), ExpertKey(0, 2)}
        assert {*held.tiers.values()} == {8, *held.coarse.values()}
        before, sent = both.card.assistant.ran, held.sent
        assert torch.equal(stepped(both.runtime, 0, x, low, weights), expected)
        assert (both.card.assistant.ran - before, held.sent) == (K, sent)  # all of them there, nothing crosses again

        both.card.assistant.ran = 0
        found = stepped(both.runtime, 0, x, high, weights).clone()  # 1 is read in full, and computed here
        assert both.card.assistant.ran == K - 1
        both.runtime.use_card(None)
        assert torch.equal(stepped(both.runtime, 0, x, high, weights), found)
        both.runtime.use_card(both.card.assistant)
        settle(both.card)
        stepped(both.runtime, 0, x, high, weights)
        assert held.tier(ExpertKey(0, 1)) == 8
        assert set(held.coarse) == {ExpertKey(0, 2)}
        both.runtime.set_thresholds(EXACT)
        both.card.assistant.ran = 0
        stepped(both.runtime, 0, x, low, weights)
        assert both.card.assistant.ran == K - 1
        nothing_left(both)


def test_a_coarse_copy_makes_nobody_leave(path: Path, compiler: StandIn) -> None:
    x, weights = torch.randn(1, SPEC.hidden), torch.tensor([[0.5, 0.3, 0.2]])
    with beside(path, compiler, experts=16, on_card=2, rates=SideRates(1e-3, 1e-5, 1e-5)) as both:
        both.runtime.upgrade = False
        both.card.fill([ExpertKey(1, 0)])
        both.card.fill([ExpertKey(1, 1)])
        both.runtime.set_thresholds(Thresholds(0.4, 0.95))
        for _ in range(20):
            stepped(both.runtime, 0, x, torch.tensor([[0, 1, 2]]), weights)
            settle(both.card)
        assert ExpertKey(0, 0) in both.card.held.tiers
        assert not both.card.held.coarse
        nothing_left(both)


def test_of_a_token_as_many_cross_as_end_its_layer_soonest(path: Path, compiler: StandIn, alone: list[Tensor]) -> None:
    slow = SideRates(host=1e-2, card=1e-5, handover=1e-4)
    with beside(path, compiler, experts=16, on_card=6, rates=slow) as both:
        same(steps(both.runtime), alone)
        quick = both.card.assistant.ran  # an expert crosses a hundred times as fast as the processor computes it
    with beside(path, compiler, experts=16, on_card=6, rates=slow, link=1e6) as both:
        same(steps(both.runtime), alone)
        assert quick > 1.5 * both.card.assistant.ran


def test_a_card_that_would_end_later_is_left_alone(path: Path, compiler: StandIn, alone: list[Tensor]) -> None:
    with beside(path, compiler, experts=16, on_card=16, rates=SideRates(1e-6, 1e-5, 1e-3)) as both:
        same(steps(both.runtime), alone)
        assert both.card.assistant.ran == 0


@pytest.mark.parametrize(
    "call", ["cuLaunchKernel", "cuMemcpyHtoDAsync_v2", "cuEventSynchronize", "cuMemcpyDtoHAsync_v2"]
)
@pytest.mark.parametrize("after", [0, 3, 40])
def test_a_card_that_is_lost_costs_the_answer_nothing(
    path: Path, compiler: StandIn, alone: list[Tensor], call: str, after: int
) -> None:
    with beside(path, compiler, on_card=4) as both:
        told: list[CardError] = []
        both.card.on_lost = told.append
        found = steps(both.runtime, 10)
        both.simulated.fail[call] = [0] * after + [LAUNCH_FAILED]
        found += [stepped(both.runtime, layer, *routing) for routing in ROUTING[10:] for layer in LAYERS]
        same(found, alone)
        assert len(told) == 1
        assert not both.card.alive
        assert not any(any(layer.card) or any(layer.taken) for layer in both.runtime.table.layers.values())
        assert sum(both.runtime.telemetry.precision) >= STEPS * len(LAYERS) * K
        nothing_left(both)


def test_a_card_that_is_gone_for_good_costs_the_answer_nothing(
    path: Path, compiler: StandIn, alone: list[Tensor]
) -> None:
    with beside(path, compiler) as both:
        found = steps(both.runtime, 10)
        both.simulated.lost = 999
        found += [stepped(both.runtime, layer, *routing) for routing in ROUTING[10:] for layer in LAYERS]
        same(found, alone)


def test_memory_that_is_refused_at_any_moment_is_survived(path: Path, compiler: StandIn, alone: list[Tensor]) -> None:
    """Every allocation that opening and running make, one after the other."""
    for call in ("cuMemAlloc_v2", "cuMemHostAlloc"):
        counted = SimulatedDriver(total=TOTAL, compiler=compiler)
        with beside(path, compiler, simulated=counted) as both:
            steps(both.runtime, 5)
        for which in range(counted.calls[call]):
            simulated = SimulatedDriver(total=TOTAL, compiler=compiler)
            simulated.fail[call] = [0] * which + [OUT_OF_MEMORY]
            with suppress(CardError), beside(path, compiler, simulated=simulated) as both:
                same(steps(both.runtime, 5), alone)
            assert simulated.leaks == []
            assert not simulated.fail[call], "it was refused"


def test_a_card_that_has_less_than_was_planned_takes_what_there_is(
    path: Path, compiler: StandIn, alone: list[Tensor]
) -> None:
    simulated = SimulatedDriver(total=260 * MIB, compiler=compiler)
    with beside(path, compiler, on_card=1e6, simulated=simulated) as both:
        assert both.card.held.capacity < 10 * MIB
        same(steps(both.runtime, 10), alone)


def test_memory_that_another_program_takes_is_given_back(
    path: Path, compiler: StandIn, alone: list[Tensor], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arena, "SLAB", 2 * SPEC.layout.bytes_for(8))
    with beside(path, compiler, experts=16, on_card=16) as both:
        both.card.held.arena.slab = 2 * SPEC.layout.bytes_for(8)
        steps(both.runtime, 40)
        before, used = both.card.held.taken, both.simulated.memory.used
        both.runtime.begin_pass([1, 2], 0)
        assert both.card.held.taken == before  # there is enough
        both.simulated.reserved = TOTAL - used - assistant.LEAST_FREE + MIB // 8
        both.runtime.begin_pass([1, 2], 0)
        assert both.card.held.taken < before
        assert both.simulated.memory.used < used
        same(steps(both.runtime), alone)
        nothing_left(both)


def test_a_card_that_computes_something_else_is_not_used(path: Path, compiler: StandIn) -> None:
    class Wrong(StandIn):
        def last(self, memory, arguments, n):  # type: ignore[no-untyped-def]
            touched = super().last(memory, arguments, n)
            ((to, nbytes),) = touched[1]
            memory.write(to, torch.full((nbytes // 4,), 0.5).numpy().tobytes())
            return touched

    simulated = SimulatedDriver(total=TOTAL, compiler=Wrong({SPEC: Activation()}))
    with (
        pytest.raises(CardError, match="different results") as error,
        beside(path, compiler, simulated=simulated),
    ):
        pass
    assert "report" in error.value.action
    assert simulated.leaks == []


def test_the_shipped_kernels_give_the_bits_of_the_processor(path: Path, alone: list[Tensor]) -> None:
    """Instruction by instruction, in the interpreter of PTX."""
    simulated = SimulatedDriver(total=TOTAL, compiler=interpreted)
    with beside(path, interpreted, on_card=6, simulated=simulated) as both:
        found = steps(both.runtime, 12)
        assert both.card.assistant.ran > 12
        exactly = both.runtime.kernel.isa.endswith("vnni")  # others sum in another order (docs/graphics-card.md)
        for one, other in zip(found, alone):
            assert torch.equal(one, other) if exactly else torch.allclose(one, other, rtol=1e-3, atol=1e-3)


def test_prompts_are_shared_out_and_give_the_same_bits(path: Path, compiler: StandIn) -> None:
    x, ids, weights = SOURCE.routing(40, K, 3)
    for experts in (16, 4):
        with beside(path, compiler, experts=experts, on_card=5) as both:
            steps(both.runtime, 10)
            expected = both.runtime
            both.runtime.use_card(None)
            alone = [expected.moe(layer, x, ids, weights).clone() for layer in LAYERS]
            both.runtime.use_card(both.card.assistant)
            before = both.card.assistant.ran
            found = [both.runtime.moe(layer, x, ids, weights).clone() for layer in LAYERS]
            same(found, alone)
            assert both.card.assistant.ran > before


def test_a_layer_whose_experts_all_lie_there_is_read_ahead_of_as_ever(path: Path, compiler: StandIn) -> None:
    x, ids, weights = ROUTING[0]
    with beside(path, compiler, on_card=16) as both:
        keys = list(SOURCE.records)
        while both.card.fill(keys):
            pass
        for tokens in (1, 2):  # by the executor of prompts, which takes single tokens too
            many = x.repeat(tokens, 1), ids.repeat(tokens, 1), weights.repeat(tokens, 1)
            found = both.runtime.moe(0, *many).clone()
            both.runtime.use_card(None)
            assert torch.equal(found, both.runtime.moe(0, *many))
            both.runtime.use_card(both.card.assistant)


def test_a_prompt_whose_card_is_lost_is_computed_here(path: Path, compiler: StandIn) -> None:
    x, ids, weights = SOURCE.routing(40, K, 3)
    with beside(path, compiler, on_card=5) as both:
        steps(both.runtime, 10)
        both.runtime.use_card(None)
        alone = [both.runtime.moe(layer, x, ids, weights).clone() for layer in LAYERS]
        both.runtime.use_card(both.card.assistant)
        both.simulated.fail["cuEventSynchronize"] = [LAUNCH_FAILED]
        same([both.runtime.moe(layer, x, ids, weights).clone() for layer in LAYERS], alone)
        assert not both.card.alive


def test_what_counts_as_full_may_change_on_the_way(path: Path, compiler: StandIn) -> None:
    with beside(path, compiler, experts=16, on_card=5) as both, Store.open(path) as store:
        other = open_runtime(store, Activation(), 16 * SPEC.layout.bytes_for(8), threads=1)
        with closing(other):
            for at, (tier, thresholds) in enumerate([(8, EXACT), (4, EXACT), (None, EXACT), (4, Thresholds(0.5, 0.9))]):
                for runtime in (both.runtime, other):
                    runtime.set_tier(tier)
                    runtime.set_thresholds(thresholds)
                if thresholds is EXACT:
                    same(steps(both.runtime, 15), steps(other, 15))
                else:
                    assert all(torch.isfinite(y).all() for y in steps(both.runtime, 15))
                assert set(both.card.held.tiers.values()) == {tier or 8}, at


def test_what_the_card_computes_makes_room_in_memory_for_what_it_does_not(path: Path, compiler: StandIn) -> None:
    """The memory's policy is not told of it: both together hold more different experts than each alone."""
    with beside(path, compiler, experts=8, on_card=8) as both:
        steps(both.runtime)
        held, there = set(both.card.held.tiers), set(both.runtime.cache.residency())
        assert len(held | there) >= 14
        assert all(isinstance(key, ExpertKey) for key in held)
