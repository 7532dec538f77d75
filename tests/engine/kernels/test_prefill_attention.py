"""Attention of many tokens by the C kernels against softmax written out in float64."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torch import Tensor

from engine.kernels.native import NativeKernel
from engine.kernels.prefill_attention import prefill_attention
from engine.models.layers.state import RowsState, unpacked
from engine.native.kv_rows import BITS, pack_rows, unpack_rows

ROUNDED = 8e-3  # relative: a number of bf16 is up to 4e-3 off, and both sides of a product are rounded
MakeKernel = Callable[..., NativeKernel]


def written_out(q: Tensor, k: Tensor, v: Tensor, scale: float, window: int | None, sinks: Tensor | None) -> Tensor:
    """q [T, heads, dim], k and v [kv_heads, n, dim], of which the last T are the tokens' own."""
    tokens, heads, dim = q.shape
    rows, share = k.shape[1], heads // k.shape[0]
    out = torch.zeros(tokens, heads, dim, dtype=torch.float64)
    for t in range(tokens):
        end = rows - tokens + t + 1
        start = 0 if window is None else max(0, end - window)
        for h in range(heads):
            scores = k[h // share, start:end].double() @ q[t, h].double() * scale
            if sinks is not None:
                scores = torch.cat((scores, sinks[h : h + 1].double()))
            weights = scores.softmax(0)[: end - start]
            out[t, h] = weights @ v[h // share, start:end].double()
    return out.flatten(1)


def state_of(k: Tensor, v: Tensor, dtype: torch.dtype, first: int) -> RowsState:
    """Rows held as a decoder holds them, in two appends."""
    state = RowsState([k.shape[::2]] * 2, dtype)
    for part in (slice(0, first), slice(first, None)):
        state.append(k[:, part], v[:, part])
    return state


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    tokens=st.integers(2, 90), past=st.integers(0, 300), kv_heads=st.integers(1, 3), share=st.integers(1, 9),
    dim=st.sampled_from([1, 8, 24, 64, 128]), window=st.sampled_from([None, None, 1, 40, 1000]), sunk=st.booleans(),
    dtype=st.sampled_from(list(BITS)), exact=st.booleans(), seed=st.integers(0, 99),
)  # fmt: skip
def test_softmax_of_every_token_over_what_it_sees(
    make_kernel: MakeKernel, tokens: int, past: int, kv_heads: int, share: int, dim: int, window: int | None,
    sunk: bool, dtype: torch.dtype, exact: bool, seed: int,
) -> None:  # fmt: skip
    torch.manual_seed(seed)
    rows = torch.randn(tokens, kv_heads * share + 2, dim)  # as a slice of a wider projection
    q = rows[:, : kv_heads * share]
    k, v = (torch.randn(kv_heads, past + tokens, dim).to(unpacked(dtype)) for _ in range(2))
    sinks = torch.randn(kv_heads * share) * 3 if sunk else None
    first = 0 if window is None else max(0, past - window + 1)
    pieces = state_of(k, v, dtype, past).views(first)
    ours = prefill_attention(make_kernel(2, exact), q, pieces, dim**-0.5, window, sinks)
    if dtype == torch.int8:
        k, v = (unpack_rows(pack_rows(held), dim) for held in (k, v))
    oracle = written_out(q, k, v, dim**-0.5, window, sinks)
    # Where activations are rounded and the processor has pairs of bf16, queries and weights become bf16.
    allowed = ROUNDED if dtype != torch.float32 and not exact else 1e-5
    assert (ours - oracle).norm() <= allowed * oracle.norm() + 1e-6


@pytest.mark.parametrize(("dim", "tokens"), [(1, 70), (24, 3), (63, 70), (128, 65)])
def test_pairs_take_neighbouring_numbers_and_keys(make_kernel: MakeKernel, dim: int, tokens: int) -> None:
    """Of small whole numbers nothing is rounded but the weights: what is left out or taken twice shows."""
    torch.manual_seed(dim)
    q, k = torch.randint(-2, 3, (tokens, 6, dim)).float(), torch.randint(-2, 3, (2, tokens, dim)).bfloat16()
    v = torch.randint(-100, 100, (2, tokens, dim)).bfloat16()
    oracle = written_out(q, k, v, 2.0**-6, None, None)
    ours = prefill_attention(make_kernel(2, exact=False), q, [(k, v)], 2.0**-6)
    assert (ours - oracle).norm() <= ROUNDED / 2 * oracle.norm()


@pytest.mark.parametrize("exact", [True, False])
def test_same_bits_for_any_number_of_threads(make_kernel: MakeKernel, exact: bool) -> None:
    q, k, v = torch.randn(300, 8, 64), torch.randn(2, 300, 64).bfloat16(), torch.randn(2, 300, 64).bfloat16()
    for piece in ((k, v), (pack_rows(k), pack_rows(v))):
        alone = prefill_attention(make_kernel(1, exact), q, [piece], 0.1)
        assert torch.equal(prefill_attention(make_kernel(3, exact), q, [piece], 0.1), alone)


@pytest.mark.parametrize(("exact", "dtype"), [(True, torch.float32), (False, torch.float32), (False, torch.bfloat16)])
def test_large_scores_and_what_is_not_finite(make_kernel: MakeKernel, exact: bool, dtype: torch.dtype) -> None:
    torch.manual_seed(1)  # one draw in a hundred has two rows so close that float32 cannot tell which is the nearer
    q, k, v = torch.randn(70, 2, 32), torch.randn(1, 70, 32).to(dtype), torch.randn(1, 70, 32).to(dtype)
    q = q.to(dtype).float()
    kernel = make_kernel(exact=exact)
    far = prefill_attention(kernel, q * 1e4, [(k, v)], 1.0)
    oracle = written_out(q * 1e4, k, v, 1.0, None, None)
    assert (far - oracle).norm() <= 1e-4 * oracle.norm()
    clean = prefill_attention(kernel, q, [(k, v)], 0.2)
    q[40, 1, 3] = float("nan")
    dirty = prefill_attention(kernel, q, [(k, v)], 0.2)
    assert dirty[40, 32:].isnan().all()
    dirty[40, 32:] = clean[40, 32:]
    assert torch.equal(dirty, clean)


def test_bad_calls_are_refused_before_any_address_is_used(make_kernel: MakeKernel) -> None:
    kernel = make_kernel()
    q, k = torch.randn(3, 4, 8), torch.randn(2, 5, 8)
    for wrong_q, wrong_k, wrong_v, sinks in (
        (q.double(), k, k, None),
        (q.transpose(0, 1), k, k, None),
        (torch.randn(6, 4, 8), k, k, None),
        (torch.randn(3, 3, 8), k, k, None),
        (q, k.half(), k.half(), None),
        (q, k, k.bfloat16(), None),
        (q, k, torch.randn(2, 4, 8), None),
        (q, k, torch.randn(5, 2, 8).transpose(0, 1), None),
        (q, k, k, torch.randn(3)),
    ):
        with pytest.raises(ValueError, match=r"^(q |keys|sinks|the rows)"):
            prefill_attention(kernel, wrong_q, [(wrong_k, wrong_v)], 1.0, None, sinks)
