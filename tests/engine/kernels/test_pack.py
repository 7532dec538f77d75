"""Packing dense matrices: the bits of the torch oracle, on shapes that tiles do not like, and what is refused."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torch import Tensor

from engine.errors import Kind, UnderhillError
from engine.kernels.dense import PackedMatrix, group_of, packed_bytes, raw_view, set_bias
from engine.kernels.native import NativeKernel
from engine.native.memory import Arena
from engine.record.layout import PLANE_BITS, aligned
from tests.engine.kernels.pack_oracle import decoded, fitted
from tests.engine.kernels.reference import plane_codes

MakeKernel = Callable[..., NativeKernel]


def relative(got: Tensor, wanted: Tensor) -> float:
    return float((got.double() - wanted.double()).norm() / wanted.double().norm())


def odd_weights(rows: int, cols: int, seed: int, size: float, dtype: torch.dtype) -> Tensor:
    """Rows of different size, one constant, one zero, one with a group far below the rest."""
    random = torch.Generator().manual_seed(seed)
    w = torch.randn(rows, cols, generator=random) * torch.rand(rows, 1, generator=random) * size
    w[-1] = 0.0
    w[rows // 2] = size / 3
    w[0, : cols // 2] *= 1e-9
    return w.to(dtype)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=st.integers(1, 70), cols=st.integers(1, 300), group=st.sampled_from([16, 32, 64, 128]),
    bits=st.sampled_from([4, 8]), size=st.sampled_from([1e-6, 0.02, 1.0, 3e4]), half=st.booleans(),
    seed=st.integers(0, 999),
)  # fmt: skip
def test_the_bits_of_the_oracle(
    make_kernel: MakeKernel, rows: int, cols: int, group: int, bits: int, size: float, half: bool, seed: int
) -> None:
    w = odd_weights(rows, cols, seed, size, torch.bfloat16 if half else torch.float32)
    packed = PackedMatrix([w], bits, make_kernel(), Arena(), group)
    codes, scale, offset, unit = fitted(w, bits, group)
    assert packed.view.unit == unit
    assert torch.equal(packed.rows(torch.arange(rows)), decoded(codes, scale, offset, unit, cols))
    stored_rows, stored_cols = aligned(rows, 16), aligned(cols, group)
    found, at = torch.zeros(stored_rows, stored_cols, dtype=torch.uint8), 0
    for plane in PLANE_BITS[: packed.view.kind]:
        nbytes = stored_rows * stored_cols * plane // 8
        lines = packed.data[at : at + nbytes]
        found, at = (found << plane) | plane_codes(lines, plane, stored_rows, stored_cols, group), at + nbytes
    assert torch.equal(found[:rows], codes.flatten(1))
    assert not found[rows:].any()


@pytest.mark.parametrize(
    ("bits", "group", "allowed"), [(8, 64, 0.0055), (8, 32, 0.0048), (4, 64, 0.083), (4, 32, 0.072)]
)
def test_what_quantizing_loses(make_kernel: MakeKernel, bits: int, group: int, allowed: float) -> None:
    w = torch.randn(64, 1024, generator=torch.Generator().manual_seed(1))
    packed = PackedMatrix([w], bits, make_kernel(), Arena(), group)
    assert relative(packed.rows(torch.arange(64)), w) < allowed


@pytest.mark.parametrize("bits", [4, 8])
@pytest.mark.parametrize("exact", [True, False])
def test_products_are_those_of_the_decoded_rows(make_kernel: MakeKernel, bits: int, exact: bool) -> None:
    kernel = make_kernel(exact=exact)
    for rows, cols, tokens in ((48, 128, 1), (37, 70, 3), (5, 96, 40)):
        w, bias, x = torch.randn(rows, cols), torch.randn(rows), torch.randn(tokens, cols)
        packed = PackedMatrix([w], bits, kernel, Arena())
        set_bias(packed.view, bias)
        wanted = x.double() @ packed.rows(torch.arange(rows)).double().T
        assert relative(kernel.linear(packed.view, x) - bias, wanted) < (1e-5 if exact else 1e-2)


def test_parts_are_stacked_wherever_blocks_of_16_rows_end(make_kernel: MakeKernel) -> None:
    kernel, w = make_kernel(), torch.randn(60, 96)
    whole = PackedMatrix([w], 4, kernel, Arena())
    parts = PackedMatrix(list(w.split((5, 20, 35))), 4, kernel, Arena())
    assert torch.equal(whole.data, parts.data)


def test_other_types_are_converted_and_columns_may_be_strided(make_kernel: MakeKernel) -> None:
    kernel, w = make_kernel(), torch.randn(40, 64).half()
    wanted = PackedMatrix([w.float()], 8, kernel, Arena()).data
    assert torch.equal(PackedMatrix([w], 8, kernel, Arena()).data, wanted)
    assert torch.equal(PackedMatrix([w.double()], 8, kernel, Arena()).data, wanted)
    assert torch.equal(PackedMatrix([w.float().t().contiguous().t()], 8, kernel, Arena()).data, wanted)


def test_same_bits_for_any_number_of_threads(make_kernel: MakeKernel) -> None:
    w = torch.randn(333, 640)
    alone = PackedMatrix([w], 4, make_kernel(1), Arena()).data
    assert all(torch.equal(PackedMatrix([w], 4, make_kernel(n), Arena()).data, alone) for n in (2, 5))


@pytest.mark.parametrize("poison", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_weights_that_are_not_finite_are_refused(make_kernel: MakeKernel, poison: float, dtype: torch.dtype) -> None:
    good, bad = torch.randn(20, 40), torch.randn(20, 40)
    bad[19, 39] = poison
    with pytest.raises(UnderhillError, match="not finite") as caught:
        PackedMatrix([good.to(dtype), bad.to(dtype)], 8, make_kernel(), Arena())
    assert caught.value.kind is Kind.BROKEN_FILE


def test_rows_that_are_not_there_are_refused(make_kernel: MakeKernel) -> None:
    packed = PackedMatrix([torch.randn(20, 40)], 8, make_kernel(), Arena())
    for wrong in (-1, 20):
        with pytest.raises(IndexError, match="20 rows"):
            packed.rows(torch.tensor([0, wrong]))
    assert packed.rows(torch.tensor([], dtype=torch.int64)).shape == (0, 40)


def test_bytes_are_those_that_were_told(make_kernel: MakeKernel) -> None:
    for rows, cols, bits in ((64, 128, 8), (33, 100, 4), (5, 96, 8), (1, 1, 4)):
        assert PackedMatrix([torch.randn(rows, cols)], bits, make_kernel(), Arena()).data.nbytes == packed_bytes(
            rows, cols, bits
        )
    assert (group_of(2048), group_of(96), group_of(100), group_of(48)) == (64, 32, 64, 64)
    assert packed_bytes(1024, 2048, 8) * 8 == 8.5 * 1024 * 2048
    assert packed_bytes(1024, 2048, 4) * 8 == 4.5 * 1024 * 2048


def test_views_of_what_cannot_be_read_are_refused() -> None:
    w = torch.randn(8, 16)
    for wrong in (w.double(), w.t(), w[:, :8]):
        with pytest.raises(ValueError, match="contiguous"):
            raw_view(wrong, None)
    for bias in (torch.randn(7), torch.randn(8).double(), torch.randn(16)[::2]):
        with pytest.raises(ValueError, match="bias"):
            raw_view(w, bias)


@pytest.mark.parametrize("group", [24, 512])
def test_groups_that_the_kernels_cannot_take_are_refused(make_kernel: MakeKernel, group: int) -> None:
    with pytest.raises(ValueError, match="groups"):
        PackedMatrix([torch.ones(16, 1024)], 8, make_kernel(), Arena(), group)
