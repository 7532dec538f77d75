"""Latent attention: absorbed and expanded forms against plain attention, against each other, and by what they cost."""

from __future__ import annotations

import pytest
import torch

from engine.models.layers import latent_cache
from engine.models.layers.latent_cache import absorbed, absorbed_is_cheaper, expanded

HEADS, NOPE, ROPE, VALUE, RANK = 3, 8, 4, 6, 16


def _case(tokens: int, cached: int, dtype: torch.dtype = torch.float32):
    g = torch.Generator().manual_seed(tokens * 100 + cached)
    return (
        torch.randn(tokens, HEADS, NOPE, generator=g),
        torch.randn(tokens, HEADS, ROPE, generator=g),
        list(torch.randn(cached, RANK + ROPE, generator=g).split(12)),
        torch.randn(HEADS, NOPE, RANK, generator=g).to(dtype) * 0.5,
        torch.randn(HEADS, VALUE, RANK, generator=g).to(dtype) * 0.5,
        0.3,
    )


def _definition(q, q_rope, cache, w_uk, w_uv, scaling):
    q, q_rope, cache, w_uk, w_uv = (t.double() for t in (q, q_rope, torch.cat(cache), w_uk, w_uv))
    tokens, cached = q.shape[0], cache.shape[0]
    keys = torch.cat(
        (torch.einsum("nr,hdr->nhd", cache[:, :RANK], w_uk), cache[:, None, RANK:].expand(-1, HEADS, -1)), dim=2
    )
    values = torch.einsum("nr,hdr->nhd", cache[:, :RANK], w_uv)
    scores = torch.einsum("thd,nhd->htn", torch.cat((q, q_rope), dim=2), keys) * scaling
    hidden = torch.arange(cached) > (torch.arange(tokens) + cached - tokens)[:, None]
    return torch.einsum("htn,nhd->thd", scores.masked_fill(hidden, -torch.inf).softmax(-1), values)


@pytest.mark.parametrize("form", [absorbed, expanded])
@pytest.mark.parametrize(("tokens", "cached"), [(1, 1), (1, 40), (7, 7), (7, 40), (20, 33)])
def test_both_forms_follow_the_definition(form, tokens, cached):
    case = _case(tokens, cached)
    torch.testing.assert_close(form(*case).double(), _definition(*case), rtol=0, atol=2e-6)


@pytest.mark.parametrize("form", [absorbed, expanded])
def test_blocks_of_queries_change_nothing(form, monkeypatch):
    case = _case(17, 30)
    want = form(*case)
    monkeypatch.setattr(latent_cache, "SCORES_LIMIT", 30 * HEADS * 4)
    torch.testing.assert_close(form(*case), want, rtol=0, atol=1e-6)


@pytest.mark.parametrize("form", [absorbed, expanded])
def test_half_precision_weights_and_cache_stay_near(form):
    q, q_rope, cache, w_uk, w_uv, scaling = _case(5, 30, torch.bfloat16)
    got = form(q, q_rope, [piece.bfloat16() for piece in cache], w_uk, w_uv, scaling)
    want = _definition(q, q_rope, cache, w_uk, w_uv, scaling)
    assert got.dtype == torch.float32
    assert (got.double() - want).norm() / want.norm() < 0.02


def test_decode_is_absorbed_and_long_prefill_expanded():
    lite = {"nope": 128, "rope": 64, "value": 128, "rank": 512}  # DeepSeek-V2-Lite
    assert absorbed_is_cheaper(1, 8192, **lite)
    assert absorbed_is_cheaper(64, 8192, **lite)
    assert not absorbed_is_cheaper(512, 512, **lite)
    assert not absorbed_is_cheaper(512, 8192, **lite)
