"""Calls of many tokens: experts cross to the card where the call ends sooner so, and nothing else changes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import Tensor

from engine.experts.card.split import SideRates
from engine.experts.precision import Thresholds
from engine.experts.runtime import ExpertRuntime
from tests.engine.cuda.simulated_driver import LAUNCH_FAILED, SimulatedDriver, interpreted
from tests.engine.cuda.stand_in import StandIn
from tests.engine.experts.card.cards import FAST_CARD, SPEC, TOTAL, Beside, beside, settle, stepped
from tests.engine.experts.sources import MemorySource

LAYERS, EXPERTS, K = (0, 1), 8, 3
SOURCE = MemorySource(SPEC, layers=LAYERS, experts=EXPERTS)
ROOM = 100  # experts that memory has room for, of which an eighth may be on its way at a time
FULL = SPEC.layout.bytes_for(8)


def prompt(runtime: ExpertRuntime, tokens: int = 40, seed: int = 3) -> list[Tensor]:
    asked = SOURCE.routing(tokens, K, seed)
    return [runtime.moe(layer, *asked).clone() for layer in LAYERS]


def alone(both: Beside, run: Callable[[ExpertRuntime], list[Tensor]] = prompt) -> list[Tensor]:
    """What the processor gives, with all experts in memory afterwards."""
    both.runtime.use_card(None)
    found = run(both.runtime)
    both.runtime.use_card(both.card.assistant)
    return found


def same(found: list[Tensor], expected: list[Tensor]) -> None:
    for one, other in zip(found, expected, strict=True):
        assert torch.equal(one, other)


def nothing_left(both: Beside) -> None:
    """Neither here nor there: every expert could be evicted, and the card has what it had."""
    if both.card.alive:
        settle(both.card)
    both.runtime.cache.make_free(both.runtime.cache.capacity)
    assert not both.runtime.cache.residency()
    both.card.close()
    assert both.simulated.leaks == []


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("on_card", [1, 2, 5, 12])
def test_the_bits_are_the_processors_whatever_crosses(path: Path, compiler: StandIn, seed: int, on_card: int) -> None:
    with beside(path, compiler, experts=ROOM, on_card=on_card, seed=seed, eagerness=0.05 + seed / 7) as both:
        expected, shares = alone(both), both.card.assistant.shares
        shares.link_rate = 1e12
        if on_card > 2:
            both.card.fill(list(SOURCE.records))
        for _ in range(3):
            same(prompt(both.runtime), expected)
        assert shares.sent >= 3 * len(LAYERS) * (3 if on_card > 2 else 1) * FULL
        assert both.card.assistant.ran > 0
        stepped(both.runtime, 0, *SOURCE.routing(1, K, 7))  # decoding goes on with the same buffers
        same(prompt(both.runtime), expected)
        nothing_left(both)


def test_nothing_crosses_where_the_processor_is_through_sooner(path: Path, compiler: StandIn) -> None:
    with beside(path, compiler, experts=ROOM, on_card=5) as both:
        expected, shares = alone(both), both.card.assistant.shares
        shares.link_rate = 1.0  # bytes a second
        same(prompt(both.runtime), expected)
        assert shares.sent == 0
    with beside(path, compiler, experts=ROOM, on_card=5, rates=SideRates(1e-6, 1e-3, 1e-3)) as both:
        expected, shares = alone(both), both.card.assistant.shares
        shares.link_rate = 1e12
        same(prompt(both.runtime), expected)
        assert (shares.sent, both.card.assistant.ran) == (0, 0)


def test_the_speeds_follow_what_is_seen(path: Path, compiler: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    with beside(path, compiler, experts=ROOM, on_card=12) as both:
        alone(both)
        shares = both.card.assistant.shares
        shares.link_rate = 1e10
        with monkeypatch.context() as patched:  # undone before what `beside` has patched is
            patched.setattr("engine.experts.card.split.LEARN", 0.5)
            for _ in range(12):
                prompt(both.runtime)
        # Of a simulated card: far slower than 0.01 ms an expert.
        assert shares.rates.card > 3 * FAST_CARD.card or shares.link_rate < 1e9


@pytest.mark.parametrize("after", [0, 1, 4, 9])
@pytest.mark.parametrize("call", ["cuLaunchKernel", "cuMemcpyHtoDAsync_v2", "cuStreamWaitEvent", "cuEventSynchronize"])
def test_a_card_that_is_lost_costs_nothing(path: Path, compiler: StandIn, call: str, after: int) -> None:
    with beside(path, compiler, experts=ROOM, on_card=12) as both:
        expected = alone(both)
        both.card.fill(list(SOURCE.records))
        both.card.assistant.shares.link_rate = 1e12
        both.simulated.fail[call] = [0] * after + [LAUNCH_FAILED]
        found = [prompt(both.runtime) for _ in range(2)]
        for own in found:
            same(own, expected)
        assert not both.card.alive
        assert not any(any(layer.card) for layer in both.runtime.table.layers.values())
        nothing_left(both)


def test_a_prompt_that_is_stopped_leaves_nothing_behind(
    path: Path, compiler: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    with beside(path, compiler, experts=ROOM, on_card=6) as both:
        expected = alone(both)
        both.card.assistant.shares.link_rate = 2e8  # so that the processor has its share, too

        def stop(*args: object) -> None:
            raise InterruptedError

        with monkeypatch.context() as patched:
            patched.setattr(both.runtime.kernel, "run", stop)
            with pytest.raises(InterruptedError):
                prompt(both.runtime)
        same(prompt(both.runtime), expected)
        assert both.card.alive
        nothing_left(both)


def test_what_matters_less_crosses_as_coarse_as_memory_has_it(path: Path, compiler: StandIn) -> None:
    """T1 and T2 of HOBBIT: what every token is content with was read with fewer bits, and crosses with these."""
    x, weights = torch.randn(40, SPEC.hidden), torch.tensor([[0.5, 0.3, 0.2]]).repeat(40, 1)
    ids = torch.tensor([[0, 1, 2]]).repeat(40, 1)
    with beside(path, compiler, experts=ROOM, on_card=8) as both:
        both.runtime.set_thresholds(Thresholds(0.4, 0.95))
        expected = alone(both, lambda runtime: [runtime.moe(0, x, ids, weights).clone()])
        shares, telemetry = both.card.assistant.shares, both.runtime.telemetry
        shares.link_rate, before = 1e12, list(telemetry.precision)
        same([both.runtime.moe(0, x, ids, weights).clone()], expected)
        coarse = [now - then for now, then in zip(telemetry.precision, before, strict=True)][1:8]
        assert sum(coarse) == 80
        low = SPEC.layout.bytes_for(1 + next(at for at, count in enumerate(coarse) if count))
        assert shares.sent == FULL + 2 * low < 3 * FULL
        nothing_left(both)


def test_the_shipped_kernels_compute_what_crosses(path: Path) -> None:
    simulated = SimulatedDriver(total=TOTAL, compiler=interpreted)
    with beside(path, interpreted, experts=ROOM, on_card=4, simulated=simulated) as both:
        expected = alone(both, lambda runtime: prompt(runtime, 9))
        both.card.assistant.shares.link_rate = 1e12
        found = prompt(both.runtime, 9)
        assert both.card.assistant.shares.sent > 0
        exactly = both.runtime.kernel.isa.endswith("vnni")  # others sum in another order (docs/graphics-card.md)
        for one, other in zip(found, expected, strict=True):
            assert torch.equal(one, other) if exactly else torch.allclose(one, other, rtol=1e-3, atol=1e-3)
