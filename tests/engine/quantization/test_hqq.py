"""Our HQQ against the hqq package itself."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from tests.engine.quantization import hqq_reference as hqq

GROUP = 64


def theirs(w: Tensor, bits: int) -> Tensor:
    quantizer: Any = pytest.importorskip("hqq.core.quantize").Quantizer
    codes, meta = quantizer.quantize(w, nbits=bits, group_size=GROUP, axis=1, device="cpu", bitpack=False)
    return ((codes.float() - meta["zero"]) * meta["scale"]).reshape(w.shape)


def ours(w: Tensor, bits: int) -> Tensor:
    codes, step, zero = hqq.solve(w.reshape(-1, GROUP), bits)
    assert torch.equal(codes, codes.round())
    assert codes.min() >= 0
    assert codes.max() <= 2**bits - 1
    return (step * (codes - zero)).reshape(w.shape)


def lp_error(w: Tensor, quantized: Tensor) -> float:
    return float((w - quantized).abs().pow(hqq.LP_NORM).mean())


def matrices() -> dict[str, Tensor]:
    torch.manual_seed(0)
    heavy = torch.distributions.StudentT(3.0).sample((256, 512))
    return {
        "gaussian": torch.randn(256, 512),
        "like trained weights": torch.randn(256, 512) * 0.02,
        "heavy-tailed": heavy * 0.02,
        "shifted": torch.randn(256, 512) * 0.1 + 3,
        "uniform": torch.rand(256, 512),
    }


@pytest.mark.parametrize("bits", [2, 4, 8])
@pytest.mark.parametrize("name", list(matrices()))
def test_the_error_is_not_larger_than_the_packages(name: str, bits: int) -> None:
    w = matrices()[name]
    assert lp_error(w, ours(w, bits)) <= lp_error(w, theirs(w, bits))


@pytest.mark.parametrize("bits", [2, 4])
def test_the_iteration_gains_over_rounding(bits: int, monkeypatch: pytest.MonkeyPatch) -> None:
    w = matrices()["gaussian"]
    optimized = lp_error(w, ours(w, bits))
    monkeypatch.setattr(hqq, "ITERATIONS", 0)
    assert optimized < 0.98 * lp_error(w, ours(w, bits))


def test_blocks_do_not_depend_on_each_other() -> None:
    w = matrices()["heavy-tailed"].reshape(-1, GROUP)
    whole = hqq.solve(w, 4)[0]
    parts = torch.cat([hqq.solve(block, 4)[0] for block in w.split(37)])
    assert torch.equal(whole, parts)


def test_the_unit_does_not_change_the_outcome() -> None:
    w = matrices()["gaussian"].reshape(-1, GROUP)
    codes = hqq.solve(w, 4)[0]
    assert torch.equal(hqq.solve(w * 1024, 4, unit=1 / 1024)[0], codes)


@pytest.mark.parametrize("value", [0.0, 1.0, -3e-20, 1e20])
def test_a_constant_group_is_exact(value: float) -> None:
    codes, step, zero = hqq.solve(torch.full((2, 16), value), 4)
    assert torch.equal(step * (codes - zero), torch.full((2, 16), value))
