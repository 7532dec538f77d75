"""Which experts can do with 2 bits (edgemoe, section III-B): ranked by what that costs, most robust first."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from engine import resources
from engine.experts.keys import ExpertKey, keys_of
from engine.session.evaluate import Sums, compared, sequences
from engine.store.manifest import Lowering

if TYPE_CHECKING:
    from engine.session.session import Session

TOLERANCE = 0.02  # the paper's
TOKENS = 2048  # of calibration text, on which experts are ranked and chosen
JUDGED = 2048  # of other text, for the figure that is kept

Report = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Choice:
    """The experts to be lowered, most robust first, of `ranked`; and what that costs on other text."""

    lowered: tuple[ExpertKey, ...]
    ranked: tuple[ExpertKey, ...]
    lowering: Lowering


class _OutputError:
    """Per expert, how far its 2-bit self is from it, as it counts: squared, by its gate weight, over all its uses.

    Listens to a runtime and asks it for both answers while the layer is being computed.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        keys = keys_of(session.store)
        self._keys = {layer: [key for key in keys if key.layer == layer] for layer in session.store.layers}
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
        runtime, k = self._session.runtime, ids.shape[1]
        each = x.repeat_interleave(k, 0), ids.reshape(-1, 1), weights.reshape(-1, 1)
        self._busy = True
        try:
            whole = runtime.moe(layer, *each)
            runtime.pretend_lowered(self._keys[layer])
            difference = whole - runtime.moe(layer, *each)
        finally:
            runtime.pretend_lowered(())
            self._busy = False
        self.error[layer].index_add_(0, ids.reshape(-1), difference.double().square().sum(1))

    def by_expert(self) -> dict[ExpertKey, float]:
        """The errors."""
        return {key: float(self.error[layer][key.expert]) for layer, own in self._keys.items() for key in own}


def estimated(session: Session, windows: Sequence[Sequence[int]], report: Report) -> dict[ExpertKey, float]:
    """By expert, its part in the KL divergence from Exact when all of its layer are lowered.

    The parts are as its 2-bit self changes what the layer puts out. A pass over the text, and one for every layer.
    """
    listener, runtime = _OutputError(session), session.runtime
    with session.listening(listener.routed), session.exactly():
        runtime.given_listener = listener.given
        try:
            for number, ids in enumerate(windows, 1):
                session.context.run_through(ids)
                report("Comparing experts with their 2 bits", number, len(windows))
        finally:
            runtime.given_listener = None
    errors = listener.by_expert()
    references = _references(session, windows)
    for number, layer in enumerate(session.store.layers, 1):
        own = [key for key in errors if key.layer == layer]
        divergence = _cost(session, windows, references, own).kl / (math.fsum(errors[key] for key in own) or 1.0)
        errors.update({key: errors[key] * divergence for key in own})
        report("Lowering one layer at a time", number, len(session.store.layers))
    return errors


def measured(session: Session, windows: Sequence[Sequence[int]], report: Report) -> dict[ExpertKey, float]:
    """By expert, the KL divergence from Exact when it alone is lowered: a pass over the text for every expert.

    That is the rise of the loss on text that the model would write itself. The loss on a given text rises or falls with
    one expert by less than what chance has in it, and whoever ranks by it finds the experts that suit that text.
    """
    keys = keys_of(session.store)
    references = _references(session, windows)
    losses = {}
    for number, key in enumerate(keys, 1):
        losses[key] = _cost(session, windows, references, (key,)).kl
        report("Lowering one expert at a time", number, len(keys))
    return losses


def choose(
    session: Session,
    tolerance: float = TOLERANCE,
    report: Report = lambda phrase, done, total: None,
    rank: Callable[[Session, Sequence[Sequence[int]], Report], dict[ExpertKey, float]] = estimated,
) -> Choice:
    """As many of the most robust experts as together raise perplexity by no more than the tolerance (see _Cost.most).

    Raises what reading an expert raises.
    """
    limit = min(512, session.context.limit)
    choosing, judging = (
        sequences(session.chat, resources.path("calibration", name), limit, tokens)
        for name, tokens in (("calibration.jsonl", TOKENS), ("eval.jsonl", JUDGED))
    )
    costs = rank(session, choosing, report)
    ranked = tuple(sorted(costs, key=lambda key: (costs[key], key)))
    references = _references(session, choosing)
    few, many = 0, len(ranked)  # how many fit, and how many may
    rounds = many.bit_length()
    for number in range(rounds):
        if few == many:
            break
        middle = (few + many + 1) // 2
        fits = _cost(session, choosing, references, ranked[:middle]).most <= tolerance
        few, many = (middle, many) if fits else (few, middle - 1)
        report("Finding how many may be lowered", number + 1, rounds)
    lowered = ranked[:few]
    last = _cost(session, judging, _references(session, judging), lowered)
    return Choice(lowered, ranked, Lowering(tolerance, last.rise, last.kl, last.tokens))


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


def _references(session: Session, windows: Sequence[Sequence[int]]) -> list[Tensor]:
    """Logits of Exact."""
    with session.exactly():
        return [session.context.score(ids, one_by_one=False) for ids in windows]


def _cost(
    session: Session, windows: Sequence[Sequence[int]], references: Sequence[Tensor], lowered: Sequence[ExpertKey]
) -> _Cost:
    found = Sums()
    session.runtime.pretend_lowered(lowered)
    try:
        with session.exactly():
            for ids, reference in zip(windows, references):
                found = found.plus(compared(ids, reference, session.context.score(ids, one_by_one=False)))
    finally:
        session.runtime.pretend_lowered(())
    return _Cost((found.nll - found.exact_nll) / found.tokens, found.divergence / found.tokens, found.tokens)
