"""Shares of the precision dials, for models of few and of many experts a token."""

from __future__ import annotations

import pytest

from engine.planning.speed import BEYOND_FIRST, dial_shares


@pytest.mark.parametrize("dial", BEYOND_FIRST)
@pytest.mark.parametrize("k", [1, 2, 4, 6, 8, 10])
def test_the_first_expert_is_full_and_shares_are_shares(dial: str, k: int) -> None:
    full, coarse = dial_shares(dial, k)
    assert full >= 1 / k
    assert coarse >= 0
    assert full + coarse <= 1 + 1e-12


def test_each_dial_asks_for_fewer_bytes_than_the_one_before() -> None:
    def bits(dial: str, k: int) -> float:
        full, coarse = dial_shares(dial, k)
        return 4.5 * full + 2.5 * coarse

    assert bits("exact", 8) == 4.5
    for k in (2, 4, 8):
        assert bits("exact", k) > bits("balanced", k) > bits("fast", k)


def test_the_fewer_experts_a_token_has_the_fewer_are_skipped() -> None:
    skipped = [1 - sum(dial_shares("fast", k)) for k in (1, 2, 4, 8)]
    assert skipped == sorted(skipped)
    assert skipped[0] == 0
