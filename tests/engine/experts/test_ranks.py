"""What an expert is expected to be asked for at, from its rank, is what the dial asked of that rank before."""

from __future__ import annotations

import ctypes
from array import array
from collections.abc import Sequence

import torch

from engine.experts.precision import RequestedPrecision, Thresholds, requested_precisions
from engine.kernels.native import RankShares
from engine.native.eviction import learn_ranks
from engine.native.library import load_holding_lock

WEIGHTS = [0.1, 0.4, 0.3, 0.2]  # scores by rank: 0, 0.4, 0.7, 0.9
SKIP, LOW, HIGH = RequestedPrecision


class Ranks:
    """What native code learns of one layer."""

    def __init__(self, thresholds: Thresholds) -> None:
        self._shares, self._thresholds = RankShares(), thresholds

    def learn(self, weights: Sequence[float]) -> None:
        given = array("f", weights)
        cut = self._thresholds
        learn_ranks(ctypes.addressof(self._shares), given.buffer_info()[0], len(given), cut.t1, cut.t2)

    def asked(self, most: int = 4) -> list[int]:
        planes = array("i", [0] * most)
        ask = load_holding_lock().uh_ranks_ask
        ask.argtypes = (ctypes.c_void_p, *[ctypes.c_int32] * 3, ctypes.c_void_p)
        ask(ctypes.addressof(self._shares), most, int(HIGH), int(LOW), planes.buffer_info()[0])
        return planes.tolist()


def test_as_the_dial_asks() -> None:
    cut = Thresholds(0.5, 0.8)
    ranks = Ranks(cut)
    ranks.learn(WEIGHTS)
    by_rank = requested_precisions(torch.tensor([sorted(WEIGHTS, reverse=True)]), cut)[0].tolist()
    assert ranks.asked() == by_rank == [HIGH, HIGH, LOW, SKIP]
    assert ranks.asked(10)[4:] == 6 * [SKIP]  # as of the last


def test_most_tokens_decide_and_the_last_ones_weigh_more() -> None:
    ranks = Ranks(Thresholds(0.5, 0.8))
    even = [0.25] * 4  # scores 0, 0.25, 0.5, 0.75: none is skipped
    for _ in range(50):
        ranks.learn(WEIGHTS)
    ranks.learn(even)
    assert ranks.asked()[3] == SKIP
    for _ in range(50):
        ranks.learn(even)
    assert ranks.asked() == [HIGH, HIGH, HIGH, LOW]


def test_before_anything_was_seen_the_first_is_high_and_the_rest_are_low() -> None:
    assert Ranks(Thresholds(0.5, 0.8)).asked() == [HIGH, LOW, LOW, LOW]
    ranks = Ranks(Thresholds(0.0, 0.0))
    ranks.learn(WEIGHTS)
    assert ranks.asked() == [HIGH, SKIP, SKIP, SKIP]
