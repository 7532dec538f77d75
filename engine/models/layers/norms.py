"""Norms over the last dimension, in float32."""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from engine.kernels.scratch_pool import SCRATCH
from engine.models.layers.weights import CheckpointWeights, vector
from engine.models.spec import NormKind, NormSpec


def rms(x: Tensor, eps: Tensor, scale: Tensor | None = None) -> Tensor:
    """x / sqrt(mean(x^2) + eps) * scale, over the last dimension of x float32. eps: a scalar tensor.

    torch.rms_norm does the same in twice as many steps on the CPU, and there are four of these in a layer.
    """
    length = torch.linalg.vector_norm(x, dim=-1, keepdim=True)
    factor = torch.addcmul(eps, length, length, value=1 / x.shape[-1]).rsqrt_()
    normed = torch.mul(x, factor, out=SCRATCH.like(x, *x.shape))
    return normed if scale is None else normed.mul_(scale)


def rms_scale(weights: CheckpointWeights, name: str, kind: NormKind) -> Tensor:
    """What an RMS norm multiplies by: w, or 1 + w."""
    scale = vector(weights, f"{name}.weight")
    return scale + 1 if kind == "rms_plus_one" else scale


@dataclass(frozen=True, eq=False)
class Norm:
    """The norm of a spec as a function of x [..., dim] float32; without a kind it returns its input as it is.

    width: dim. scale, bias: [dim] float32, what the result is multiplied by (1 + w already added up) and what is added.
    """

    kind: NormKind | None
    width: int
    eps: float = 0.0
    scale: Tensor | None = None
    bias: Tensor | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "_eps", torch.tensor(self.eps))

    def __call__(self, x: Tensor) -> Tensor:
        if self.kind is None:
            return x
        if self.kind == "layer":
            return F.layer_norm(x, (self.width,), self.scale, self.bias, self.eps)
        return rms(x, self._eps, self.scale)  # type: ignore[attr-defined]


def build_norm(spec: NormSpec | None, weights: CheckpointWeights, dim: int) -> Norm:
    """The norm of a spec; None leaves things as they are."""
    if spec is None:
        return Norm(None, dim)
    if spec.kind == "layer":
        weight, bias = vector(weights, f"{spec.name}.weight"), vector(weights, f"{spec.name}.bias")
        return Norm("layer", dim, spec.eps, weight, bias)
    return Norm(spec.kind, dim, spec.eps, None if spec.name is None else rms_scale(weights, spec.name, spec.kind))
