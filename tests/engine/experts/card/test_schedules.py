"""What experts on the card are asked for is ordered, whatever the card does first: proved on recorded streams.

    UNDERHILL_ORDERS=10000 python -m pytest -q tests/engine/experts/card/test_schedules.py

draws so many orders of each mode.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import torch
from torch import Tensor

from tests.engine.cuda.command_stream import (
    CommandStream,
    RecordedSchedule,
    check_orders,
    check_single_waits,
    check_waits,
)
from tests.engine.cuda.simulated_driver import SimulatedDriver
from tests.engine.cuda.stand_in import StandIn
from tests.engine.experts.card.cards import SPEC, TOTAL, Said, beside, settle, stepped
from tests.engine.experts.sources import MemorySource

ORDERS = int(os.environ.get("UNDERHILL_ORDERS", "200"))
LAYERS, K = (0, 1), 3
MODES = ("cpu-assisted", "gpu", "gpu, ahead", "prompts")
SOURCE = MemorySource(SPEC, layers=LAYERS, experts=8)


def recorded(path: Path, compiler: StandIn, seed: int, mode: str) -> CommandStream:
    """Tokens and prompts, while experts come and go: 16 there are, 12 in memory, 4 on the card. mode: 'gpu, ahead':
    what a predictor says comes beside the model's thread; 'prompts': all is in memory, so that much crosses for
    them. By odd seeds memory has room for 6 alone, so that what comes
    otherwise comes by the model's thread, too."""
    schedule, draw = RecordedSchedule(seed), torch.Generator().manual_seed(seed)
    simulated = SimulatedDriver(total=TOTAL, compiler=compiler, schedule=schedule)
    experts, every = (100, 2) if mode == "prompts" else (6 if seed % 2 else 12, 8)
    with beside(path, compiler, experts=experts, on_card=4 + seed, simulated=simulated) as both:
        both.card.assistant.crossing = mode.startswith("gpu")
        both.card.held.courier.rate = 1e15
        keys = list(SOURCE.records)[::3]
        both.card.fill(keys)
        filled = both.card.held.sent
        expected: list[tuple[Tensor, int, tuple[Tensor, Tensor, Tensor]]] = []
        if mode == "gpu, ahead":
            both.runtime.read_ahead(Said(8, lambda token, row: [(token + row + at) % 8 for at in range(K)]), K, 2)
        for number in range(24):
            both.runtime.begin_pass([number], number)
            tokens = 9 if number % every == every - 1 else 1
            x, ids, weights = SOURCE.routing(tokens, K, int(torch.randint(0, 1 << 20, (1,), generator=draw)))
            for layer in LAYERS:
                if tokens > 1:
                    found = both.runtime.moe(layer, x, ids, weights).clone()
                else:
                    found = stepped(both.runtime, layer, x, ids, weights)
                expected.append((found, layer, (x, ids, weights)))
                if mode != "gpu, ahead":
                    settle(both.card)
        both.runtime.use_card(None)
        for found, layer, asked in expected:
            assert torch.equal(found, both.runtime.moe(layer, *asked))
        both.runtime.use_card(both.card.assistant)
        if mode == "gpu, ahead":
            assert both.runtime.prefetch is not None
            assert both.runtime.prefetch.stats.started > 5
        if mode == "prompts":
            assert both.card.assistant.shares.sent > 40 * SPEC.layout.bytes_for(8)
        if mode == "gpu":
            both.card.assistant.drop()  # what counts as full precision changes
        assert both.card.assistant.ran > 40
        assert both.card.held.sent > filled
    return schedule.stream


@pytest.fixture(scope="module")
def streams(path: Path, compiler: StandIn) -> dict[str, list[CommandStream]]:
    """Of all modes."""
    return {mode: [recorded(path, compiler, seed, mode) for seed in range(2)] for mode in MODES}


@pytest.mark.parametrize("mode", MODES)
def test_no_order_of_a_cards_work_is_wrong(streams: dict[str, list[CommandStream]], mode: str) -> None:
    check_orders(streams[mode], ORDERS)


def test_a_wait_that_is_left_out_is_found(streams: dict[str, list[CommandStream]]) -> None:
    # The list of slots is written once, and what is written there later never comes to its first bytes.
    check_waits([stream for own in streams.values() for stream in own], 500, unneeded={"expert_kernels._send_slots"})
    assert check_single_waits(streams["cpu-assisted"][0], 2) > 30
    assert check_single_waits(streams["gpu"][0], 2) > 60
