"""How precisely an expert should run: unimportance scores and the thresholds T1 and T2 (hobbit, section 3.2, eq. 2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

import torch
from torch import Tensor

from engine.errors import Kind, UnderhillError
from engine.store.layout import ExpertSpec
from engine.translatable import msg


class Demand(IntEnum):
    """What a token asks of one of its experts, should it have to be fetched; the larger is the stronger."""

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


def unimportance(weights: Tensor) -> Tensor:
    """Scores [T, K] float64, in the order of `weights` [T, K].

    s of an expert is the share of gate weight of the token's experts ranked before it, weights normalized to sum 1;
    the first has 0. Among equal weights the earlier counts as more important. Weights count by magnitude.
    """
    size = weights.detach().abs().to(torch.float64)
    ranked, order = size.sort(dim=1, descending=True, stable=True)
    through = ranked.cumsum(dim=1)
    total = through[:, -1:].clamp_min(torch.finfo(torch.float64).tiny)
    before = (through - ranked) / total
    return torch.empty_like(before).scatter_(1, order, before).clamp_(max=1.0)


def demands(weights: Tensor, thresholds: Thresholds) -> Tensor:
    """The Demand of every (token, rank), int64 [T, K]. The first expert of a token is always HIGH.

    Skipped experts' weights are dropped and the others are left as they are: hobbit does not renormalize them.
    """
    scores = unimportance(weights)
    wanted = torch.full(scores.shape, int(Demand.HIGH))
    wanted[scores > thresholds.t1] = int(Demand.LOW)
    wanted[scores > thresholds.t2] = int(Demand.SKIP)
    return wanted


def at_high(weights: Sequence[float], t1: float) -> list[bool]:
    """Which of one token's experts `demands` calls HIGH: the same in plain Python, for a few numbers much quicker."""
    sizes = [abs(weight) for weight in weights]
    total, before = sum(sizes) or 1.0, 0.0
    high = [False] * len(sizes)
    for at in sorted(range(len(sizes)), key=sizes.__getitem__, reverse=True):
        high[at] = before / total <= t1
        before += sizes[at]
    return high


def scores_by_rank(weights: Sequence[float]) -> list[float]:
    """The scores of one token's experts, the most important first, in plain Python."""
    sizes = sorted(map(abs, weights), reverse=True)
    total, before = sum(sizes) or 1.0, 0.0
    scores = []
    for size in sizes:
        scores.append(before / total)
        before += size
    return scores


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
    """The tier at which a missing expert is fetched, by Demand: 0 (not at all), coarse (see low_tier), full."""
    full = full_tier(spec, tier)
    return (0, low_tier(spec.tiers, full, low), full)
