"""Our experts inside transformers' modules: a function in its experts interface that hands calls to the backend."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from engine.convert.skeleton import Skeleton
from engine.experts.backend import ExpertBackend

IMPLEMENTATION = "underhill"


def attach(skeleton: Skeleton, backend: ExpertBackend) -> None:
    """Route every experts module of the model to the backend."""
    from transformers.integrations.moe import ExpertsInterface

    ExpertsInterface.register(IMPLEMENTATION, run_experts)
    for found in skeleton.experts:
        found.module.underhill_layer = found.layer
        found.module.underhill_backend = backend
        # not set_experts_implementation: it looks into source files, and silently does nothing in a frozen app
        found.module.config._experts_implementation_internal = IMPLEMENTATION


def run_experts(module: Any, hidden_states: Tensor, top_k_index: Tensor, top_k_weights: Tensor) -> Tensor:
    """transformers' experts function: hidden_states [T, H], top_k_index and top_k_weights [T, K] -> [T, H]."""
    backend: ExpertBackend = module.underhill_backend
    layer: int = module.underhill_layer
    x, ids, weights = hidden_states.float(), top_k_index.to(torch.int64), top_k_weights.float()
    if not module.has_post_expert_norm:
        return backend.moe(layer, x, ids, weights).to(hidden_states.dtype)
    # a norm between expert and weight: fetch the experts' outputs one by one, and weigh them here
    tokens, k = ids.shape
    ones = torch.ones(tokens * k, 1)
    outputs = backend.moe(layer, x.repeat_interleave(k, 0), ids.reshape(-1, 1), ones)
    normed: Tensor = module.post_expert_norm(outputs)
    return (normed.view(tokens, k, -1) * weights[..., None]).sum(1).to(hidden_states.dtype)
