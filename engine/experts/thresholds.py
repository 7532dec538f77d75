"""T1 and T2 from the scores that a model gives its experts on a text (hobbit, section 3.2)."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from engine.experts.precision import Thresholds
from engine.kernels.unimportance import unimportance

HIGH_SHARE = 0.67  # Mixtral with T1 = 0.6 and T2 = 0.9: 67 % high, 30 % low, 3 % skipped
LOW_SHARE = 0.30


def from_scores(scores: Tensor, high: float = HIGH_SHARE, low: float = LOW_SHARE) -> Thresholds:
    """The least thresholds under which at least `high` of the scores run high, and `high + low` high or low.

    scores: any shape, not empty. Ties may push the shares above what was asked, never below.
    """
    ranked = scores.flatten().sort().values
    if not len(ranked):
        raise ValueError("thresholds need at least one score")

    def at(share: float) -> float:
        rank = math.ceil(min(1.0, share) * len(ranked) - 1e-9)
        return float(ranked[max(rank, 1) - 1])

    return Thresholds(at(high), at(high + low))


class ScoreRecorder:
    """Collects scores from routing decisions; it is a route listener of the runtime."""

    def __init__(self) -> None:
        self._scores: list[Tensor] = []

    def __call__(self, layer: int, ids: Tensor, weights: Tensor) -> None:
        """Record one layer's decisions. weights: [T, K]."""
        self._scores.append(torch.from_numpy(unimportance(weights)).flatten())

    @property
    def scores(self) -> Tensor:
        """All scores so far, float64."""
        return torch.cat(self._scores) if self._scores else torch.empty(0, dtype=torch.float64)
