"""What native/pack.c does, in torch and in the same order of operations, so that its bits can be demanded."""

from __future__ import annotations

import math

import torch
from torch import Tensor

SHARES = (1.0, 0.92, 0.84, 0.76)
REFITS = 2


def fitted(weight: Tensor, bits: int, group: int) -> tuple[Tensor, Tensor, Tensor, float]:
    """Codes [rows, groups, group], scale and offset [rows, groups] float16, and the unit of a matrix [rows, cols]."""
    rows, cols = weight.shape
    peak = float(weight.float().abs().amax())
    unit = 2.0 ** max(math.ceil(math.log2(peak)) - 12, -126) if peak > 0 else 1.0
    w = weight.float() * torch.tensor(1.0 / unit)
    if missing := -cols % group:  # the last group repeats itself
        last = w[:, cols - cols % group :]
        repeated = last.repeat(1, -(-group // last.shape[1]))[:, last.shape[1] : group]
        w = torch.cat((w, repeated), 1)
        assert repeated.shape[1] == missing
    w = w.reshape(-1, group)
    scale, offset = _line(w, float(2**bits - 1), search=bits == 4)
    codes = _codes(w, scale, offset, float(2**bits - 1)).reshape(rows, -1, group)
    codes.view(rows, -1)[:, cols:] = 0
    return codes.to(torch.uint8), scale.reshape(rows, -1), offset.reshape(rows, -1), unit


def decoded(codes: Tensor, scale: Tensor, offset: Tensor, unit: float, cols: int) -> Tensor:
    """The weights [rows, cols] float32."""
    grouped = scale.float()[:, :, None] * codes.float() + offset.float()[:, :, None]
    return (torch.tensor(unit) * grouped).flatten(1)[:, :cols]


def _total(lanes: Tensor) -> Tensor:
    """[N, 16] added as a tree."""
    half = 8
    while half:
        lanes = lanes[:, :half] + lanes[:, half : 2 * half]
        half //= 2
    return lanes


def _sum(values: Tensor) -> Tensor:
    """[N, group] to [N, 1], in 16 lanes."""
    lanes = torch.zeros(values.shape[0], 16)
    for part in values.split(16, 1):
        lanes = lanes + part
    return _total(lanes)


def _quantized(w: Tensor, offset: Tensor, inverse: Tensor, top: float) -> Tensor:
    return ((w - offset) * inverse).clamp(0, top).round()


def _codes(w: Tensor, scale: Tensor, offset: Tensor, top: float) -> Tensor:
    inverse = torch.where(scale != 0, 1 / scale.float(), 0.0)
    return _quantized(w, offset.float(), inverse, top)


def _line(w: Tensor, top: float, search: bool) -> tuple[Tensor, Tensor]:
    """Scale and offset [N, 1] float16."""
    n = float(w.shape[1])
    low, high = w.amin(1, keepdim=True), w.amax(1, keepdim=True)
    middle = 0.5 * (low + high)
    total = _sum(w - middle)
    scale = ((high - low) / top).half()
    flat = scale == 0
    offset = torch.where(flat, middle, low).half()
    if not search:
        return scale, offset
    best, slope, mean = torch.full_like(low, -1.0), torch.zeros_like(low), torch.zeros_like(low)
    trials = [(a, b) for a in SHARES for b in SHARES]
    for trial in range(len(trials) + REFITS):
        if trial < len(trials):
            a, b = trials[trial]
            start = middle - torch.tensor(a) * (middle - low)
            end = middle + torch.tensor(b) * (high - middle)
            inverse = torch.full_like(start, top) / (end - start)  # a plain number above would be a product
        else:
            start, inverse = offset.float(), 1.0 / scale.float()
        q = _quantized(w, start, inverse, top)
        codes, squares, products = _sum(q), _sum(q * q), _sum(q * (w - middle))
        spread, shared = squares - codes * codes / n, products - codes * total / n
        gain = torch.where(spread > 0, shared * shared / spread, 0.0)
        better = gain > best
        best = torch.where(better, gain, best)
        slope, mean = torch.where(better, shared / spread, slope), torch.where(better, codes / n, mean)
        if trial >= len(trials) - 1:
            new = (slope.half() != 0) & ~flat
            scale = torch.where(new, slope.half(), scale)
            offset = torch.where(new, (middle + (total / n - scale.float() * mean)).half(), offset)
    return scale, offset
