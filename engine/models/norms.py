"""Norms over the last dimension, in float32."""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

from engine.models.spec import NormKind, NormSpec
from engine.models.weights import Weights, vector

Norm = Callable[[Tensor], Tensor]


def rms(x: Tensor, eps: Tensor, scale: Tensor | None = None) -> Tensor:
    """x / sqrt(mean(x^2) + eps) * scale, over the last dimension of x float32. eps: a scalar tensor.

    torch.rms_norm does the same in twice as many steps on the CPU, and there are four of these in a layer.
    """
    length = torch.linalg.vector_norm(x, dim=-1, keepdim=True)
    normed = x * torch.addcmul(eps, length, length, value=1 / x.shape[-1]).rsqrt_()
    return normed if scale is None else normed.mul_(scale)


def rms_scale(weights: Weights, name: str, kind: NormKind) -> Tensor:
    """What an RMS norm multiplies by: w, or 1 + w."""
    scale = vector(weights, f"{name}.weight")
    return scale + 1 if kind == "rms_plus_one" else scale


def build_norm(spec: NormSpec | None, weights: Weights, dim: int) -> Norm:
    """The norm of a spec as a function of x [..., dim] float32; None returns its input as it is."""
    if spec is None:
        return _same
    if spec.kind == "layer":
        weight, bias = vector(weights, f"{spec.name}.weight"), vector(weights, f"{spec.name}.bias")
        width, layer_eps = (dim,), spec.eps
        return lambda x: F.layer_norm(x, width, weight, bias, layer_eps)
    scale = None if spec.name is None else rms_scale(weights, spec.name, spec.kind)
    eps = torch.tensor(spec.eps)
    return lambda x: rms(x, eps, scale)


def _same(x: Tensor) -> Tensor:
    return x
