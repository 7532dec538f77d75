"""What is kept of a model's calibration, and what two thresholds do by its scores."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.library import dials
from engine.library.dials import Calibration, DialCost

COSTS = {dial: DialCost(0.5, 0.75) for dial in dials.DIALS}


def test_scores_are_kept_and_a_calibration_without_them_is_still_read(tmp_path: Path) -> None:
    for scores in ((), (4, 0, 2, 2)):
        found = Calibration(
            tokens=9, scored=0, scored_here=0, share=0.0, exact_perplexity=0.0, dials=COSTS, scores=scores
        )
        dials.write(tmp_path, found)
        assert dials.read(tmp_path) == found
    file = tmp_path / dials.FILE
    file.write_text(file.read_text(encoding="utf-8").replace("[4, 0, 2, 2]", "[4, -1, 2, 2]"), encoding="utf-8")
    assert dials.read(tmp_path) is None


def test_shares_under_thresholds() -> None:
    found = Calibration(
        tokens=9, scored=0, scored_here=0, share=0.0, exact_perplexity=0.0, dials=COSTS, scores=(4, 0, 2, 2)
    )
    assert found.shares(0.5, 0.75) == (0.5, 0.25, 0.25)
    assert found.shares(1.0, 1.0) == (1.0, 0.0, 0.0)
    assert found.shares(0.0, 0.0) == (0.5, 0.0, 0.5)  # the first expert of a token scores 0 and is never skipped
    assert found.shares(0.625, 1.0) == pytest.approx((0.625, 0.375, 0.0))
