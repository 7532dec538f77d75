"""From counts to scores that can be compared and added."""

from __future__ import annotations

import numpy as np

from engine.experts.predictors.predictor import FLOOR, Floats


def log_shares(counts: Floats) -> Floats:
    """[E] from counts [E]: log of each one's share; 0 all over where there are none."""
    total = float(counts.sum())
    if total <= 0:
        return np.zeros_like(counts)
    return np.log(counts * np.float32(1 / total) + np.float32(FLOOR))
