"""Replay: counts that can be checked by hand, and Belady below everybody."""

from __future__ import annotations

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from engine.tracing.recorder import Trace
from engine.tracing.replay import compare, replay


def trace_of(choices: list[list[int]], layers: int = 1, experts: int = 6) -> Trace:
    """One token a pass; choices[token] are its experts, the same in every layer."""
    ids = np.array([choices] * layers, np.uint16)
    return Trace(tuple(range(layers)), experts, ids, np.ones(ids.shape, np.float16), np.ones(len(choices), np.int32))


def test_a_sequence_worked_out_by_hand() -> None:
    sequence = [[e] for e in (0, 1, 2, 0, 1, 3, 0, 3, 1)]
    # Two slots. LRU: only the second 3 finds its expert.
    assert replay(trace_of(sequence), "lru", 2).misses == replay(trace_of(sequence), "lru_layer", 2).misses == 8
    # The bound: 0 and 1 are kept past 2 and both hit; 3 takes the place of 1, 0 and 3 hit; 1 is read again.
    assert replay(trace_of(sequence), "belady", 2).misses == 5


@example(choices=[[0, 1], [0, 1], [0, 2]], layers=2, slots=2)  # keeping what was just read is not always best
@settings(max_examples=60, deadline=None)
@given(
    choices=st.lists(st.lists(st.integers(0, 5), min_size=2, max_size=2, unique=True), min_size=1, max_size=40),
    layers=st.integers(1, 3),
    slots=st.integers(2, 12),
)
def test_belady_misses_least_and_everyone_misses_at_least_what_is_new(
    choices: list[list[int]], layers: int, slots: int
) -> None:
    trace = trace_of(choices, layers)
    best = replay(trace, "belady", slots)
    distinct = len({(layer, e) for layer in range(layers) for token in choices for e in token})
    for policy in ("lru", "lru_layer"):
        found = replay(trace, policy, slots)
        assert found.uses == best.uses
        assert found.misses >= best.misses >= distinct


def test_a_cache_for_everything_misses_each_expert_once() -> None:
    trace = trace_of([[0, 1], [2, 3], [0, 2]] * 5, layers=2)
    for policy in ("lru", "lru_layer", "belady"):
        assert replay(trace, policy, 12).misses == 8


def test_more_room_never_misses_more_under_lru() -> None:
    generator = np.random.default_rng(0)
    trace = trace_of([list(generator.choice(6, 2, replace=False)) for _ in range(200)], layers=2)
    rates = {r.slots: r.hit_rate for r in compare(trace) if r.policy == "lru"}
    assert list(rates.values()) == sorted(rates.values())
    assert len(rates) == 4
