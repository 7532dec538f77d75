"""Muon: momentum whose direction is orthogonalized by Newton-Schulz steps; for [m, n] or stacked [e, m, n] matrices."""

from __future__ import annotations

import math
from collections.abc import Iterable

import torch
from torch import Tensor, nn

from training.workers import ALONE, Workers

# Quintic iteration of Jordan et al. 2024: pushes all singular values towards 1 in five steps.
_A, _B, _C = 3.4445, -4.7750, 2.0315
_STEPS = 5


def orthogonalize(g: Tensor, compute: torch.dtype = torch.bfloat16) -> Tensor:
    """[e, m, n] -> the same shape, singular values near 1, in the type `compute`."""
    x = g.to(compute)
    tall = x.shape[-2] > x.shape[-1]
    if tall:
        x = x.transpose(-1, -2)
    x = x / (x.float().norm(dim=(-2, -1), keepdim=True) + 1e-7).to(compute)
    for _ in range(_STEPS):
        gram = x @ x.transpose(-1, -2)
        x = _A * x + (_B * gram + _C * (gram @ gram)) @ x
    return x.transpose(-1, -2) if tall else x


class Muon:
    """`fused` names parameters that hold two matrices side by side (gate and up), orthogonalized each for itself."""

    def __init__(
        self,
        params: Iterable[nn.Parameter],
        fused: Iterable[nn.Parameter],
        momentum: float = 0.95,
        compute: torch.dtype = torch.bfloat16,
        workers: Workers = ALONE,
    ) -> None:
        self.workers = workers
        self.compute = compute
        self.params = list(params)
        self.fused = {id(p) for p in fused}
        self.momentum = momentum
        self.buffers = [torch.zeros_like(p) for p in self.params]

    @torch.no_grad()
    def step(self, lr: float, decay: float = 0.05) -> None:
        updates = [self._update(i) for i in range(len(self.params))]
        for i, (p, update) in enumerate(zip(self.params, updates, strict=True)):
            self.workers.share(i, update)
            p.mul_(1 - lr * decay).sub_(update, alpha=lr)
            p.grad = None

    def _update(self, index: int) -> Tensor:
        """What is to be subtracted from one parameter at a rate of 1; unset where another process computes it."""
        p, buffer = self.params[index], self.buffers[index]
        assert p.grad is not None
        buffer.lerp_(p.grad, 1 - self.momentum)
        if not self.workers.mine(index):
            return torch.empty_like(p)
        g = p.grad.lerp(buffer, self.momentum)
        stacked = g if g.ndim == 3 else g[None]
        parts = stacked.chunk(2, -1) if id(p) in self.fused else (stacked,)
        # 0.2 sqrt(max side) gives the update the size of a typical AdamW step (Liu et al. 2025).
        steps = [orthogonalize(x, self.compute).float() * (0.2 * math.sqrt(max(x.shape[-2:]))) for x in parts]
        return torch.cat(steps, -1).view_as(p).contiguous()
