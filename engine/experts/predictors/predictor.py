"""The interface of predictors of coming experts: what they are told, and what they are asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Arrays = Mapping[str, NDArray[Any]]

UNKNOWN = -1  # a token whose id is not known
FLOOR = 0.003  # added to shares before their logarithm: what an expert never seen here counts as


@dataclass(frozen=True)
class RoutingShape:
    """Of a model's experts. rows: MoE layers, in order. experts: of the layer that has most. k: chosen per token."""

    rows: int
    experts: int
    k: int


@dataclass(eq=False)
class RoutingContext:
    """What is known of the token being decoded: one object for a whole run, written over.

    token: its id. row: of the MoE layer routed last, -1 before the first. chosen: of every row routed so far, the
    experts, best first. gating: [H] float32, what the experts of that row are given; None where it is not known. stamp:
    changes with these.
    """

    token: int = UNKNOWN
    row: int = -1
    chosen: list[Sequence[int]] = field(default_factory=list)
    gating: Floats | None = None
    stamp: int = 0

    def begin(self, token: int) -> None:
        """The next token."""
        self.token, self.row, self.gating = token, -1, None
        self.chosen.clear()
        self.stamp += 1

    def routed(self, chosen: Sequence[int], gating: Floats | None) -> None:
        """Record the experts chosen in the next row."""
        self.row += 1
        self.chosen.append(chosen)
        self.gating = gating
        self.stamp += 1


class Predictor(Protocol):
    """Sees what happened and nothing else, so that a recorded run can be replayed through it.

    Most know models and not sequences, and inherit that nothing has to be done where one begins or is put aside.
    """

    name: str
    everywhere: bool = False  # whether it speaks of all later rows at once (`plan`), and is read ahead by so

    def begin_sequence(self) -> None:
        """Another sequence begins."""
        return

    def interrupted(self) -> None:
        """Tokens of the sequence went by that were not told, such as a prompt's."""
        return

    def prompted(self, counts: Floats) -> None:
        """A prompt of the sequence is read, which it was not told of token by token. counts: [rows, experts]."""
        return

    def plan(self, context: RoutingContext) -> Floats | None:
        """[rows, experts], the larger the sooner it ought to be read, of the rows after context.row; 0: not at all.
        None when it has nothing to say. Asked of those that speak of all rows at once.
        """
        return None

    def put_aside(self) -> object:
        """A sequence runs beside this one, which goes on afterwards: its records, for `bring_back` alone. What is
        learnt meanwhile of the model stays.
        """
        return None

    def bring_back(self, records: object) -> None:
        """What ran beside is over."""
        return

    def scores(self, context: RoutingContext, row: int) -> Floats | None:
        """[experts], the larger the likelier, for a row after context.row; None when it has nothing to say.

        May be written over by the next call.
        """

    def learn(self, context: RoutingContext) -> None:
        """Learn the routing of context.row: what was chosen is the last of context.chosen."""


class PredictorTable(Predictor, Protocol):
    """A predictor that learns as the model runs, and whose counts can be kept. changes: grows as it learns."""

    changes: int

    def state(self) -> dict[str, NDArray[Any]]:
        """All that it learnt."""

    def restore(self, state: Arrays) -> None:
        """Take what `state` gave in place of what it learnt. Raises ValueError or KeyError where it is no such thing,
        and then nothing has changed.
        """

    def merge(self, state: Arrays) -> None:
        """Add what another one learnt, as far as there is room; where both know the same, the one stays that has seen
        it more often, so that merging twice changes nothing. Raises as `restore`.
        """


def log_shares(counts: Floats) -> Floats:
    """[E] from counts [E]: log of each one's share; 0 all over where there are none."""
    total = float(counts.sum())
    if total <= 0:
        return np.zeros_like(counts)
    # As logarithms: what Blend fits sums of these to are routers' scores, which are logits themselves.
    return np.log(counts * np.float32(1 / total) + np.float32(FLOOR))
