"""Predictors judged on a trace: counts that can be checked by hand, and what was read in vain."""

from __future__ import annotations

import numpy as np

from engine.experts.predictors import Predictor, RoutingContext, TraceView
from engine.tracing.recall import ReadAhead, judge, recall, trace_view
from tests.engine.tracing.traces import chance_trace, trace_of


class Always(Predictor):
    """Expects the same experts everywhere; says nothing of row 2."""

    name = "always"

    def __init__(self, experts: list[int]) -> None:
        self._scores = np.zeros(6, np.float32)
        self._scores[experts] = np.arange(len(experts), 0, -1)
        self.sequences = self.learned = 0

    def begin_sequence(self) -> None:
        self.sequences += 1

    def scores(self, sight: RoutingContext, row: int) -> np.ndarray | None:
        assert row > sight.row
        return None if row == 2 else self._scores

    def learn(self, sight: RoutingContext) -> None:
        self.learned += 1


def test_what_is_found_at_every_distance() -> None:
    run = trace_view(trace_of([[0, 1], [1, 2], [4, 5]], layers=4, starts=(0, 2)))
    guess = Always([1, 2, 0])
    row = judge(run, [guess], [guess])["always"].row()
    # by token, 1, 2 and 0 of two are among {1, 2}, and 2, 2 and 0 among {1, 2, 0, and the first of the rest}
    assert row["recall_k"]["start"] == 0.5
    assert row["recall_k"]["1"] == round(0.5 * 2 / 3, 4)  # of rows 1 to 3, it does not speak of 2
    assert row["recall_2k"]["start"] == round(4 / 6, 4)
    assert (guess.sequences, guess.learned) == (2, 12)


def test_experts_come_best_first_and_sequences_begin_where_they_did() -> None:
    trace = trace_of([[3, 1], [2, 0]], weights=[[0.2, -0.8], [0.6, 0.4]], starts=(0, 1))
    run: TraceView = trace_view(trace)
    assert run.ids[0].tolist() == [[1, 3], [2, 0]]
    assert run.starts == {0, 1}
    assert run.tokens.tolist() == [0, 1]


def test_what_left_unused_was_read_in_vain() -> None:
    cache = ReadAhead(2)
    cache.expect(0, [0, 1])
    cache.use(0, [0])
    cache.expect(0, [0])  # there
    cache.use(0, [2])  # pushes out 1
    assert (cache.read, cache.wasted) == (2, 1)


def test_all_predictors_are_judged_and_a_trace_too_short_is_not() -> None:
    found = recall(chance_trace(80))
    assert set(found) == {"tokens", "coactivation", "paths", "eam", "blend"}
    assert all(score.asked[0] == 40 * 2 * 2 for score in found.values())  # half the tokens, two rows with a next, k
    assert found["blend"].found[0, 0] > 0
    assert recall(trace_of([[0], [1]])) == {}
