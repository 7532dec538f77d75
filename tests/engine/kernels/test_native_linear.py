"""One matrix on some tokens, from tiles and from raw rows."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torch import Tensor

from engine.kernels.call import Parts
from engine.kernels.native import NativeKernel
from engine.native.library import MatrixView
from engine.record.layout import ExpertSpec
from tests.engine.kernels.oracle import unit_of
from tests.engine.kernels.records import random_parts
from tests.engine.kernels.reference import decode_matrix

MakeKernel = Callable[..., NativeKernel]


def matrix(rows: int, cols: int, tier: int, group: int, seed: int = 0) -> tuple[MatrixView, Tensor, Parts]:
    """The up matrix of a random expert: as the library takes it, in float64, and the memory that holds it."""
    spec = ExpertSpec(cols, rows, tier if tier > 8 else 8, group, has_gate=False)
    expert = Parts(spec, random_parts(spec, seed), tier)
    view = MatrixView(rows=rows, cols=cols, kind=tier, unit=1.0)
    for i, part in enumerate(spec.layout.codes_for(tier)):
        view.codes[i] = expert.addresses[i] + part.sections["up"].offset
    if tier <= 8:
        view.params = expert.addresses[3] + spec.layout.params_for(tier).sections["up"].offset
        view.kind, view.unit, view.group = expert.planes, unit_of(spec, expert, "up"), group
        view.groups = -(-cols // group)
    return view, decode_matrix(spec, expert, "up", torch.float64), expert


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=st.integers(1, 300), cols=st.integers(1, 300), tier=st.sampled_from([2, 4, 8, 16, 32]),
    group=st.sampled_from([16, 32, 64, 128]), tokens=st.integers(1, 20), bias=st.booleans(), seed=st.integers(0, 99),
)  # fmt: skip
def test_exact_within_1e5_of_float64(
    make_kernel: MakeKernel, rows: int, cols: int, tier: int, group: int, tokens: int, bias: bool, seed: int
) -> None:
    view, weights, _alive = matrix(rows, cols, tier, group, seed)
    torch.manual_seed(seed)
    x, b = torch.randn(tokens, cols), torch.randn(rows)
    oracle = x.double() @ weights.T
    if bias:
        view.bias = b.data_ptr()
        oracle += b
    ours = make_kernel().linear(view, x)
    assert (ours - oracle).norm() <= 1e-5 * oracle.norm() + 1e-6


@pytest.mark.parametrize("tier", [2, 4, 8])
@pytest.mark.parametrize("group", [32, 64, 128])
@pytest.mark.parametrize("tokens", [1, 2, 3, 4, 5, 70, 200])
def test_8_bits_cost_one_percent_at_most(make_kernel: MakeKernel, tier: int, group: int, tokens: int) -> None:
    view, weights, _alive = matrix(160, 500, tier, group)
    torch.manual_seed(tokens)
    x = torch.randn(tokens, 500)
    kernel = make_kernel(exact=False)
    ours, oracle = kernel.linear(view, x), x.double() @ weights.T
    assert (ours - oracle).norm() <= (0.01 if tokens > 4 else 0.015) * oracle.norm()  # few tokens scatter
    for token in (0, tokens - 1):
        assert torch.equal(kernel.linear(view, x[token : token + 1])[0], ours[token])


def test_large_matrices_are_shared_among_threads_to_the_same_bits(make_kernel: MakeKernel) -> None:
    for tier in (4, 32):
        view, _, _alive = matrix(1100, 700, tier, 64)
        for tokens in (1, 9):
            x = torch.randn(tokens, 700)
            alone = make_kernel(1, exact=False).linear(view, x)
            assert torch.equal(make_kernel(3, exact=False).linear(view, x), alone)


def test_an_expert_of_raw_rows_is_exact_whatever_the_others_are(make_kernel: MakeKernel) -> None:
    view, _, _alive = matrix(40, 130, 16, 64)
    x = torch.randn(3, 130)
    assert torch.equal(make_kernel(exact=False).linear(view, x), make_kernel().linear(view, x))


def test_bad_calls_are_refused_before_any_address_is_used(make_kernel: MakeKernel) -> None:
    view, _, _alive = matrix(16, 32, 8, 16)
    kernel = make_kernel()
    for x, y in (
        (torch.randn(2, 31), None),
        (torch.randn(2, 32).double(), None),
        (torch.randn(32, 2).t(), None),
        (torch.randn(2, 32), torch.empty(3, 16)),
        (torch.randn(2, 32), torch.empty(16, 2).t()),
    ):
        with pytest.raises(ValueError, match=r"^(x|y) "):
            kernel.linear(view, x, y)
