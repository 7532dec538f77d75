"""What is expected of the next layers comes to the card beside the model's thread: in time, cancelled, or in vain."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

from engine.experts.card import courier
from engine.experts.card.split import SideRates
from engine.experts.keys import ExpertKey
from engine.experts.prefetch.prefetcher import Prefetcher
from engine.experts.runtime import ExpertRuntime
from tests.engine.cuda.simulated_driver import LAUNCH_FAILED
from tests.engine.cuda.stand_in import StandIn
from tests.engine.experts.card.cards import FAST_CARD, SPEC, Beside, Said, beside, stepped
from tests.engine.experts.sources import MemorySource

LAYERS, EXPERTS, K, TOKENS = (0, 1, 2), 8, 3, 24
SOURCE = MemorySource(SPEC, layers=LAYERS, experts=EXPERTS)
QUICK = 1e15  # bytes a second of the link
Say = Callable[[int, int], Sequence[int]]


def routing(token: int, row: int) -> tuple[Tensor, Tensor, Tensor]:
    return SOURCE.routing(1, K, 100 * token + row)


def truth(token: int, row: int) -> list[int]:
    return routing(token, row)[1][0].tolist()


def lie(token: int, row: int) -> list[int]:
    return [expert for expert in range(EXPERTS) if expert not in truth(token, row)]


def run(both: Beside, tokens: range, *, patient: bool = True) -> list[Tensor]:
    """The outputs of every layer. patient: what is on its way is there before the next layer."""
    found, held = [], both.card.held
    for token in tokens:
        both.runtime.begin_pass([token], token)
        for row, layer in enumerate(LAYERS):
            if patient and both.card.alive:
                held.arrive([key for key in SOURCE.records if held.is_coming(key)])
            found.append(stepped(both.runtime, layer, *routing(token, row)))
    return found


def alone(both: Beside, tokens: range) -> list[Tensor]:
    both.runtime.use_card(None)
    found = run(both, tokens)
    both.runtime.use_card(both.card.assistant)
    return found


def warmed(both: Beside, say: Say, crossing: bool = True) -> Prefetcher:
    """All experts in memory, and a predictor that says this."""
    both.card.assistant.crossing = crossing
    run(both, range(TOKENS))
    both.runtime.read_ahead(Said(EXPERTS, say), K, 2)
    prefetch = both.runtime.prefetch
    assert prefetch is not None
    return prefetch


def nothing_leased(runtime: ExpertRuntime) -> bool:
    runtime.use_card(None)
    runtime.set_capacity(SPEC.layout.bytes_for(8))
    return runtime.cache.nbytes <= SPEC.layout.bytes_for(8)


@pytest.mark.parametrize("patient", [True, False])
@pytest.mark.parametrize("say", [truth, lie])
def test_what_comes_ahead_changes_no_bit_and_is_counted(path: Path, compiler: StandIn, say: Say, patient: bool) -> None:
    with beside(path, compiler, experts=24, on_card=9, link=QUICK) as both:
        prefetch = warmed(both, say)
        expected, ran = alone(both, range(TOKENS)), both.card.assistant.host_ran
        assert all(map(torch.equal, run(both, range(TOKENS), patient=patient), expected))
        assert both.card.assistant.host_ran == ran  # all was computed on the card
        seen = prefetch.stats
        assert seen.started > TOKENS / 2
        assert seen.recall[0] == (1.0 if say is truth else 0.0)
        if say is truth:
            assert (seen.used, seen.wasted) == (seen.started - seen.cancelled, 0)
            assert seen.used > TOKENS / 2
            assert not patient or seen.joined == 0
        else:
            assert seen.used == 0
            assert seen.wasted > 0 or not patient
        assert nothing_leased(both.runtime)
        both.card.close()
        assert both.simulated.leaks == []


def test_what_this_layer_or_the_next_needs_makes_no_room(path: Path, compiler: StandIn) -> None:
    with beside(path, compiler, experts=24, on_card=4 * K) as both:
        warmed(both, truth)
        held, leave, gone = both.card.held, both.card.held.leave, list[ExpertKey]()
        needed: set[ExpertKey] = set()

        def left(key: ExpertKey) -> None:
            assert key not in needed.union(both.card.assistant.ahead.expected)
            gone.append(key)
            leave(key)

        held.leave = left  # type: ignore[method-assign]
        for token in range(TOKENS):
            both.runtime.begin_pass([token], token)
            for row, layer in enumerate(LAYERS):
                needed = {ExpertKey(layer, expert) for expert in truth(token, row)}
                stepped(both.runtime, layer, *routing(token, row))
                needed = set()
        assert len(gone) > TOKENS


def test_nothing_comes_that_would_be_late_or_is_computed_here_as_soon(path: Path, compiler: StandIn) -> None:
    with beside(path, compiler, experts=24, on_card=9, link=QUICK) as both:
        prefetch = warmed(both, truth)
        both.card.held.courier.rate = 1.0  # a link slower than any layer
        run(both, range(TOKENS))
        assert prefetch.stats.started == 0
    for rates, comes in ((SideRates(1e-6, 1e-5, 1e-3), False), (FAST_CARD, True)):
        with beside(path, compiler, experts=24, on_card=9, rates=rates, link=QUICK) as both:
            prefetch = warmed(both, truth, crossing=False)
            run(both, range(TOKENS))
            assert (prefetch.stats.started > 0) == comes


def test_what_waits_for_its_turn_is_left_where_it_is(
    path: Path, compiler: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    with beside(path, compiler, experts=24, on_card=9, link=QUICK) as both:
        prefetch = warmed(both, truth)
        held, ahead = both.card.held, both.card.assistant.ahead
        run(both, range(2))
        queued = held.courier.waiting
        monkeypatch.setattr(held.courier, "submit", queued.append)  # its thread is busy with something else
        ahead.begin()
        before, used = prefetch.stats, held.nbytes
        gone = next(key for key in held.tiers if key.layer == LAYERS[1])
        held.leave(gone)
        ahead.asked(LAYERS[0], [])
        says = np.full(EXPERTS, -np.inf, np.float32)
        says[gone.expert] = 1.0
        ahead.expect(LAYERS[1], 1, says, 1)
        assert (held.is_coming(gone), len(queued), held.nbytes) == (True, 1, used)
        ahead.asked(LAYERS[1], [])
        assert (held.is_coming(gone), len(queued)) == (False, 0)
        assert held.nbytes < used
        assert prefetch.stats.cancelled == before.cancelled + 1
        assert prefetch.stats.wasted == before.wasted
        assert nothing_leased(both.runtime)


def test_the_link_is_measured_when_the_card_is_opened(path: Path, compiler: StandIn) -> None:
    with beside(path, compiler, link=None) as both:
        assert both.card.held.courier.rate != courier.RATE
        assert both.card.held.nbytes == 0


def test_a_card_that_is_lost_while_something_crosses_costs_the_answer_nothing(path: Path, compiler: StandIn) -> None:
    for call in ("cuMemcpyHtoDAsync_v2", "cuEventSynchronize", "cuEventRecord"):
        for after in (0, 17):
            with beside(path, compiler, experts=24, on_card=9, link=QUICK) as both:
                warmed(both, truth)
                expected = alone(both, range(TOKENS))
                found = run(both, range(4), patient=False)
                both.simulated.fail[call] = [0] * after + [LAUNCH_FAILED]
                found += run(both, range(4, TOKENS), patient=False)
                assert all(map(torch.equal, found, expected))
                assert not both.card.alive
                assert nothing_leased(both.runtime)
                both.card.close()
                assert both.simulated.leaks == []
