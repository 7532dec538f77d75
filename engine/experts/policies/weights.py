"""The weights of HOBBIT's priority, which depend on how much of the model is in memory."""

from __future__ import annotations

from dataclasses import astuple, dataclass

from engine.errors import Kind, UnderhillError
from engine.translatable import msg


@dataclass(frozen=True)
class HobbitWeights:
    """How much recency, frequency, high precision and distance count; they sum to 1.

    Raises UnderhillError(BAD_REQUEST) otherwise.
    """

    lru: float
    lfu: float
    lhu: float
    fld: float

    def __post_init__(self) -> None:
        weights = astuple(self)
        if not (all(0.0 <= w <= 1.0 for w in weights) and abs(sum(weights) - 1.0) < 1e-6):
            raise UnderhillError(
                Kind.BAD_REQUEST,
                msg(
                    "The cache policy's weights {weights} are not possible.",
                    weights=", ".join(f"{w:g}" for w in weights),
                ),
                msg("They go from 0 to 1 and sum to 1."),
            )

    @property
    def rounded(self) -> tuple[float, ...]:
        """For people and files: lru, lfu, lhu, fld."""
        return tuple(round(w, 4) for w in astuple(self))


@dataclass(frozen=True)
class HobbitWeightsByShare:
    """Weights for caches of different sizes: pairs of a share of the model's experts, and what is best there.

    The smaller the cache, the more recency counts; the larger, the more use does.
    """

    pairs: tuple[tuple[float, HobbitWeights], ...]

    def at(self, share: float) -> HobbitWeights:
        """Those of the nearest share."""
        return min(self.pairs, key=lambda pair: abs(pair[0] - share))[1]


# What serves the built-in model's routing under all dials and costs a Zipf stream, whose best policy is LFU, at most
# 1.4 % (tests.benchmarks.policies). Under the Exact dial every use is at high precision, so lhu stands for lfu, too.
DEFAULT = HobbitWeightsByShare(
    (
        (0.125, HobbitWeights(0.4, 0.0, 0.4, 0.2)),
        (0.25, HobbitWeights(0.4, 0.0, 0.4, 0.2)),
        (0.5, HobbitWeights(0.2, 0.0, 0.6, 0.2)),
        (0.75, HobbitWeights(0.0, 0.0, 0.9, 0.1)),
    )
)
