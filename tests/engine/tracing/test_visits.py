"""What a cache is asked for: the runtime's own choice of precision, token by token and for a prompt at once."""

from __future__ import annotations

import numpy as np

from engine.experts.precision import EXACT, Thresholds
from engine.tracing.trace import Trace
from engine.tracing.visits import TraceVisit, visits_of
from tests.engine.tracing.traces import trace_of


def test_a_prompt_asks_once_for_each_expert_and_for_the_best_that_a_token_wants() -> None:
    ids = np.array([[[0, 3], [3, 5], [5, 3], [1, 0]]], np.uint16)
    weights = np.array([[[0.9, 0.1], [0.9, 0.1], [0.9, 0.1], [0.5, 0.5]]], np.float16)
    passes, positions = np.array([3, 1], np.int32), np.array([0, 3], np.int32)
    trace = Trace(
        layers=(4,),
        experts=8,
        ids=ids,
        weights=weights,
        passes=passes,
        token_ids=np.zeros(4, np.int32),
        positions=positions,
        begins=positions == 0,
    )
    assert visits_of(trace, Thresholds(0.5, 0.6)) == [
        TraceVisit(row=0, layer=4, experts=[0, 3, 5], demands=[2, 2, 2], counts=[1, 3, 2], tokens=3, begins=True),
        TraceVisit(row=0, layer=4, experts=[1, 0], demands=[2, 2], counts=[1, 1], tokens=1, begins=False),
    ]
    assert visits_of(trace, Thresholds(0.5, 0.95))[0].demands == [2, 2, 2]
    only_low = Trace(
        layers=(4,),
        experts=8,
        ids=ids[:, :1],
        weights=weights[:, :1],
        passes=passes[1:],
        token_ids=np.zeros(1, np.int32),
        positions=positions[:1],
        begins=positions[:1] == 0,
    )
    assert visits_of(only_low, Thresholds(0.5, 0.95))[0].demands == [2, 1]


def test_sequences_begin_where_positions_do() -> None:
    trace = trace_of([[0], [1], [2], [3]], layers=2, starts=(0, 2))
    assert [visit.begins for visit in visits_of(trace, EXACT)] == [True, False, False, False, True, False, False, False]
