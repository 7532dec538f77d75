"""HOBBIT's own choices by name: 67/30/3, a look-ahead of three layers, and coarse experts of 2 or 4 bits."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engine.calibration.calibrator import open_calibrated
from engine.experts.precision import low_tier
from engine.generation.messages import Message
from engine.generation.sampling import Sampling
from engine.library import dials
from engine.library.dials import Calibration, Cost, DialCost
from engine.session import Session
from engine.settings import ALL
from tests.engine.calibration.idling import rest
from tests.engine.session.test_session import Listener

FEW = {"threads": 1, "cache_fraction": 0.2, "dial": "hobbit"}


def answered(session: Session) -> dict[str, int]:
    """Uses of experts by bits, in an answer."""
    question = (Message("user", "Tell me a joke, and then another one."),)
    return session.generate(question, Sampling(temperature=0, max_tokens=40), (), Listener()).precision


def test_the_preset_takes_the_papers_quantiles(home: Path) -> None:
    assert ALL["dial"].name_of("hobbit") == "HOBBIT 67/30/3"
    with open_calibrated("builtin", FEW) as opened:
        known = opened.card.calibration
        assert known is not None
        cuts = known.dials["hobbit"]
        assert (opened.thresholds.t1, opened.thresholds.t2) == (cuts.t1, cuts.t2)
        full, coarse, skipped = known.shares(cuts.t1, cuts.t2)
        assert [full, coarse, skipped] == [pytest.approx(share, abs=0.02) for share in (0.67, 0.3, 0.03)]
        balanced = known.dials["balanced"]
        assert cuts.t1 > balanced.t1
        assert cuts.t2 > balanced.t2
        assert "HOBBIT 67/30/3" in dials.in_words(known, "hobbit")


def test_a_calibration_of_an_earlier_version_gets_the_preset_from_its_scores(tmp_path: Path) -> None:
    scores = tuple([67] + [0] * 98 + [30] + [0] * 50 + [3] + [0] * 49)
    cost = {"perplexity_rise": 0.01, "kl": 0.001}
    own = {dial: {"t1": 0.2, "t2": 0.6, "worst": cost, "here": None} for dial in ("balanced", "fast")}
    body = {"version": 4, "tokens": 1, "scored": 1, "scored_here": 0, "share": 0.0, "exact_perplexity": 2.0}
    (tmp_path / dials.FILE).write_text(json.dumps({**body, "dials": own, "scores": scores}), encoding="utf-8")
    found = dials.read(tmp_path)
    assert found is not None
    assert found.dials["hobbit"] == DialCost(1 / 200, 100 / 200)
    assert found.dials["fast"].worst == Cost(0.01, 0.001)
    (tmp_path / dials.FILE).write_text(json.dumps({**body, "dials": own, "scores": []}), encoding="utf-8")
    assert dials.read(tmp_path) is None


@pytest.mark.parametrize(
    ("tiers", "full", "low", "found"),
    [((2, 4, 8), 8, None, 2), ((2, 4, 8), 8, 2, 2), ((2, 4, 8), 8, 4, 4), ((2, 4, 8), 4, 4, 2), ((2, 4), 4, 4, 2),
     ((2,), 2, 4, 2), ((16,), 16, 4, 16)],
)  # fmt: skip
def test_a_coarse_expert_is_below_full(tiers: tuple[int, ...], full: int, low: int | None, found: int) -> None:
    assert low_tier(tiers, full, low) == found


@pytest.mark.long
def test_coarse_experts_have_the_bits_that_were_chosen_live(home: Path) -> None:
    (home / "models" / "builtin" / dials.FILE).unlink(missing_ok=True)  # another test may have measured 4 bits
    with open_calibrated("builtin", {**FEW, "dial": "fast"}) as opened:
        assert opened.low == 2
        two = answered(opened)
        assert two["2"] > 0
        assert not two.get("4")
        opened.update({"low": "4"})
        assert opened.low == 4
        opened.runtime.set_capacity(opened.runtime.cache.capacity // 8)  # nothing of before stays
        four = answered(opened)
        assert four["4"] > 0
        known = opened.card.calibration
        assert known is not None
        assert known.low == 4
        assert known.dials["fast"].worst is None  # measured with 2 bits; it is measured again
        while (found := opened.card.calibration) is None or found.dials["fast"].here is None:
            rest(opened)
        worst = found.dials["fast"].worst
        assert worst is not None
    kept = dials.read(opened.store.path)
    assert kept is not None
    assert kept.low == 4
    with open_calibrated("builtin", FEW) as again:
        assert again.card.calibration is not None
        assert again.card.calibration.dials["fast"].worst is None
        while (before := again.card.calibration) is None or before.dials["fast"].here is None:
            rest(again)
        coarser = before.dials["fast"].worst
        assert coarser is not None
        assert worst.kl < coarser.kl  # what 4 bits are for


def test_what_dials_cost_holds_for_the_bits_it_was_measured_with() -> None:
    cost = DialCost(0.5, 0.9, Cost(0.01, 0.001), Cost(0.0, 0.0))
    found = Calibration(
        tokens=10,
        scored=5,
        scored_here=5,
        share=0.5,
        exact_perplexity=2.0,
        dials=dict.fromkeys(dials.DIALS, cost),
        scores=(1,),
        low=2,
    )
    assert found.at(2) is found
    assert set(found.at(4).dials.values()) == {DialCost(0.5, 0.9)}
    assert found.at(4).scores == found.scores


def test_three_layers_are_looked_ahead(home: Path) -> None:
    with open_calibrated("builtin", {**FEW, "dial": "exact", "prefetch_depth": 3}) as opened:
        first = answered(opened)
        assert opened.runtime.prefetch is not None
        seen = opened.runtime.prefetch.stats
        assert len(seen.said) == 3
        assert first
        opened.update({"cache_fraction": 0.8})  # then the walk goes farther
        for _ in range(3):
            answered(opened)
        seen = opened.runtime.prefetch.stats
        assert seen.said[2] > 0
        assert seen.recall[2] > 0.4
