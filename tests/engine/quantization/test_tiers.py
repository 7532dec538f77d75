"""Every tier gets the scale and offset that suit its own codes best."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from engine.quantization.exact import refit
from tests.engine.quantization.reference import QuantizedMatrix, quantize_matrix


def decoded(q: QuantizedMatrix, tier: int, group: int) -> Tensor:
    codes = (q.codes >> (max(q.fits) - tier)).float()
    expand = [
        t.float().repeat_interleave(group, 1)[:, : codes.shape[1]] for t in (q.fits[tier].scale, q.fits[tier].offset)
    ]
    return q.unit * (expand[0] * codes + expand[1])


def relative(w: Tensor, q: Tensor) -> float:
    return float((w - q).norm() / w.norm())


@pytest.mark.parametrize(
    ("tiers", "bounds"), [((2, 4, 8), {2: 0.357, 4: 0.0875, 8: 0.0053}), ((2, 4), {2: 0.357, 4: 0.0875})]
)
def test_errors_on_gaussian_weights(tiers: tuple[int, ...], bounds: dict[int, float]) -> None:
    torch.manual_seed(0)
    w = torch.randn(256, 512) * 0.02
    q = quantize_matrix(w, tiers, 64)
    for tier, bound in bounds.items():
        error = relative(w, decoded(q, tier, 64))
        assert error < bound
        assert error == pytest.approx((q.fits[tier].squared_error / q.squared_norm) ** 0.5, rel=1e-4)


def test_nesting_beats_independent_two_bit_hqq() -> None:
    from tests.engine.quantization import hqq_reference as hqq

    torch.manual_seed(0)
    w = torch.randn(256, 512) * 0.02
    codes, step, zero = hqq.solve(w.reshape(-1, 64), 2)
    independent = relative(w, (step * (codes - zero)).reshape(w.shape))
    assert relative(w, decoded(quantize_matrix(w, (2, 4, 8), 64), 2, 64)) < 0.85 * independent


def test_decoded_groups_have_the_mean_and_the_spread_of_the_original() -> None:
    torch.manual_seed(1)
    w = torch.randn(40, 64)
    codes = (w * 1.2 + 1.5).round().clamp(0, 3)
    scale, offset = refit(w, codes)
    decoded = scale.float() * codes + offset.float()
    assert torch.allclose(decoded.mean(1), w.mean(1), atol=1e-3)
    assert torch.allclose(decoded.std(1), w.std(1), rtol=2e-3)


def test_outputs_are_not_shrunk_as_least_squares_would_shrink_them() -> None:
    torch.manual_seed(0)
    w = torch.randn(256, 512) * 0.02
    two_bits = decoded(quantize_matrix(w, (2, 4, 8), 64), 2, 64)
    kept = float((two_bits.square().sum() / w.square().sum()).sqrt())
    assert kept == pytest.approx(1, abs=0.005)


@pytest.mark.parametrize("magnitude", [1e-38, 1e-12, 1.0, 1e12, 1e37])
def test_any_magnitude_fits_float16_scales(magnitude: float) -> None:
    torch.manual_seed(0)
    w = torch.randn(32, 64) * magnitude
    q = quantize_matrix(w, (2, 4, 8), 64)
    assert relative(w / magnitude, decoded(q, 8, 64) / magnitude) < 0.006


def test_groups_of_very_different_size_in_one_matrix() -> None:
    torch.manual_seed(0)
    w = torch.randn(16, 128)
    w[:, 64:] *= 1e-5
    q = decoded(quantize_matrix(w, (2, 4, 8), 64), 8, 64)
    assert relative(w[:, 64:], q[:, 64:]) < 0.02


@pytest.mark.parametrize("cols", [64, 80, 100, 7])
def test_a_narrow_last_group_is_a_group_of_its_own(cols: int) -> None:
    torch.manual_seed(0)
    w = torch.randn(20, cols)
    q = quantize_matrix(w, (2, 4, 8), 64)
    assert q.fits[2].scale.shape == (20, -(-cols // 64))
    assert relative(w, decoded(q, 8, 64)) < 0.006


def test_zeros_and_constants_are_exact() -> None:
    for w in (torch.zeros(16, 64), torch.full((16, 64), 0.75)):
        assert torch.equal(decoded(quantize_matrix(w, (2, 4, 8), 64), 2, 64), w)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float64])
def test_other_types_give_what_their_float32_values_give(dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    w = torch.randn(32, 64).to(dtype)
    assert torch.equal(quantize_matrix(w, (2, 4), 64).codes, quantize_matrix(w.float(), (2, 4), 64).codes)


def test_a_transposed_view_is_quantized_like_its_copy() -> None:
    torch.manual_seed(0)
    w = torch.randn(64, 48).T
    assert torch.equal(quantize_matrix(w, (2, 4), 64).codes, quantize_matrix(w.contiguous(), (2, 4), 64).codes)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_numbers_that_are_not_finite_are_refused(value: float) -> None:
    w = torch.zeros(16, 64)
    w[3, 5] = value
    with pytest.raises(ValueError, match="finite"):
        quantize_matrix(w, (2, 4), 64)


def test_threads_change_nothing() -> None:
    torch.manual_seed(0)
    w = torch.randn(512, 512)
    before = torch.get_num_threads()
    results = []
    for threads in (1, 4):
        torch.set_num_threads(threads)
        results.append(quantize_matrix(w, (2, 4, 8), 64))
    torch.set_num_threads(before)
    assert torch.equal(results[0].codes, results[1].codes)
    assert all(torch.equal(results[0].fits[t].offset, results[1].fits[t].offset) for t in (2, 4, 8))
    assert all(results[0].fits[t].squared_error == results[1].fits[t].squared_error for t in (2, 4, 8))
