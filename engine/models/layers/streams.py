"""Several residual streams instead of one: manifold-constrained hyper-connections (DeepSeek-V4, section 2.2)."""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

from engine.models.layers.norms import rms
from engine.models.layers.weights import CheckpointWeights, fetch
from engine.models.spec import StreamsSpec


class Streams:
    """What takes one input out of n streams x [T, n, H], and puts an output back beside a mix of them."""

    def __init__(self, spec: StreamsSpec, weights: CheckpointWeights) -> None:
        self.spec = spec
        self._fn, self._base, self._scale = (
            fetch(weights, f"{spec.prefix}_{name}").float() for name in ("fn", "base", "scale")
        )
        self._eps = torch.tensor(spec.norm_eps)

    def opened(self, x: Tensor) -> tuple[Tensor, Callable[[Tensor], Tensor]]:
        """The input, sum of pre * x, and what makes post * output + comb^T x of the output; all read off the streams.

        x and the end: [T, n, H]; input and output: [T, H].
        """
        n = self.spec.count
        pre, post, comb = self._read(x).split((n, n, n * n), 1)
        first, second, third = self._scale
        pre_base, post_base, comb_base = self._base.split((n, n, n * n))
        taken = self._taken(x, pre * first + pre_base)
        post = 2 * torch.sigmoid(post * second + post_base)
        comb = self._balanced((comb * third + comb_base).unflatten(1, (n, n)))
        return taken, lambda out: torch.baddbmm(post[..., None] * out[:, None], comb.transpose(1, 2), x)

    def head(self, x: Tensor) -> Tensor:
        """The one stream [T, H] that the last norm reads."""
        return self._taken(x, self._read(x) * self._scale + self._base)

    def _read(self, x: Tensor) -> Tensor:
        return F.linear(rms(x.flatten(1), self._eps), self._fn)

    def _taken(self, x: Tensor, logits: Tensor) -> Tensor:
        return torch.bmm((torch.sigmoid(logits) + self.spec.eps)[:, None], x)[:, 0]

    def _balanced(self, logits: Tensor) -> Tensor:
        """Rows and columns that sum to 1, nearly: Sinkhorn and Knopp. [T, n, n]"""
        eps = self.spec.eps
        comb = logits.softmax(-1) + eps
        comb = comb / (comb.sum(-2, keepdim=True) + eps)
        for _ in range(self.spec.rounds - 1):
            comb = comb / (comb.sum(-1, keepdim=True) + eps)
            comb = comb / (comb.sum(-2, keepdim=True) + eps)
        return comb
