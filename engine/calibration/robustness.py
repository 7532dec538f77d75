"""How many bits each expert can do with (edgemoe, section III-B): the most robust experts get fewest."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from engine.calibration.evaluate import Sums, compared, shipped_texts
from engine.experts.keys import ExpertKey, keys_of
from engine.session.loaded_model import LoadedModel
from engine.store.manifest import Lowering
from engine.translatable import Translatable, msg

TOLERANCE = 0.02  # the paper's
LEVELS = (2, 4)  # bits that an expert may be lowered to
LEAST = LEVELS[0]  # at which experts are ranked
TOKENS = 2048  # of calibration text, on which experts are ranked and chosen
JUDGED = 2048  # of other text, for the figure that is kept
WINDOW = 512  # most tokens of a text at once: the logits of Exact on all of them are held in memory

Report = Callable[[Translatable, int, int], None]
Ranking = Callable[[LoadedModel, Sequence[Sequence[int]], Report], dict[ExpertKey, float]]


@dataclass(frozen=True)
class Choice:
    """bits: of the experts to be lowered. bounds: the fewest and the most bits of an expert, between which the search
    was; equal where all have as many. ranked: the most robust first. lowering: what it costs, on other text.
    """

    bits: dict[ExpertKey, int]
    bounds: tuple[int, int]
    ranked: tuple[ExpertKey, ...]
    lowering: Lowering


@dataclass(frozen=True)
class Reference:
    """Texts that experts are chosen on and judged by, in windows of tokens, and the logits of Exact on each."""

    choosing: list[list[int]]
    judging: list[list[int]]
    chosen: list[Tensor]
    judged: list[Tensor]


class _OutputError:
    """Per expert, how far its 2-bit self is from it, as it counts: squared, by its gate weight, over all its uses.

    Listens to a runtime and asks it for both answers while the layer is being computed.
    """

    def __init__(self, model: LoadedModel) -> None:
        self._model = model
        keys = keys_of(model.store)
        self._keys = {layer: [key for key in keys if key.layer == layer] for layer in model.store.layers}
        self.error = {layer: torch.zeros(len(own), dtype=torch.float64) for layer, own in self._keys.items()}
        self._routing: tuple[Tensor, Tensor] | None = None
        self._busy = False

    def routed(self, layer: int, ids: Tensor, weights: Tensor) -> None:
        """A route listener."""
        if not self._busy:
            self._routing = ids.clone(), weights.clone()

    def given(self, layer: int, x: Tensor) -> None:
        """A listener for what experts are given."""
        if self._busy or self._routing is None:
            return
        ids, weights = self._routing
        runtime, k = self._model.runtime, ids.shape[1]
        each = x.repeat_interleave(k, 0), ids.reshape(-1, 1), weights.reshape(-1, 1)
        self._busy = True
        try:
            whole = runtime.moe(layer, *each)
            runtime.pretend_lowered(dict.fromkeys(self._keys[layer], LEAST))
            difference = whole - runtime.moe(layer, *each)
        finally:
            runtime.pretend_lowered({})
            self._busy = False
        self.error[layer].index_add_(0, ids.reshape(-1), difference.double().square().sum(1))

    def by_expert(self) -> dict[ExpertKey, float]:
        """The errors."""
        return {key: float(self.error[layer][key.expert]) for layer, own in self._keys.items() for key in own}


def estimated(model: LoadedModel, windows: Sequence[Sequence[int]], report: Report) -> dict[ExpertKey, float]:
    """By expert, its part in the KL divergence from Exact when all of its layer are lowered.

    The parts are as its 2-bit self changes what the layer puts out. A pass over the text, and one for every layer.
    """
    listener, runtime = _OutputError(model), model.runtime
    with model.listening(listener.routed), model.exactly():
        runtime.given_listener = listener.given
        try:
            for number, ids in enumerate(windows, 1):
                model.context.run_through(ids)
                report(msg("Comparing 2-bit experts"), number, len(windows))
        finally:
            runtime.given_listener = None
    errors = listener.by_expert()
    references = _references(model, windows)
    for number, layer in enumerate(model.store.layers, 1):
        own = [key for key in errors if key.layer == layer]
        divergence = _cost(model, windows, references, dict.fromkeys(own, LEAST)).kl / (
            math.fsum(errors[key] for key in own) or 1.0
        )
        errors.update({key: errors[key] * divergence for key in own})
        report(msg("Lowering one layer at a time"), number, len(model.store.layers))
    return errors


def measured(model: LoadedModel, windows: Sequence[Sequence[int]], report: Report) -> dict[ExpertKey, float]:
    """By expert, the KL divergence from Exact when it alone is lowered: a pass over the text for every expert.

    That is the rise of the loss on text that the model would write itself. The loss on a given text rises or falls with
    one expert by less than chance adds to it; ranking by it finds the experts that suit that text.
    """
    keys = keys_of(model.store)
    references = _references(model, windows)
    losses = {}
    for number, key in enumerate(keys, 1):
        losses[key] = _cost(model, windows, references, {key: LEAST}).kl
        report(msg("Lowering one expert at a time"), number, len(keys))
    return losses


def choose(
    model: LoadedModel,
    tolerance: float = TOLERANCE,
    report: Report = lambda phrase, done, total: None,
    rank: Ranking = estimated,
    against: Reference | None = None,
) -> Choice:
    """As few bits for as many of the most robust experts as together raise perplexity by no more than the tolerance
    (see _Cost.most).

    First the bounds: the fewest bits that all experts can have, and the next fewer, which are too few for all. Then, by
    bisection, how many of the most robust can have the fewer. against: what it is compared with, where other weights of
    that were held otherwise; None: this model. Raises what reading an expert raises.
    """
    against = against or reference(model)
    choosing, references, keys = against.choosing, against.chosen, keys_of(model.store)
    stored = max(model.store.spec(*key).top for key in keys)
    levels = (*(bits for bits in LEVELS if bits < stored), stored)
    upper = stored
    for number, bits in enumerate(levels[:-1], 1):
        fits = _cost(model, choosing, references, dict.fromkeys(keys, bits)).most <= tolerance
        report(msg("Finding the lowest precision"), number, len(levels) - 1)
        if fits:
            upper = bits
            break
    lower = max((bits for bits in levels if bits < upper), default=upper)
    base = dict.fromkeys(keys, upper) if upper < stored else {}
    costs = rank(model, choosing, report)
    ranked = tuple(sorted(costs, key=lambda key: (costs[key], key)))
    few, many = 0, len(ranked) if lower < upper else 0  # how many fit, and how many may
    rounds = many.bit_length()
    for number in range(rounds):
        if few == many:
            break
        middle = (few + many + 1) // 2
        tried = {**base, **dict.fromkeys(ranked[:middle], lower)}
        fits = _cost(model, choosing, references, tried).most <= tolerance
        few, many = (middle, many) if fits else (few, middle - 1)
        report(msg("Finding how many experts to reduce"), number + 1, rounds)
    chosen = {**base, **dict.fromkeys(ranked[:few], lower)}
    last = _cost(model, against.judging, against.judged, chosen)
    return Choice(chosen, (lower, upper), ranked, Lowering(tolerance, last.rise, last.kl, last.tokens))


def reference(model: LoadedModel) -> Reference:
    """The texts, and what Exact says on them."""
    choosing = shipped_texts(model, TOKENS, window=WINDOW)
    judging = shipped_texts(model, JUDGED, "eval.jsonl", WINDOW)
    return Reference(choosing, judging, _references(model, choosing), _references(model, judging))


def cost(model: LoadedModel, against: Reference, bits: Mapping[ExpertKey, int]) -> float:
    """Of these bits, on the text that experts are chosen on: see _Cost.most."""
    return _cost(model, against.choosing, against.chosen, bits).most


@dataclass(frozen=True)
class _Cost:
    loss_rise: float
    kl: float
    tokens: int

    @property
    def rise(self) -> float:
        """Of perplexity."""
        return math.expm1(self.loss_rise)

    @property
    def most(self) -> float:
        """Of perplexity, on this text or on what the model would write itself, whichever is more."""
        return math.expm1(max(self.loss_rise, self.kl))


def _references(model: LoadedModel, windows: Sequence[Sequence[int]]) -> list[Tensor]:
    """Logits of Exact."""
    with model.exactly():
        return [model.context.score(ids, one_by_one=False) for ids in windows]


def _cost(
    model: LoadedModel, windows: Sequence[Sequence[int]], references: Sequence[Tensor], bits: Mapping[ExpertKey, int]
) -> _Cost:
    found = Sums()
    model.runtime.pretend_lowered(bits)
    try:
        with model.exactly():
            for ids, reference in zip(windows, references):
                found = found.plus(compared(ids, reference, model.context.score(ids, one_by_one=False)))
    finally:
        model.runtime.pretend_lowered({})
    return _Cost((found.nll - found.exact_nll) / found.tokens, found.divergence / found.tokens, found.tokens)
