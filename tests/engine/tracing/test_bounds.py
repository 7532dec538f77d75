"""Bounds are below everybody, and Belady's is reached by the best of all possible choices."""

from __future__ import annotations

from functools import cache

from hypothesis import example, given, settings
from hypothesis import strategies as st

from engine.experts.policies import NAMES, make_policy
from engine.experts.precision import EXACT, Thresholds
from engine.tracing.bounds import BeladyPolicy, belady_misses, least_bytes
from engine.tracing.simulate import Simulation
from engine.tracing.visits import Sizes, TraceVisit, visits_of
from tests.engine.tracing.traces import chance_trace, trace_of

SIZES = Sizes(coarse=6, full=10, rest=5)


def best_of_all(visits: list[TraceVisit], slots: int) -> int:
    """The least misses by trying everything."""

    @cache
    def misses(at: int, held: frozenset[tuple[int, int]]) -> int:
        if at == len(visits):
            return 0
        wanted = frozenset((visits[at].row, expert) for expert in visits[at].experts)
        there = held | wanted
        drop = max(0, len(there) - slots)
        options = [there]
        for _ in range(drop):
            options = list({option - {one} for option in options for one in option})
        return len(wanted - held) + min(misses(at + 1, option) for option in options)

    return misses(0, frozenset())


@example(choices=[[0, 1], [0, 1], [0, 2]], layers=2, slots=2)  # keeping what was just read is not always best
@settings(max_examples=40, deadline=None)
@given(
    choices=st.lists(st.lists(st.integers(0, 3), min_size=2, max_size=2, unique=True), min_size=1, max_size=6),
    layers=st.integers(1, 2),
    slots=st.integers(1, 5),
)
def test_belady_is_the_best_of_all(choices: list[list[int]], layers: int, slots: int) -> None:
    visits = visits_of(trace_of(choices, layers), EXACT)
    assert belady_misses(visits, slots) == best_of_all(visits, slots)


def test_a_sequence_worked_out_by_hand() -> None:
    visits = visits_of(trace_of([[e] for e in (0, 1, 2, 0, 1, 3, 0, 3, 1)]), EXACT)
    # 0 and 1 are kept past 2 and both hit; 3 takes the place of 1, 0 and 3 hit; 1 is read again.
    assert belady_misses(visits, 2) == 5


def test_nobody_reads_less_than_the_bounds() -> None:
    for seed in range(3):
        trace = chance_trace(150, seed=seed)
        for thresholds in (EXACT, Thresholds(0.5, 0.9), Thresholds(0.0, 1.0)):
            visits = visits_of(trace, thresholds)
            for capacity in (40, 90, 170, 240):
                least = least_bytes(visits, SIZES, capacity)
                assert least > 0
                knowing = Simulation(
                    shape=trace.shape, sizes=SIZES, capacity=capacity, policy=BeladyPolicy(trace.shape, visits)
                ).run(visits)
                assert least <= knowing.bytes_read
                if thresholds.exact:
                    assert least <= 10 * belady_misses(visits, capacity // 10) <= knowing.bytes_read
                for name in NAMES:
                    policy = make_policy(name, trace.shape)
                    assert (
                        least
                        <= Simulation(shape=trace.shape, sizes=SIZES, capacity=capacity, policy=policy)
                        .run(visits)
                        .bytes_read
                    )


def test_a_cache_for_everything_reads_each_thing_once() -> None:
    trace = trace_of([[0, 1], [1, 0], [0, 1]] * 5, weights=[[0.8, 0.2]] * 15)
    visits = visits_of(trace, Thresholds(0.5, 0.9))
    assert least_bytes(visits, SIZES, 1000) == 20
    assert least_bytes(visits, SIZES, 0) == 15 * (10 + 5)


def test_knowing_the_future_beats_not_knowing_it() -> None:
    trace = chance_trace(300)
    visits = visits_of(trace, Thresholds(0.5, 0.9))
    knowing = Simulation(shape=trace.shape, sizes=SIZES, capacity=80, policy=BeladyPolicy(trace.shape, visits)).run(
        visits
    )
    for name in NAMES:
        blind = Simulation(shape=trace.shape, sizes=SIZES, capacity=80, policy=make_policy(name, trace.shape)).run(
            visits
        )
        assert knowing.bytes_read < blind.bytes_read
