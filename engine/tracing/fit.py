"""HOBBIT's weights for a model, from a calibration trace: those that miss least, by bytes (hobbit 3.4)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from engine.experts.policies import DEFAULT, Hobbit, HobbitWeights, HobbitWeightsByShare
from engine.experts.precision import Thresholds
from engine.tracing.replay import SHARES, Replayer
from engine.tracing.trace import Trace
from engine.tracing.visits import Sizes

# Distance first, then how the rest goes to use, then how use goes to high precision: the axes on which it is decided.
DISTANCE = (0.0, 0.02, 0.1, 0.2, 0.3, 0.4, 0.55)
# Denser towards 1, where what is left to recency changes by factors.
USE = (0.0, 0.05, 0.2, 0.4, 0.6, 0.8, 0.9, 0.97, 1.0)
# Coarse, since every value more is a replay of the trace for each size of cache.
HIGH = (0.0, 0.5, 1.0)
# Where descent begins for the smallest cache; larger ones also begin at what served the one before.
START = (0.3, 0.2, 0.0)
ROUNDS = 3  # over the axes, at most; it ends where none has brought anything

Point = tuple[float, float, float]
Penalties = dict[HobbitWeights, float]  # of those that were played


def fit(
    trace: Trace,
    thresholds: Thresholds,
    shares: Sequence[float] = SHARES,
    sizes: Sizes | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> HobbitWeightsByShare:
    """Search weights for each cache size, one axis at a time, from what served the size before and from the house's.

    Takes some 40 replays a size: 15 seconds for 2,000 tokens of 6 layers. progress: sizes done.
    """
    replayer = Replayer(trace, thresholds, sizes=sizes)
    found: list[tuple[float, HobbitWeights]] = []
    for done, share in enumerate(sorted(shares)):
        found.append((share, fit_share(replayer, share, found[-1][1] if found else None)))
        progress(done + 1, len(shares))
    return HobbitWeightsByShare(tuple(found))


def fit_share(
    replayer: Replayer, share: float, smaller: HobbitWeights | None, known: Penalties | None = None
) -> HobbitWeights:
    """The weights for one cache size. smaller: those found for the size before; None for the smallest.

    known: what was played before, added to as the search goes on: after an interruption (see Replayer.cancelled) the
    same search with the same penalties plays nothing twice.
    """
    start = START if smaller is None else _point(smaller)
    return _weights(_search(replayer, share, (start, _point(DEFAULT.at(share))), {} if known is None else known))


def _search(replayer: Replayer, share: float, starts: Sequence[Point], known: Penalties) -> Point:
    def penalty(point: Point) -> float:
        weights = _weights(point)
        if weights not in known:
            known[weights] = replayer.play_with("hobbit", Hobbit(replayer.trace.shape, weights), share).penalty
        return known[weights]

    def descend(best: Point) -> Point:
        for _ in range(ROUNDS):
            before = best
            for axis in range(3):
                best = min(_along(best, axis, exact=replayer.thresholds.exact), key=penalty)
            if best == before:
                break
        return best

    return min(map(descend, starts), key=penalty)


def _along(point: Point, axis: int, *, exact: bool) -> Iterator[Point]:
    """The point itself first: among equals nothing changes."""
    yield point
    if axis == 2 and exact:
        return  # every use is at high precision then
    for value in (DISTANCE, USE, HIGH)[axis]:
        yield (*point[:axis], value, *point[axis + 1 :])  # type: ignore[misc]


def _weights(point: Point) -> HobbitWeights:
    distance, use, high = point
    rest = 1.0 - distance
    return HobbitWeights(rest * (1 - use), rest * use * (1 - high), rest * use * high, distance)


def _point(weights: HobbitWeights) -> Point:
    """Rounded, so that a point found again is the same one."""
    use = weights.lfu + weights.lhu
    return (weights.fld, round(use / (1 - weights.fld), 6), round(weights.lhu / use, 6) if use else 0.0)
