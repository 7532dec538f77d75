"""What a dial asks of a token's experts by their rank in the layer, as the last tokens have shown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from engine.experts.precision import Demand, Thresholds, scores_by_rank

SMOOTHING = 0.05  # weight of the last token


class Ranks:
    """Says how precisely an expert that is expected at some rank will most likely be wanted.

    Unimportance grows with the rank, so that of the experts of a layer the first run high, then some low, and the last
    are skipped; where one begins and the other ends differs from token to token, but not by much.
    """

    def __init__(self, layers: Iterable[int]) -> None:
        self._seen: dict[int, list[list[float]]] = {layer: [] for layer in layers}
        self._thresholds = Thresholds()

    def set_thresholds(self, thresholds: Thresholds) -> None:
        """Change the dial: what was seen says nothing any more."""
        self._thresholds = thresholds
        for seen in self._seen.values():
            seen.clear()

    def knows(self, layer: int) -> bool:
        """Whether a token has shown anything of a layer under this dial."""
        return bool(self._seen[layer])

    def learn(self, layer: int, weights: Sequence[float]) -> None:
        """A token gave its experts of a layer these gate weights."""
        seen, t1, t2 = self._seen[layer], self._thresholds.t1, self._thresholds.t2
        scores = scores_by_rank(weights)
        if len(seen) != len(scores):
            seen[:] = [[float(score <= t1), float(score <= t2)] for score in scores]
            return
        for shares, score in zip(seen, scores):
            shares[0] += SMOOTHING * ((score <= t1) - shares[0])
            shares[1] += SMOOTHING * ((score <= t2) - shares[1])

    def demands(self, layer: int, most: int) -> list[Demand]:
        """Of the `most` experts that are expected most, the first first; of ranks never seen, as of the last one."""
        if self._thresholds.exact:
            return [Demand.HIGH] * most
        seen = self._seen[layer]
        found = [Demand.HIGH if high >= 0.5 else Demand.LOW if wanted >= 0.5 else Demand.SKIP for high, wanted in seen]
        found += [found[-1] if found else Demand.LOW] * (most - len(found))
        found[0] = Demand.HIGH
        return found[:most]
