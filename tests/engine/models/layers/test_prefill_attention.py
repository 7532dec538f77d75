"""Attention over pieces against one dense float64 softmax."""

from __future__ import annotations

from itertools import pairwise

import pytest
import torch

from engine.models.layers.attention import attend_masked, attend_one
from engine.models.layers.position_range import PositionRange

HEADS, KV_HEADS, DIM, SCALE = 6, 2, 16, 0.3


def dense(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, start: int, window: int | None, sinks: torch.Tensor | None
) -> torch.Tensor:
    """q [T, heads, D] at positions from `start`; k, v [kv, S, D] of positions from 0."""
    tokens, total = q.shape[0], k.shape[1]
    k, v = (x.double().repeat_interleave(HEADS // KV_HEADS, 0) for x in (k, v))
    scores = torch.einsum("thd,hsd->hts", q.double(), k) * SCALE
    queries, keys = torch.arange(start, start + tokens)[:, None], torch.arange(total)[None]
    seen = keys <= queries
    if window is not None:
        seen &= keys > queries - window
    scores = scores.masked_fill(~seen, float("-inf"))
    if sinks is not None:
        scores = torch.cat((scores, sinks.double()[:, None, None].expand(-1, tokens, 1)), -1)
    return torch.einsum("hts,hsd->thd", scores.softmax(-1)[..., :total], v).flatten(1)


def pieces(k: torch.Tensor, v: torch.Tensor, start: int, stop: int) -> list[tuple[torch.Tensor, ...]]:
    """Positions start to stop, cut at odd places."""
    cuts = sorted({start, *(c for c in (3, 4, 11, 20) if start < c < stop), stop})
    return [(k[:, a:b], v[:, a:b]) for a, b in pairwise(cuts)]


@pytest.mark.parametrize("sinks", [False, True])
@pytest.mark.parametrize("window", [None, 1, 5, 64])
@pytest.mark.parametrize("start", [0, 7, 25])
def test_pieces_make_one_softmax(start: int, window: int | None, sinks: bool) -> None:
    torch.manual_seed(start)
    q, k, v = torch.randn(1, HEADS, DIM), torch.randn(KV_HEADS, start + 1, DIM), torch.randn(KV_HEADS, start + 1, DIM)
    sink = torch.randn(HEADS) if sinks else None
    first = PositionRange(start, start + 1).visible_from(window)
    got = attend_one(q, pieces(k, v, first, start + 1), SCALE, sink)
    assert got.shape == (1, HEADS * DIM)
    assert torch.allclose(got.double(), dense(q, k, v, start, window, sink), atol=2e-6)


@pytest.mark.parametrize("sinks", [False, True])
@pytest.mark.parametrize("window", [1, 5, 64])
@pytest.mark.parametrize(("start", "tokens"), [(0, 9), (7, 6), (25, 30)])
def test_a_mask_says_what_is_seen(start: int, tokens: int, window: int, sinks: bool) -> None:
    torch.manual_seed(start + tokens)
    total = start + tokens
    q, k, v = torch.randn(tokens, HEADS, DIM), torch.randn(KV_HEADS, total, DIM), torch.randn(KV_HEADS, total, DIM)
    sink = torch.randn(HEADS) if sinks else None
    span = PositionRange(start, total)
    first = span.visible_from(window)
    got = attend_masked(q, k[:, first:], v[:, first:], SCALE, span.window_mask(window), sink)
    assert got.shape == (tokens, HEADS * DIM)
    assert torch.allclose(got.double(), dense(q, k, v, start, window, sink), atol=2e-6)


@pytest.mark.parametrize("tokens", [1, 5])
def test_bf16_keys_and_values_cost_little(tokens: int) -> None:
    torch.manual_seed(0)
    q, k, v = torch.randn(tokens, HEADS, DIM), torch.randn(KV_HEADS, 20, DIM), torch.randn(KV_HEADS, 20, DIM)
    low_k, low_v = k.bfloat16(), v.bfloat16()
    start = 20 - tokens
    if tokens == 1:
        got = attend_one(q, pieces(low_k, low_v, 0, 20), SCALE)
    else:
        got = attend_masked(q, low_k, low_v, SCALE, PositionRange(start, 20).window_mask(64, torch.bfloat16))
    wanted = dense(q, k, v, start, None, None)
    assert got.dtype == torch.float32
    assert (got.double() - wanted).norm() / wanted.norm() < 1e-2
