"""Muon: momentum whose direction is orthogonalized by Newton-Schulz steps; for [m, n] or stacked [e, m, n] matrices."""

from __future__ import annotations

import math
from collections.abc import Iterable

import torch
from torch import Tensor, nn

# Quintic iteration of Jordan et al. 2024: pushes all singular values towards 1 in five steps.
_A, _B, _C = 3.4445, -4.7750, 2.0315
_STEPS = 5


def orthogonalize(g: Tensor) -> Tensor:
    """[e, m, n] -> the same shape, singular values near 1, in bfloat16."""
    x = g.bfloat16()
    tall = x.shape[-2] > x.shape[-1]
    if tall:
        x = x.transpose(-1, -2)
    x = x / (x.float().norm(dim=(-2, -1), keepdim=True) + 1e-7).bfloat16()
    for _ in range(_STEPS):
        gram = x @ x.transpose(-1, -2)
        x = _A * x + (_B * gram + _C * (gram @ gram)) @ x
    return x.transpose(-1, -2) if tall else x


class Muon:
    """`fused` names parameters that hold two matrices side by side (gate and up), orthogonalized each for itself."""

    def __init__(self, params: Iterable[nn.Parameter], fused: Iterable[nn.Parameter], momentum: float = 0.95) -> None:
        self.params = list(params)
        self.fused = {id(p) for p in fused}
        self.momentum = momentum
        self.buffers = [torch.zeros_like(p) for p in self.params]

    @torch.no_grad()
    def step(self, lr: float, decay: float = 0.05) -> None:
        for p, buffer in zip(self.params, self.buffers, strict=True):
            assert p.grad is not None
            buffer.lerp_(p.grad, 1 - self.momentum)
            g = p.grad.lerp(buffer, self.momentum)
            stacked = g if g.ndim == 3 else g[None]
            parts = stacked.chunk(2, -1) if id(p) in self.fused else (stacked,)
            # 0.2 sqrt(max side) gives the update the size of a typical AdamW step (Liu et al. 2025).
            steps = [orthogonalize(x).float() * (0.2 * math.sqrt(max(x.shape[-2:]))) for x in parts]
            p.mul_(1 - lr * decay).sub_(torch.cat(steps, -1).view_as(p), alpha=lr)
            p.grad = None
