"""Half-quadratic quantization: the integer codes of weight groups, by the objective and iteration of HQQ.

HQQ (Badri and Shaji, 2023) minimizes sum |w - w_q| ** p over the zero point, the scale fixed by the group's range:
it alternates a proximal shrink of the residual with a mean. Here everything is kept in code units, d = w / step +
zero - code, where one iteration is ``zero -= mean(d - shrink(d))``: six passes over a block that fits the cache.
The shrink is zero unless |d| exceeds a known threshold, so its power function runs only for the groups that need it.
"""

from __future__ import annotations

import torch
from torch import Tensor

from engine.kernels.encode import RULE

LP_NORM, BETA, KAPPA = RULE.lp_norm, RULE.beta, RULE.kappa
ITERATIONS, PATIENCE, FLAT = RULE.iterations, RULE.patience, RULE.flat


def solve(w: Tensor, bits: int, unit: float = 1.0) -> tuple[Tensor, Tensor, Tensor]:
    """Codes, step and zero point of every group: ``w ~ step * (code - zero)``.

    w: [N, group] float32, one group per row, in multiples of `unit` (the shrink depends on absolute size).
    Returns codes [N, group] float32 holding integers 0 .. 2**bits - 1, step [N, 1], zero [N, 1].
    """
    top = float(2**bits - 1)
    low, high = w.amin(dim=1, keepdim=True), w.amax(dim=1, keepdim=True)
    span = high - low
    inverse = torch.where(span > FLAT, top / span.clamp_min(FLAT), 1.0)
    scaled = w * inverse
    zero = _best_zero(scaled, -low * inverse, inverse / unit, top)
    codes = scaled.add_(zero).round_().clamp_(0.0, top)
    return codes, 1.0 / inverse, zero


def _best_zero(scaled: Tensor, zero: Tensor, inverse: Tensor, top: float) -> Tensor:
    """The zero point [N, 1] with the smallest L1 error that each group meets.

    A group leaves after PATIENCE steps that did not help it; so its outcome does not depend on the others.
    """
    best = zero.clone()
    best_error = torch.full_like(zero, torch.inf)
    patience = torch.full_like(zero, PATIENCE)
    rows: Tensor | None = None  # the groups still iterating, once some have left
    beta = BETA
    d, q = torch.empty_like(scaled), torch.empty_like(scaled)
    for _ in range(ITERATIONS + 1):  # the last round only judges the last step
        torch.add(scaled, zero, out=d)
        torch.round(d, out=q).clamp_(0.0, top)
        d.sub_(q)
        error = torch.abs(d, out=q).mean(dim=1, keepdim=True)
        better = (error < best_error) & (patience > 0)
        best = _put(best, rows, torch.where(better, zero, best if rows is None else best[rows]))
        best_error = torch.where(better, error, best_error)
        patience = patience - (~better).float()
        zero = zero - _step(d, q, inverse, beta)
        beta *= KAPPA
        keep = (patience > 0).squeeze(1).nonzero().squeeze(1)
        if len(keep) == 0:
            break
        if 2 * len(keep) < len(patience):  # copying the rest is cheaper than carrying those that have stopped
            rows = keep if rows is None else rows[keep]
            scaled, zero, inverse = scaled[keep], zero[keep], inverse[keep]
            best_error, patience = best_error[keep], patience[keep]
            d, q = torch.empty_like(scaled), torch.empty_like(scaled)
    return best


def _put(whole: Tensor, rows: Tensor | None, part: Tensor) -> Tensor:
    """`whole` with the given rows replaced."""
    return part if rows is None else whole.index_copy_(0, rows, part)


def _step(d: Tensor, magnitude: Tensor, inverse: Tensor, beta: float) -> Tensor:
    """mean(d - shrink(d)) [N, 1], where shrink(d) = sign(d) max(|d| - inverse ** (2 - p) / beta |d| ** (p - 1), 0).

    magnitude: |d|, overwritten. With x = d / inverse this is HQQ's shrink |x| - |x| ** (p - 1) / beta.
    """
    step = d.mean(dim=1, keepdim=True)
    threshold = inverse * beta ** (-1.0 / (2.0 - LP_NORM))
    over = (magnitude.amax(dim=1, keepdim=True) > threshold).squeeze(1).nonzero().squeeze(1)
    if len(over) == 0:
        return step
    few = 2 * len(over) < len(d)
    if few:
        d, magnitude, inverse = d[over], magnitude[over], inverse[over]
    pull = inverse ** (2.0 - LP_NORM) / beta
    shrunk = magnitude.pow(LP_NORM - 1.0).mul_(pull).neg_().add_(magnitude).clamp_min_(0.0)
    mean = torch.mul(shrunk, d.sign(), out=shrunk).mean(dim=1, keepdim=True)
    return step.index_add_(0, over, mean, alpha=-1.0) if few else step - mean
