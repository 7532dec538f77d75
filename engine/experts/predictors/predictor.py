"""What every predictor of coming experts is told, and what it is asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]

UNKNOWN = -1  # a token whose id nobody said
FLOOR = 0.003  # added to shares before their logarithm: what an expert never seen here counts as


@dataclass(frozen=True)
class Shape:
    """Of a model's experts. rows: MoE layers, in order. experts: of the layer that has most. k: chosen per token."""

    rows: int
    experts: int
    k: int


@dataclass(eq=False)
class Sight:
    """What is known of the token under way: one object for a whole run, written over.

    token: its id. row: of the MoE layer routed last, -1 before the first. chosen: of every row routed so far, the
    experts, best first. gating: [H] float32, what the experts of that row are given; None where nobody tells. stamp:
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
        """The next row's router has spoken."""
        self.row += 1
        self.chosen.append(chosen)
        self.gating = gating
        self.stamp += 1


class Predictor(Protocol):
    """Sees what happened and nothing else, so that a recorded run can be replayed through it."""

    name: str

    def begin_sequence(self) -> None:
        """Another sequence begins."""

    def scores(self, sight: Sight, row: int) -> Floats | None:
        """[experts], the larger the likelier, for a row after sight.row; None when it has nothing to say.

        May be written over by the next call.
        """

    def learn(self, sight: Sight) -> None:
        """The router of sight.row has spoken: what it chose is the last of sight.chosen."""
