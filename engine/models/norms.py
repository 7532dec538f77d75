"""Norms over the last dimension, in float32."""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

from engine.models.spec import NormKind, NormSpec
from engine.models.weights import Weights, vector

Norm = Callable[[Tensor], Tensor]


def rms_scale(weights: Weights, name: str, kind: NormKind) -> Tensor:
    """What an RMS norm multiplies by: w, or 1 + w."""
    scale = vector(weights, f"{name}.weight")
    return scale + 1 if kind == "rms_plus_one" else scale


def build_norm(spec: NormSpec | None, weights: Weights, dim: int) -> Norm:
    """The norm of a spec as a function of x [..., dim] float32; None returns its input as it is."""
    if spec is None:
        return _same
    shape = (dim,)
    if spec.kind == "layer":
        if spec.name is None:
            raise ValueError("a LayerNorm has a weight and a bias")
        weight, bias = vector(weights, f"{spec.name}.weight"), vector(weights, f"{spec.name}.bias")
        return lambda x: F.layer_norm(x, shape, weight, bias, spec.eps)
    scale = None if spec.name is None else rms_scale(weights, spec.name, spec.kind)
    return lambda x: torch.rms_norm(x, shape, scale, spec.eps)


def _same(x: Tensor) -> Tensor:
    return x
