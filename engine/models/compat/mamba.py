"""Time steps of transformers' state-space layers, made the same for single tokens as for prompts."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from engine.convert.skeleton import Skeleton


def same_steps(skeleton: Skeleton) -> None:
    """Apply the least time step of a layer (`time_step_limit`) to single tokens too.

    transformers' modules bound softplus(dt + bias) from below in prompts and forget it for single tokens, so that an
    answer depends on how its tokens were fed (seen in Nemotron-H, transformers 5.23). The bound on dt itself, before
    the softplus, is the same: dt >= ln(exp(least) - 1) - bias. The last columns of in_proj are dt.
    """
    for module in skeleton.model.modules():
        limit = getattr(module, "time_step_limit", None)
        if limit is not None and float(limit[0]) > 0 and hasattr(module, "dt_bias") and hasattr(module, "in_proj"):
            least = math.log(math.expm1(float(limit[0])))
            module.in_proj.register_forward_hook(_bounded(module.dt_bias, least))


def _bounded(bias: Tensor, least: float) -> Any:
    def bound(_module: Any, _given: Any, projected: Tensor) -> Tensor:
        steps = projected[..., -len(bias) :]
        return torch.cat((projected[..., : -len(bias)], steps.maximum((least - bias).to(steps.dtype))), -1)

    return bound
