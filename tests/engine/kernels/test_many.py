"""Many tokens at once against the same tokens one by one: the same bits, whatever comes together."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torch import Tensor

from engine.kernels.call import Work
from engine.kernels.native import NativeKernel
from engine.native.library import MatrixView
from engine.record.layout import ExpertSpec
from tests.engine.kernels.calls import SILU, routed, run
from tests.engine.kernels.oracle import in_8_bits
from tests.engine.kernels.records import random_experts
from tests.engine.kernels.reference import decode_matrix
from tests.engine.kernels.test_native_linear import matrix

MakeKernel = Callable[..., NativeKernel]


def one_by_one(kernel: NativeKernel, view: MatrixView, x: Tensor) -> Tensor:
    """The product of each token in a call of its own."""
    return torch.cat([kernel.linear(view, row) for row in x.split(1)])


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=st.integers(1, 200), cols=st.integers(1, 400), tier=st.sampled_from([2, 4, 8]),
    group=st.sampled_from([16, 32, 48, 64, 128]), tokens=st.integers(1, 140), bias=st.booleans(),
    threads=st.integers(1, 2), seed=st.integers(0, 99),
)  # fmt: skip
def test_the_bits_of_a_token_do_not_depend_on_its_company(
    make_kernel: MakeKernel, rows: int, cols: int, tier: int, group: int, tokens: int, bias: bool, threads: int,
    seed: int,
) -> None:  # fmt: skip
    view, _, _alive = matrix(rows, cols, tier, group, seed)
    torch.manual_seed(seed)
    x, b = torch.randn(tokens, cols), torch.randn(rows)
    if bias:
        view.bias = b.data_ptr()
    kernel = make_kernel(threads, exact=False)
    assert torch.equal(kernel.linear(view, x), one_by_one(kernel, view, x))


@pytest.mark.parametrize("tier", [2, 4, 8])
@pytest.mark.parametrize("group", [32, 64, 128])
def test_every_count_of_tokens(make_kernel: MakeKernel, tier: int, group: int) -> None:
    view, weights, _alive = matrix(112, 5 * group - 3, tier, group)  # 7 row blocks: the last one has no partner
    torch.manual_seed(0)
    x = torch.randn(70, view.cols)
    kernel = make_kernel(exact=False)
    alone = one_by_one(kernel, view, x)
    for tokens in range(1, 71):
        assert torch.equal(kernel.linear(view, x[:tokens]), alone[:tokens])
    oracle = in_8_bits(x.double(), group) @ weights.T
    # a value on the border of two codes may fall to either side
    assert (alone - oracle).norm() <= 1e-3 * oracle.norm()


@pytest.mark.parametrize("tier", [2, 4, 8])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_the_largest_codes_meet_the_largest_activations(make_kernel: MakeKernel, tier: int, sign: float) -> None:
    """Sums of 16 bits would overflow here."""
    view, _, expert = matrix(48, 256, tier, 128)
    for part in expert.spec.layout.codes_for(tier):
        codes = part.sections["up"]
        expert.parts[part.index][codes.offset : codes.offset + codes.nbytes] = 255
    weights = decode_matrix(expert.spec, expert, "up", torch.float64)
    x = torch.full((9, 256), sign * 3.0)
    ours, oracle = make_kernel(exact=False).linear(view, x), x.double() @ weights.T
    assert (ours - oracle).norm() <= 1e-5 * oracle.norm()


@pytest.mark.parametrize("poison", [float("nan"), float("inf"), float("-inf")])
@pytest.mark.parametrize("tier", [2, 4, 8])
def test_what_is_not_finite_stays_with_its_token(make_kernel: MakeKernel, poison: float, tier: int) -> None:
    view, _, _alive = matrix(80, 200, tier, 32)
    x = torch.randn(67, 200)
    kernel = make_kernel(exact=False)
    clean = kernel.linear(view, x)
    for token in (0, 5, 66):
        dirty = x.clone()
        dirty[token, 199] = poison
        y = kernel.linear(view, dirty)
        assert y[token].isnan().all()
        others = [t for t in range(67) if t != token]
        assert torch.equal(y[others], clean[others])


@pytest.mark.parametrize("top", [4, 8])
def test_experts_with_many_slots(make_kernel: MakeKernel, top: int) -> None:
    """Rows of the intermediate size that fill half of a pair of row blocks, and chunks that end in few tokens."""
    for intermediate in (40, 144):
        spec = ExpertSpec(90, intermediate, top, 32, has_bias=True)
        experts = random_experts(spec, 2, list(spec.tiers))
        x, ids = torch.randn(67, 90), routed(67, 1, 2)
        ids[:60] = 1
        kernel = make_kernel(2, exact=False)
        together = run(kernel, spec, experts, x, ids)
        apart = torch.empty_like(together)
        for slot, expert in enumerate(ids.flatten().tolist()):
            kernel.run(spec, SILU, [Work(experts[expert], [slot])], x, 1, apart)
        assert torch.equal(together, apart)
