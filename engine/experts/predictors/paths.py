"""Activation paths (edgemoe, section III-C): from the experts of the two rows before to those of the next."""

from __future__ import annotations

import numpy as np

from engine.experts.predictors.counts import log_shares
from engine.experts.predictors.predictor import Floats, Shape, Sight

MOST_PATHS = 65_536  # 8 MB of counts at 128 experts
FULL = 255


class Paths:
    """A dictionary (row, best expert two rows back, best of the row before) -> counts of the next row's experts.

    The paper's models choose one expert per token; where a token has several, its best stands for them, since whole
    sets hardly ever come again. Beyond the next row it goes on with the experts that it expects there itself.
    """

    def __init__(self, shape: Shape, most: int = MOST_PATHS) -> None:
        """most: paths remembered."""
        self.name = "paths"
        self._experts, self._most = shape.experts, most
        self.counts: dict[tuple[int, int, int], np.ndarray[tuple[int], np.dtype[np.uint8]]] = {}

    def begin_sequence(self) -> None:
        """It spans sequences."""

    def scores(self, sight: Sight, row: int) -> Floats | None:
        """See Predictor.scores."""
        if sight.row < 1:
            return None
        two, one = sight.chosen[-2][0], sight.chosen[-1][0]
        for coming in range(sight.row + 1, row):
            passed = self.counts.get((coming, two, one))
            if passed is None:
                return None
            two, one = one, int(passed.argmax())
        found = self.counts.get((row, two, one))
        return None if found is None else log_shares(found.astype(np.float32))

    def learn(self, sight: Sight) -> None:
        """See Predictor.learn."""
        if sight.row < 2:
            return
        key = (sight.row, sight.chosen[-3][0], sight.chosen[-2][0])
        found = self.counts.get(key)
        if found is None:
            if len(self.counts) >= self._most:
                return
            found = self.counts[key] = np.zeros(self._experts, np.uint8)
        now = list(sight.chosen[-1])
        if found[now].max() == FULL:
            found >>= 1  # what is old counts half
        found[now] += 1
