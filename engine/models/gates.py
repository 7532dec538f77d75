"""A decoder's routers as predictors take them: each with the norms between the residual stream and what it reads."""

from __future__ import annotations

import numpy as np
from torch import Tensor

from engine.experts.predictors.gates import Gate
from engine.experts.predictors.predictor import Floats
from engine.models.decoder import Decoder
from engine.models.feed_forward import ParallelMlp
from engine.models.layer import Layer
from engine.models.router import Router


def gates_of(decoder: Decoder) -> list[Gate]:
    """One per layer with experts, in the order they run."""
    found = ((layer, layer.feed_forward.router) for layer in decoder.layers)
    return [_gate(layer, router) for layer, router in found if router is not None]


def _gate(layer: Layer, router: Router) -> Gate:
    given = layer.feed_forward.before_moe if isinstance(layer.feed_forward, ParallelMlp) else layer.before_mlp
    own = router.spec.input_norm_eps is not None  # it norms the residual stream for itself
    return Gate(
        weight=np.ascontiguousarray(router.weight.numpy(), np.float32),
        bias=_floats(router.bias),
        scale=_floats(router.input_scale if own else given.scale),
        shift=None if own else _floats(given.bias),
        given_scale=_floats(given.scale),
        given_shift=_floats(given.bias),
        choice=_floats(router.choice_bias) if router.spec.score == "sigmoid" else None,
    )


def _floats(tensor: Tensor | None) -> Floats | None:
    return None if tensor is None else np.ascontiguousarray(tensor.float().numpy(), np.float32)
