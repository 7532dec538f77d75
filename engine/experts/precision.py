"""How precisely an expert should run: unimportance scores and the thresholds T1 and T2 (hobbit, section 3.2, eq. 2)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from engine.errors import Kind, UnderhillError
from engine.native.eviction import unimportance
from engine.record.layout import ExpertSpec
from engine.translatable import msg


class RequestedPrecision(IntEnum):
    """What a token asks of one of its experts, should it have to be loaded; the larger is the stronger."""

    # HOBBIT, section 3.2: above T2 skipped, between T1 and T2 low, up to T1 high. Compared by size, see the docstring.
    SKIP = 0
    LOW = 1
    HIGH = 2


@dataclass(frozen=True)
class Thresholds:
    """Score s <= t1: high precision; t1 < s <= t2: low; s > t2: skip. (1, 1) is the Exact dial: always high.

    Raises UnderhillError(BAD_REQUEST) unless 0 <= t1 <= t2 <= 1.
    """

    t1: float = 1.0
    t2: float = 1.0

    def __post_init__(self) -> None:
        if not 0.0 <= self.t1 <= self.t2 <= 1.0:
            raise UnderhillError(
                Kind.BAD_REQUEST,
                msg("The thresholds T1 = {t1} and T2 = {t2} are not possible.", t1=f"{self.t1:g}", t2=f"{self.t2:g}"),
                msg("They go from 0 to 1, and T1 is not above T2."),
            )

    @property
    def exact(self) -> bool:
        """True when every expert runs at full precision whatever its score."""
        return self.t1 >= 1.0


EXACT = Thresholds()


def requested_precisions(weights: Tensor | NDArray[np.floating], thresholds: Thresholds) -> NDArray[np.int64]:
    """The RequestedPrecision of every expert of tokens, [..., K], for gate weights [..., K].

    The first expert of a token is always HIGH. Skipped experts' weights are dropped and the others are left as they
    are: hobbit does not renormalize them.
    """
    scores = unimportance(weights)
    wanted = np.full(scores.shape, int(RequestedPrecision.HIGH))
    # By > and not by its opposite: the score of a weight that is not a number is above nothing, so such an expert runs
    # in full, here as in uh_unimportance.
    wanted[scores > thresholds.t1] = int(RequestedPrecision.LOW)
    wanted[scores > thresholds.t2] = int(RequestedPrecision.SKIP)
    return wanted


def full_tier(spec: ExpertSpec, tier: int | None) -> int:
    """The tier that counts as full precision: the best stored one that is no finer than `tier` (None: the best)."""
    fitting = [t for t in spec.tiers if tier is None or t <= tier]
    return fitting[-1] if fitting else spec.tiers[0]


def low_tier(tiers: Sequence[int], full: int, low: int | None) -> int:
    """Of the stored tiers, that of a coarse expert: the best below `full` that is no finer than `low` (None: the
    coarsest); where there is none, the coarsest, which may be `full` itself.
    """
    fitting = [t for t in tiers if t < full and low is not None and t <= low]
    return fitting[-1] if fitting else min(tiers[0], full)


def tiers_of(spec: ExpertSpec, tier: int | None, low: int | None = None) -> tuple[int, int, int]:
    """The tier that a missing expert is fetched at, by RequestedPrecision: 0 (not at all), coarse (low_tier), full."""
    full = full_tier(spec, tier)
    return (0, low_tier(spec.tiers, full, low), full)


# ---- calibration ---------------------------------------------------------------------------------------------------

HIGH_SHARE = 0.67  # Mixtral with T1 = 0.6 and T2 = 0.9: 67 % high, 30 % low, 3 % skipped
LOW_SHARE = 0.30  # of the same


def from_scores(scores: Tensor, high: float = HIGH_SHARE, low: float = LOW_SHARE) -> Thresholds:
    """The least thresholds under which at least `high` of the scores run high, and `high + low` high or low.

    scores: any shape, not empty. Ties may push the shares above what was asked, never below.
    """
    ranked = scores.flatten().sort().values
    if not len(ranked):
        raise ValueError("thresholds need at least one score")

    def at(share: float) -> float:
        # 0.67 * 1500 is 1005.0000000000001 in floating point: without the 1e-9 a share that comes out even takes one
        # score more.
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
