"""Coarser codes are the top bits of finer ones; every tier gets the scale and offset that suit its own codes."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from engine.kernels.encode import NotFinite
from engine.quantization import hqq

BLOCK = 32767  # weights per block: they fit the cache, and torch does not split so few over threads
LARGEST = 12  # weights are scaled to at most 2**LARGEST, so that float16 holds steps a millionth of the largest offset


@dataclass(frozen=True)
class TierFit:
    """What decodes the codes of one tier: ``w = unit * (scale * code + offset)``.

    scale, offset: [rows, groups] float16. squared_error: sum of (w - decoded) ** 2 over the matrix.
    """

    scale: Tensor
    offset: Tensor
    squared_error: float


@dataclass(frozen=True)
class QuantizedMatrix:
    """One matrix as codes [rows, cols] uint8 of the top tier, and a Fit per tier. squared_norm: sum of w ** 2."""

    codes: Tensor
    unit: float
    fits: dict[int, TierFit]
    squared_norm: float


def quantize_matrix(w: Tensor, tiers: tuple[int, ...], group: int) -> QuantizedMatrix:
    """Quantize w [rows, cols] in groups of `group` columns; the last group of a row may be narrower.

    tiers: bits per code, coarse first; the last is that of the stored codes. Raises NotFinite.
    """
    rows, cols = w.shape
    low, high = torch.aminmax(w)
    peak = max(-float(low), float(high))
    if not (math.isfinite(low) and math.isfinite(high)):
        raise NotFinite("not finite")
    unit = 2.0 ** max(math.ceil(math.log2(peak)) - LARGEST, -126) if peak > 0 else 1.0
    groups = -(-cols // group)
    codes = torch.empty(rows, cols, dtype=torch.uint8)
    scales = {t: torch.empty(rows, groups, dtype=torch.float16) for t in tiers}
    offsets = {t: torch.empty(rows, groups, dtype=torch.float16) for t in tiers}
    errors = dict.fromkeys(tiers, 0.0)
    norm = 0.0
    whole = cols - cols % group
    for left, right, width in ((0, whole, group), (whole, cols, cols - whole)):
        if left == right:
            continue
        first, count = left // group, (right - left) // width
        step = max(1, BLOCK // (right - left))
        for top in range(0, rows, step):
            band = slice(top, min(top + step, rows))
            block = w[band, left:right].to(torch.float32, copy=True).div_(unit).reshape(-1, width)
            q, _, _ = hqq.solve(block, tiers[-1], unit)
            finest = refit(block, q)
            q = nearest(block, q, *finest, tiers[-1])
            codes[band, left:right] = q.reshape(-1, right - left)
            norm += float(block.square().sum(dtype=torch.float64))
            for tier in tiers:
                coarse = q if tier == tiers[-1] else (q * 0.5 ** (tiers[-1] - tier)).floor_()
                scale, offset = finest if tier == tiers[-1] else refit(block, coarse)
                scales[tier][band, first : first + count] = scale.reshape(-1, count)
                offsets[tier][band, first : first + count] = offset.reshape(-1, count)
                residual = torch.addcmul(offset.float(), coarse, scale.float()).sub_(block)
                errors[tier] += float(residual.square_().sum(dtype=torch.float64))
    fits = {t: TierFit(scales[t], offsets[t], errors[t] * unit * unit) for t in tiers}
    return QuantizedMatrix(codes, unit, fits, norm * unit * unit)


def refit(w: Tensor, codes: Tensor) -> tuple[Tensor, Tensor]:
    """Scale and offset [N, 1] float16 with which decoded groups have the mean and the spread of the original ones.

    w, codes: [N, group] float32. Least squares would give the same but for a factor: the correlation r of weights and
    codes, by which it shrinks what it cannot explain. At two bits that makes every expert's output some 6 % too small;
    dividing by r costs 1 % of weight error and saves a fifth of the divergence (docs/quantization.md). A group with
    one code gets scale 0, and every offset is fitted to its rounded scale.
    """
    mean_w, mean_code = w.mean(dim=1, keepdim=True), codes.mean(dim=1, keepdim=True)
    spread_w = (w - mean_w).square_().mean(dim=1, keepdim=True)
    spread_code = (codes - mean_code).square_().mean(dim=1, keepdim=True)
    scale = torch.where(spread_code > 0, (spread_w / spread_code.clamp_min(1e-6)).sqrt_(), 0.0).to(torch.float16)
    return scale, torch.addcmul(mean_w, scale.float(), mean_code, value=-1.0).to(torch.float16)


def nearest(w: Tensor, codes: Tensor, scale: Tensor, offset: Tensor, bits: int) -> Tensor:
    """The codes that decode nearest to w [N, group], with scale and offset [N, 1] as they are stored.

    No weight is farther off than with other codes, whatever the norm: this makes good what rounding scale and offset to
    float16 lost. A group with scale 0 keeps its codes.
    """
    inverse = torch.where(scale > 0, 1.0 / scale.float(), 0.0)
    found = (w - offset.float()).mul_(inverse).clamp_(0.0, float(2**bits - 1)).round_()
    return torch.where(scale > 0, found, codes)
