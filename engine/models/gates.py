"""A decoder's routers as predictors take them: each with the norms between the residual stream and what it reads."""

from __future__ import annotations

from typing import TypeGuard

import numpy as np
from torch import Tensor

from engine.experts.predictors.gates import Gate
from engine.experts.predictors.predictor import Floats
from engine.models.decoder import Decoder
from engine.models.layers.feed_forward import ParallelMlp
from engine.models.layers.layer import Layer
from engine.models.layers.router import Router


def has_gates(decoder: object) -> TypeGuard[Decoder]:
    """Whether its routers are known, and read what the experts are given."""
    return isinstance(decoder, Decoder) and all(moe.latent is None for moe in decoder.spec.moe_layers.values())


def gates_of(decoder: Decoder) -> list[Gate]:
    """One per layer with experts, in the order they run."""
    experts = {index: moe.experts.count for index, moe in decoder.spec.moe_layers.items()}
    found = ((layer, layer.router) for layer in decoder.layers)
    return [_gate(layer, router, experts[layer.index]) for layer, router in found if router is not None]


def _gate(layer: Layer, router: Router, experts: int) -> Gate:
    """experts: those that can be read; a router may know more (see MoeSpec)."""
    given = layer.feed_forward.before_moe if isinstance(layer.feed_forward, ParallelMlp) else layer.before_mlp
    own = router.spec.input_norm_eps is not None  # it norms the residual stream for itself
    return Gate(
        weight=np.ascontiguousarray(router.weight[:experts].numpy(), np.float32),
        bias=None if router.bias is None else _floats(router.bias[:experts]),
        scale=_floats(router.input_scale if own else given.scale),
        shift=None if own else _floats(given.bias),
        given_scale=_floats(given.scale),
        given_shift=_floats(given.bias),
        choice=_floats(router.choice_bias[:experts])
        if router.choice_bias is not None and router.spec.score == "sigmoid"
        else None,
    )


def _floats(tensor: Tensor | None) -> Floats | None:
    return None if tensor is None else np.ascontiguousarray(tensor.float().numpy(), np.float32)
