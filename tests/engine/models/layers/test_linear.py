"""Linear layers that native kernels multiply: every kind close to float64, rows looked up, and honest byte counts."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch

from engine.kernels.native import NativeKernel
from engine.models.layers.linear import Linear
from engine.models.layers.weight_format import Kind, WeightFormat, WeightKinds

ALLOWED: dict[Kind, float] = {"f32": 1e-6, "bf16": 6e-3, "int8": 1.2e-2, "int4": 9e-2}  # relative L2 error


@pytest.fixture(scope="module", params=[False, True], ids=["activations in 8 bits", "exact activations"])
def kernel(request: pytest.FixtureRequest) -> Iterator[NativeKernel]:
    made = NativeKernel(2, exact=request.param)
    yield made
    made.close()


def relative(got: torch.Tensor, wanted: torch.Tensor) -> float:
    return float((got.double() - wanted.double()).norm() / wanted.double().norm())


@pytest.mark.parametrize("kind", ALLOWED)
@pytest.mark.parametrize("tokens", [1, 3, 40])
def test_products_stay_close_to_float64(kernel: NativeKernel, kind: Kind, tokens: int) -> None:
    for out, cols in ((48, 64), (130, 96), (7, 200)):
        torch.manual_seed(out + tokens)
        weight, bias, x = torch.randn(out, cols), torch.randn(out), torch.randn(tokens, cols)
        linear = Linear(weight, bias, WeightFormat(kind, kernel=kernel))
        assert relative(linear(x) - bias, x.double() @ weight.double().T) < ALLOWED[kind] * 1.5
        assert linear(x).shape == (tokens, out)
        (view,) = linear.views()
        assert view is not None
        assert (view.rows, view.cols) == (out, cols)
        assert relative(kernel.linear(view, x), linear(x)) < 8e-3  # several tokens meet bf16 weights rounded to bf16


def test_one_token_meets_bf16_weights_unrounded(kernel: NativeKernel) -> None:
    weight, x = torch.randn(40, 256).bfloat16(), torch.randn(1, 256)
    assert relative(Linear(weight, None, WeightFormat("bf16", kernel=kernel))(x), x.double() @ weight.double().T) < 1e-6


@pytest.mark.parametrize("kind", ALLOWED)
def test_rows_are_those_of_the_head_that_is_tied_to_them(kernel: NativeKernel, kind: Kind) -> None:
    weight, ids = torch.randn(50, 96), torch.tensor([3, 49, 3, 0])
    tied = Linear(weight, None, WeightFormat(kind, kernel=kernel))
    rows = tied.rows(ids)
    assert relative(rows, weight[ids]) < ALLOWED[kind]
    tied.write(ids.tolist(), written := torch.full((4, 96), 7.0))
    assert torch.equal(written, rows)
    with pytest.raises(IndexError):
        tied.write([50], written[:1])
    one_hot = torch.eye(96)[5:6]
    assert torch.allclose(tied(one_hot)[0, ids], rows[:, 5], atol=1e-5)


@pytest.mark.parametrize("kind", ALLOWED)
def test_stacked_parts_are_one_matrix(kernel: NativeKernel, kind: Kind) -> None:
    weight, x = torch.randn(45, 64), torch.randn(1, 64)
    whole = Linear(weight, None, WeightFormat(kind, kernel=kernel))
    parts = Linear(weight.split((3, 20, 22)), None, WeightFormat(kind, kernel=kernel))
    assert torch.equal(whole(x), parts(x))
    assert whole.nbytes == parts.nbytes


def test_rows_of_zeros_and_of_very_different_size_are_kept(kernel: NativeKernel) -> None:
    weight = torch.randn(6, 64) * torch.tensor([1e-3, 0.0, 1.0, 10.0, 1e-1, 5.0])[:, None]
    rows = Linear(weight, None, WeightFormat("int8", kernel=kernel)).rows(torch.arange(6))
    assert torch.equal(rows[1], torch.zeros(64))
    assert ((rows - weight).abs().amax(1) <= weight.abs().amax(1) / 100).all()


def test_head_and_tables_follow_unless_told_otherwise(kernel: NativeKernel) -> None:
    held = WeightFormat("int4", kernel=kernel, head="int8", table="int8")
    assert [held.for_head.kind, held.for_table.kind, held.exact.kind] == ["int8", "int8", "f32"]
    assert held.for_head.arena is held.arena
    plain = WeightFormat("int8", kernel=kernel)
    assert [plain.for_head.kind, plain.for_table.kind, WeightKinds().for_table.kind] == ["int8", "bf16", "f32"]
