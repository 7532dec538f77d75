"""Norms against float64."""

from __future__ import annotations

import pytest
import torch

from engine.models.layers.norms import build_norm, rms
from engine.models.spec import NormKind, NormSpec
from tests.engine.models.layers.test_weights import Tensors


@pytest.mark.parametrize("shape", [(1, 48), (7, 48), (5, 3, 16)])
@pytest.mark.parametrize("size", [1e-4, 1.0, 1e4])
def test_rms(shape: tuple[int, ...], size: float) -> None:
    torch.manual_seed(0)
    x, scale = torch.randn(shape) * size, torch.randn(shape[-1])
    wanted = torch.rms_norm(x.double(), shape[-1:], scale.double(), 1e-6)
    assert torch.allclose(rms(x, torch.tensor(1e-6), scale).double(), wanted, atol=2e-6, rtol=2e-6)


def test_rms_of_zeros_is_zero() -> None:
    assert torch.equal(rms(torch.zeros(2, 8), torch.tensor(1e-6)), torch.zeros(2, 8))


@pytest.mark.parametrize("kind", ["rms", "rms_plus_one", "layer"])
def test_kinds_differ_in_what_they_scale_by(kind: NormKind) -> None:
    torch.manual_seed(1)
    x, weight, bias = torch.randn(4, 24), torch.randn(24), torch.randn(24)
    got = build_norm(NormSpec("n", 1e-3, kind), Tensors({"n.weight": weight, "n.bias": bias}), 24)(x)
    x64, w64 = x.double(), weight.double()
    if kind == "layer":
        spread = (x64.var(-1, unbiased=False, keepdim=True) + 1e-3).sqrt()
        wanted = (x64 - x64.mean(-1, keepdim=True)) / spread * w64 + bias.double()
    else:
        by = w64 + 1 if kind == "rms_plus_one" else w64
        wanted = x64 / (x64.pow(2).mean(-1, keepdim=True) + 1e-3).sqrt() * by
    assert torch.allclose(got.double(), wanted, atol=2e-6)


def test_no_scale_and_no_norm() -> None:
    x = torch.randn(3, 8)
    assert torch.allclose(build_norm(NormSpec(None, 1e-6), Tensors(), 8)(x).pow(2).mean(-1), torch.ones(3), atol=1e-4)
    assert build_norm(None, Tensors(), 8)(x) is x
