"""The graphics card of an open model: opened where the plan has one, and left alone where it fails."""

from __future__ import annotations

import logging
from collections.abc import Callable

from engine.cuda.driver import open_driver
from engine.cuda.errors import CardError
from engine.cuda.layer_runs import Asked, LayerPlaces, SequenceRows, cache_bytes, runs_of, weight_bytes
from engine.cuda.linears import LinearPlace
from engine.errors import UnderhillError, as_error
from engine.experts.card_mode import CardMode
from engine.hardware.machine import size
from engine.models.decoder import Decoder
from engine.native.op_graph import GraphStep
from engine.planning.context_length import SHORT
from engine.planning.offload import GPU, without_card
from engine.planning.plan import seen_again
from engine.session.loaded_model import LoadedModel
from engine.translatable import Translatable, msg

_log = logging.getLogger(__name__)


class CardSession:
    """mode: the card at work; None where the processor computes alone from the beginning."""

    def __init__(self, model: LoadedModel, lost: Callable[[Translatable], None]) -> None:
        """Open the card of the model's plan. Where it does not open, or does not prove itself, the plan becomes that of
        the processor and a note says why. lost: called with a sentence when it fails later."""
        self._model, self._said = model, lost
        self.mode: CardMode | None = None
        self.told: list[Translatable] = []  # of the model's notes, those that are about the card
        plan = model.plan
        if plan.card is None:
            return
        try:
            self.mode = CardMode(
                model.runtime,
                model.store,
                model.store.read_parts,
                open_driver(),
                plan.card,
                plan.card_bytes,
                lost=self._lost,
                linears=_linears_of(model),
                layers=_layers_of(model),
                linear_room=plan.card_linear_bytes,
                crossing=plan.mode == GPU,
            )
        except Exception as refused:  # whatever it is: a model opens without its card, and says why
            error = as_error(refused)
            _log.warning("The card is not used: %s", error, exc_info=refused)
            self._without(error)
            return
        proof = self.mode.proof
        self._tell(
            msg(
                "{name} was checked against the CPU: {rows} rows of this model's experts differ by at most {worst}.",
                name=self.mode.device.facts.name,
                rows=proof.compared,
                worst=f"{proof.worst:.1g}",
            )
        )
        if self.mode.layers is not None:
            there, here = self.mode.layers.seconds
            self._tell(
                msg(
                    "{size} of attention in GPU memory, up to {tokens} tokens: {there} ms per token instead of {here}.",
                    size=size(self.mode.layers.nbytes),
                    tokens=self.mode.layers.capacity,
                    there=f"{1e3 * there:.1f}",
                    here=f"{1e3 * here:.1f}",
                )
            )
        else:
            self._tell(_why_attention_stays(model, self.mode.device.facts.name))
        if self.mode.linears.count:
            there, here = self.mode.linears.seconds
            self._tell(
                msg(
                    "{size} of shared weights in GPU memory: {there} ms per token instead of {here}.",
                    size=size(self.mode.linears.nbytes),
                    there=f"{1e3 * there:.1f}",
                    here=f"{1e3 * here:.1f}",
                )
            )

    def opened_again(self) -> CardSession:
        """Closed, and opened as the model's plan says now: another card, none, or one."""
        self.close()
        notes = self._model.notes
        notes[:] = [note for note in notes if note not in self.told]
        return CardSession(self._model, self._said)

    def _tell(self, note: Translatable) -> None:
        self.told.append(note)
        self._model.notes.append(note)

    @property
    def alive(self) -> bool:
        """Whether a card computes."""
        return self.mode is not None and self.mode.alive

    def close(self) -> None:
        """Give the card back. Safe to call twice."""
        if self.mode is not None:
            self.mode.close()

    def _without(self, error: UnderhillError) -> Translatable:
        model = self._model
        sentence = msg("CPU only. {sentence}", sentence=error.message)
        model.plan = seen_again(without_card(model.plan), model.machine, model.facts, model.settings)
        self._tell(sentence)
        return sentence

    def _lost(self, error: CardError) -> None:
        self._said(self._without(error))


def _why_attention_stays(model: LoadedModel, card: str) -> Translatable:
    """Why the processor computes attention, of a model whose experts are on a card."""
    decoder, plan = model.decoder, model.plan
    if not isinstance(decoder, Decoder) or decoder.executor is None or not (runs := runs_of(decoder.executor.graphs)):
        return msg("The CPU computes attention: this model's kind of it can't run on the GPU.")
    if plan.packed:
        return msg("The CPU computes attention: the KV cache is 8-bit.")
    needed = cache_bytes(runs, min(plan.context, SHORT), decoder.kv_dtype) + weight_bytes(runs)
    if needed > plan.card_linear_bytes:
        return msg("The CPU computes attention: it would take {size} of GPU memory.", size=size(needed))
    return msg("The CPU computes attention: {name} is no faster.", name=card)


def _linears_of(model: LoadedModel) -> list[LinearPlace]:
    decoder = model.decoder
    return [LinearPlace(*op) for op in decoder.linear_ops()] if isinstance(decoder, Decoder) else []


def _layers_of(model: LoadedModel) -> LayerPlaces | None:
    """Where the card's room has been planned for them."""
    decoder, plan = model.decoder, model.plan
    if not isinstance(decoder, Decoder) or decoder.executor is None or not plan.card_linear_bytes or plan.packed:
        return None
    executor = decoder.executor

    def follow(told: Callable[[SequenceRows], None] | None) -> None:
        executor.before_token = told

    def ahead(told: Callable[[int, GraphStep], int] | None) -> None:
        executor.run_ahead = told

    asked = [Asked(layer, step.x, step.ids, step.weights, step.y) for layer, step in executor.asked]
    return LayerPlaces(
        graphs=executor.graphs,
        asked=asked,
        logits=executor.logits,
        tokens=min(plan.context, SHORT),
        kv_dtype=decoder.kv_dtype,
        trial=decoder.trial_state,
        follow=follow,
        ahead=ahead,
    )
