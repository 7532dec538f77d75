"""Runtimes beside a simulated card, for tests."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

from engine.cuda.driver import Driver
from engine.experts.backend import Step
from engine.experts.card import courier, split
from engine.experts.card.split import SideRates
from engine.experts.card_mode import CardMode
from engine.experts.execution import card_proof
from engine.experts.predictors import Predictor, RoutingContext
from engine.experts.predictors.predictor import Floats
from engine.experts.runtime import ExpertRuntime, open_runtime
from engine.kernels.activation import Activation
from engine.record.layout import ExpertSpec
from engine.store.reader import Store
from tests.engine.cuda.simulated_driver import MIB, Compiler, SimulatedDriver

SPEC = ExpertSpec(96, 64, 8, 32)
LINK = 3e8  # bytes a second: an expert takes a little longer than the processor to compute it
FAST_CARD = SideRates(host=1e-4, card=1e-5, handover=5e-5)  # what the processor and a laptop's card are to each other


@dataclass
class Beside:
    """A runtime with its card."""

    runtime: ExpertRuntime
    card: CardMode
    simulated: SimulatedDriver


@contextmanager
def beside(
    path: Path,
    compiler: Compiler,
    *,
    experts: float = 12,
    on_card: float = 6,
    seed: int = 0,
    rates: SideRates = FAST_CARD,
    link: float | None = LINK,
    eagerness: float = 0.3,
    simulated: SimulatedDriver | None = None,
) -> Iterator[Beside]:
    """A runtime over the store with room for so many experts in memory and on a card whose rates stay what they are,
    that of the link too, but where None lets it be measured.

    Experts are exchanged for any difference in their uses, so that much comes and goes within few tokens.
    """
    nbytes = SPEC.layout.bytes_for(8)
    simulated = simulated or SimulatedDriver(seed, TOTAL, compiler, eagerness=eagerness)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(split, "LEARN", 0.0)
        patch.setattr(split, "CHANCE", 0.0)
        patch.setattr(card_proof, "measure_rates", lambda *args: rates)
        if link is not None:
            patch.setattr(courier.Courier, "measure", lambda *args: None)
            patch.setattr(courier, "RATE", link)
            patch.setattr(courier, "LEARN", 0.0)
        with Store.open(path) as store:
            runtime = open_runtime(store, Activation(), int(experts * nbytes), readers=1, threads=1)
            try:
                card = CardMode(runtime, store, store.read_parts, Driver(simulated), 0, int(on_card * nbytes))
                try:
                    yield Beside(runtime, card, simulated)
                finally:
                    card.close()
            finally:
                runtime.close()


def settle(card: CardMode) -> None:
    """Wait for what the courier brings."""
    while card.held.beside:
        card.held.commit()
        time.sleep(0)


class Said(Predictor):
    """Expects of every layer what it is told to. say: from a layer's row to its experts, the likeliest first."""

    def __init__(self, experts: int, say: Callable[[int, int], Sequence[int]]) -> None:
        """say: of a token and a row."""
        self.name, self._experts, self._say = "said", experts, say

    def scores(self, context: RoutingContext, row: int) -> Floats | None:
        """See Predictor.scores."""
        found = np.full(self._experts, -np.inf, np.float32)
        for rank, expert in enumerate(self._say(context.token, row)):
            found[expert] = -rank
        return found

    def learn(self, context: RoutingContext) -> None: ...


def stepped(runtime: ExpertRuntime, layer: int, x: Tensor, ids: Tensor, weights: Tensor) -> Tensor:
    """What one token gets of a layer."""
    step = Step(x.clone(), ids.clone(), weights.clone(), torch.full_like(x, float("nan")))
    runtime.moe_step(layer, step)
    return step.y


TOTAL = 320 * MIB  # of the simulated card, most of which is never touched
