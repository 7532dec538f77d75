"""How far a card goes by itself: layers whose experts are likely all there, in one go."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from engine.cuda.errors import CardError
from engine.cuda.layer_runs import Asked
from engine.cuda.stretches import MOST_CHOSEN, CardStretches, ExpertLayer
from engine.experts.card.residency import CardCache
from engine.experts.execution.assistant import CardAssistant
from engine.experts.runtime import ExpertRuntime
from engine.native.op_graph import GraphStep

LIKELY = 0.5  # what is computed behind a layer that lacks an expert is of no use: so likely it has to be that none does
LEARN = 0.1  # weight of the last token in how likely a layer has all: some ten tokens


class LookAhead:
    """What GraphExecutor.run_ahead calls. Used by the thread that runs the model.

    stretches: what it has computed. ran: layers whose experts the card computed without the processor.
    """

    def __init__(
        self, runtime: ExpertRuntime, held: CardCache, assistant: CardAssistant, stretches: CardStretches,
        layers: Sequence[int],
    ) -> None:  # fmt: skip
        """layers: those with experts, in their order."""
        self._runtime, self._held, self._assistant, self.stretches = runtime, held, assistant, stretches
        self._layers, self._chance = tuple(layers), [0.0] * len(layers)
        self.ran = 0

    def __call__(self, first: int, step: GraphStep) -> int:
        """See GraphExecutor.run_ahead."""
        if not self._assistant.alive:
            return -1
        with self._runtime.pending.layer_lock:
            try:
                self._held.use()
                self._held.commit()
                end = self._reach(first)
                self._held.there.send()
                asked = self.stretches.run(self._runtime.kernel, step, first, end)
            except CardError as error:
                self._assistant.fail(error)
                return -1
            for layer in range(first, asked):
                self._count(layer)
        self._learn(first, asked, end)
        return asked

    def _reach(self, first: int) -> int:
        """The layer up to which all is likely there."""
        chance, end = 1.0, first
        while end < len(self._layers):
            chance *= 1.0 if self._held.has_all(self._layers[end]) else self._chance[end]
            if chance < LIKELY:
                break
            end += 1
        return end

    def _learn(self, first: int, asked: int, end: int) -> None:
        for layer in range(first, asked):
            self._chance[layer] += LEARN * (1.0 - self._chance[layer])
        if first <= asked < len(self._layers):
            there = asked == end and self._is_there(asked)
            self._chance[asked] += LEARN * (there - self._chance[asked])

    def _is_there(self, layer: int) -> bool:
        """Whether all that was chosen of a layer, whose experts the card has not looked for, is there."""
        ids, _ = self.stretches.chosen(layer)
        card = self._runtime.table.layers[self._layers[layer]].card
        return all(card[expert] for expert in ids.tolist())

    def _count(self, at: int) -> None:
        layer, (ids, weights) = self._layers[at], self.stretches.chosen(at)
        chosen = ids.tolist()
        self._runtime.ran_on_card(layer, torch.from_numpy(ids)[None], torch.from_numpy(weights)[None])
        self._assistant.ran_alone(layer, chosen)
        self.ran += 1


def expert_layers(runtime: ExpertRuntime, asked: Sequence[Asked]) -> dict[int, ExpertLayer] | None:
    """What kernels are told of each layer's experts; None where there are none for a layer."""
    found = {}
    for own in asked:
        table = runtime.table.layers[own.layer]
        hidden, chosen = own.x.shape[1], own.ids.shape[1]
        if not table.uniform or table.spec.raw or table.spec.hidden != hidden or chosen > MOST_CHOSEN:
            return None
        activation = runtime.batch.activations[own.layer]
        found[own.layer] = ExpertLayer(table.spec, activation, runtime.cache.base(own.layer))
    return found
