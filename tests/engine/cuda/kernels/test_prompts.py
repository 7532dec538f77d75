"""Attention of a prompt's tokens on the card: within the rule of float64 that single tokens' has."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torch import Tensor

from tests.engine.cuda.kernels.card import FLAVOURS, Card, argument
from tests.engine.cuda.kernels.test_layers import ATTENTION, Sequence_, address

QUERIES = 8  # of a block


@dataclass(frozen=True)
class Asking:
    """One call: the last `tokens` of `rows`; those before `bottom` are nobody's."""

    tokens: int = 5
    share: int = 4
    kv_heads: int = 2
    dim: int = 128
    rows: int = 70
    window: int = 0
    bottom: int = 0
    sinks: bool = False
    dtype: torch.dtype = torch.bfloat16

    @property
    def heads(self) -> int:
        return self.share * self.kv_heads


def attend(card: Card, call: Asking, sequence: Sequence_, queries: Tensor, sinks: Tensor | None) -> Tensor:
    """[tokens, heads, dim]."""
    out = card.room(4 * call.tokens * call.heads * call.dim)
    card.launch(
        f"uh_attend_many_{sequence.bits}", (-(-call.tokens * call.share // QUERIES), call.kv_heads),
        address(card, queries), *map(argument, sequence.put(card)), address(card, sinks), argument(out),
        *(argument(n, "q") for n in (call.rows - call.tokens, call.bottom, sequence.capacity)),
        *(argument(n, "i") for n in (call.tokens, call.share, call.dim, call.window)), argument(call.dim**-0.5, "f"),
    )  # fmt: skip
    return card.floats(out, call.tokens, call.heads, call.dim)


def in_float64(call: Asking, sequence: Sequence_, queries: Tensor, sinks: Tensor | None) -> Tensor:
    """What attention is."""
    keys, values = (rows.double().repeat_interleave(call.share, 0) for rows in sequence.known)
    scores = torch.einsum("thd,hrd->thr", queries.double(), keys) * call.dim**-0.5
    own, row = torch.arange(call.rows - call.tokens, call.rows)[:, None], torch.arange(call.rows)
    hidden = (row > own) | (row < call.bottom)
    if call.window:
        hidden |= row <= own - call.window
    scores.masked_fill_(hidden[:, None], float("-inf"))
    if sinks is not None:
        scores = torch.cat((scores, sinks.double()[None, :, None].expand(call.tokens, -1, 1)), 2)
    return torch.einsum("thr,hrd->thd", scores.softmax(2)[..., : call.rows], values)


def asked(call: Asking, card: Card, seed: int = 0, capacity: int = 300) -> tuple[Tensor, Tensor]:
    """What the card gives, and float64."""
    torch.manual_seed(seed)
    sequence = Sequence_(call.kv_heads, call.dim, call.rows, call.dtype, capacity)
    queries, sinks = torch.randn(call.tokens, call.heads, call.dim), torch.randn(call.heads) if call.sinks else None
    return attend(card, call, sequence, queries, sinks), in_float64(call, sequence, queries, sinks)


def close(found: Tensor, expected: Tensor) -> bool:
    return bool(((found - expected).norm(dim=2) <= ATTENTION * expected.norm(dim=2).clamp_min(1e-3)).all())


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    tokens=st.integers(1, 21), share=st.integers(1, 11), kv=st.integers(1, 2), dim=st.sampled_from([64, 128, 192, 256]),
    before=st.integers(0, 150), window=st.integers(0, 90), bottom=st.integers(0, 90), sinks=st.booleans(),
    wide=st.booleans(), seed=st.integers(0, 99),
)  # fmt: skip
def test_attention_is_within_its_rule_of_float64(
    tokens: int, share: int, kv: int, dim: int, before: int, window: int, bottom: int, sinks: bool, wide: bool,
    seed: int,
) -> None:  # fmt: skip
    dtype = torch.float32 if wide else torch.bfloat16
    call = Asking(tokens, share, kv, dim, before + tokens, window, min(bottom, before), sinks, dtype)
    assert close(*asked(call, Card(FLAVOURS[seed % 2], seed=seed), seed))


@pytest.mark.parametrize("dim", [64, 256])
def test_as_many_rows_as_there_is_room_for(dim: int) -> None:
    call = Asking(tokens=3, share=3, kv_heads=1, dim=dim, rows=8192)
    assert close(*asked(call, Card(), capacity=8192))


@pytest.mark.parametrize("where", ["keys", "values"])
@pytest.mark.parametrize("poison", [float("nan"), float("inf")])
@pytest.mark.parametrize("window", [0, 20])
def test_a_row_that_is_not_finite_stays_with_those_that_see_it(where: str, poison: float, window: int) -> None:
    torch.manual_seed(1)
    call = Asking(tokens=12, share=2, rows=70, window=window, dtype=torch.float32)
    sequence, queries = Sequence_(2, 128, 70, torch.float32), torch.randn(12, 4, 128).abs()
    for rows in sequence.known:
        rows.abs_()
    clean = attend(Card(), call, sequence, queries, None)
    hit = 41 if window else 63  # of tokens 58 .. 69, seen by the first few or by the last ones
    sequence.known[where == "values"][1, hit, 3] = poison
    found = attend(Card(), call, sequence, queries, None)
    sees = torch.tensor([hit > own - window if window else hit <= own for own in range(58, 70)])
    assert torch.equal(found[:, :2], clean[:, :2])
    assert torch.equal(found[~sees], clean[~sees])
    assert not found[sees, 2:].isfinite().all(2).any()


def test_very_large_scores_do_not_overflow() -> None:
    call = Asking(share=1, rows=200)
    sequence, queries = Sequence_(2, 128, 200, torch.bfloat16), torch.randn(5, 2, 128) * 1e3
    found, expected = attend(Card(), call, sequence, queries, None), in_float64(call, sequence, queries, None)
    # Float32 has scores of some thousands to 1e-3 or so, which is what their weights are off by.
    assert ((found - expected).norm(dim=2) <= 2e-3 * expected.norm(dim=2)).all()


def test_the_order_of_blocks_and_warps_changes_nothing() -> None:
    call = Asking(tokens=9, share=3, rows=200, window=170, sinks=True)
    first, _ = asked(call, Card(seed=0))
    for seed in range(1, 5):
        assert torch.equal(asked(replace(call), Card(seed=100 * seed))[0], first)
