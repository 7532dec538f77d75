"""Fitted weights: never worse than recency or frequency alone on what they were fitted on, and led by what pays."""

from __future__ import annotations

import numpy as np

from engine.experts.policies import Hobbit, HobbitWeights
from engine.experts.precision import EXACT, Thresholds
from engine.tracing.fit import fit
from engine.tracing.replay import Replayer
from tests.engine.tracing.traces import chance_trace, trace_of


def test_fitted_weights_miss_no_more_than_recency_or_frequency_alone() -> None:
    trace = chance_trace(120)
    for thresholds in (EXACT, Thresholds(0.4, 0.9)):
        said: list[tuple[int, int]] = []
        weights = fit(
            trace, thresholds, (0.25, 0.5), progress=lambda done, total, said=said: said.append((done, total))
        )  # type: ignore[misc]
        assert said == [(1, 2), (2, 2)]
        replayer = Replayer(trace, thresholds, weights)
        for share in (0.25, 0.5):
            ours = replayer.play("hobbit", share).penalty
            for alone in (HobbitWeights(1, 0, 0, 0), HobbitWeights(0, 1, 0, 0)):
                assert ours <= replayer.play_with("alone", Hobbit(trace.shape, alone), share).penalty
            assert all(ours <= replayer.play(name, share).penalty for name in ("lru", "lfu"))


def test_what_pays_on_a_trace_is_what_is_learned_from_it() -> None:
    recent = trace_of([[at // 12 % 3 + at % 2 * 3] for at in range(240)])  # two by turns for a while, then others
    chance = np.random.default_rng(0)
    popular = trace_of([[int(e)] for e in chance.choice(6, 400, p=[0.4, 0.3, 0.1, 0.1, 0.05, 0.05])])
    for trace, loser in ((recent, "lfu"), (popular, "lru")):
        replayer = Replayer(trace, EXACT, fit(trace, EXACT, (0.34,)))
        ours, theirs = (replayer.play(name, 0.34).penalty for name in ("hobbit", loser))
        assert ours < theirs
