"""Our experts inside transformers' modules: registered in its experts interface, they hand every call to the backend."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from engine.errors import Kind, UnderhillError
from engine.experts.backend import ExpertBackend
from engine.hub.mapping import expert_sizes
from engine.hub.skeleton import ExpertsModule, Skeleton

IMPLEMENTATION = "underhill"


def _clamped(gate: Tensor, up: Tensor, alpha: float, limit: float, **_: float) -> Tensor:
    gate, up = gate.clamp(max=limit), up.clamp(-limit, limit)
    return (up + 1) * gate * torch.sigmoid(alpha * gate)


def _limited(gate: Tensor, up: Tensor, limit: float, **_: float) -> Tensor:
    return F.silu(gate.clamp(max=limit)) * up.clamp(-limit, limit)


def _softcapped(gate: Tensor, up: Tensor, limit: float, up_limit: float, **_: float) -> Tensor:
    return limit * torch.tanh(gate / limit) * torch.sigmoid(gate) * up_limit * torch.tanh(up / up_limit)


# What experts do between their two products: of gate and up, or of up and ones where there is no gate.
ACTIVATIONS: dict[str, Callable[..., Tensor]] = {
    "silu": lambda gate, up, **_: F.silu(gate) * up,
    "gelu": lambda gate, up, **_: F.gelu(gate) * up,
    "gelu_tanh": lambda gate, up, **_: F.gelu(gate, approximate="tanh") * up,
    "relu": lambda gate, up, **_: F.relu(gate) * up,
    "relu2": lambda gate, up, **_: F.relu(gate).square() * up,
    "clamped_swiglu": _clamped,
    "limited_swiglu": _limited,
    "softcapped_swiglu": _softcapped,
}


@dataclass(frozen=True)
class RoutedExperts:
    """What the backend must compute for one layer: down(act(gate x) * up x), or down(act(up x)) without a gate.

    activation: 'silu', 'gelu', 'gelu_tanh', 'relu', 'relu2'; 'clamped_swiglu' (alpha, limit): gate <= limit,
    |up| <= limit, (up + 1) * gate * sigmoid(alpha * gate); 'limited_swiglu' (limit): the same limits, silu(gate) * up;
    'softcapped_swiglu' (limit, up_limit): cap(gate) * sigmoid(gate) * cap(up), cap(v) = c * tanh(v / c).
    """

    count: int
    hidden: int
    intermediate: int
    activation: str
    has_gate: bool = True
    has_bias: bool = False
    alpha: float = 1.702
    limit: float = 7.0
    up_limit: float = 7.0


def routed_experts(found: ExpertsModule) -> RoutedExperts:
    """Read off an experts module; UnderhillError(UNSUPPORTED_MODEL) for an activation that is not known."""
    module = found.module
    hidden, intermediate = expert_sizes(module)
    activation, numbers = _activation(module)
    return RoutedExperts(
        int(module.down_proj.shape[0]),  # type: ignore[union-attr]
        hidden,
        intermediate,
        activation,
        bool(module.has_gate),
        bool(module.has_bias),
        **numbers,
    )


def attach(skeleton: Skeleton, backend: ExpertBackend) -> None:
    """Route every experts module of the model to the backend."""
    from transformers.integrations.moe import ExpertsInterface

    ExpertsInterface.register(IMPLEMENTATION, run_experts)
    for found in skeleton.experts:
        found.module.underhill_layer = found.layer
        found.module.underhill_backend = backend
        # not set_experts_implementation: it reads the module's source, and does nothing where there is none (a frozen app)
        found.module.config._experts_implementation_internal = IMPLEMENTATION  # type: ignore[union-attr]


def run_experts(module: nn.Module, hidden_states: Tensor, top_k_index: Tensor, top_k_weights: Tensor) -> Tensor:
    """transformers' experts function: hidden_states [T, H], top_k_index and top_k_weights [T, K] -> [T, H]."""
    backend: ExpertBackend = module.underhill_backend  # type: ignore[assignment]
    layer: int = module.underhill_layer  # type: ignore[assignment]
    x, ids, weights = hidden_states.float(), top_k_index.to(torch.int64), top_k_weights.float()
    if not module.has_post_expert_norm:
        return backend.moe(layer, x, ids, weights).to(hidden_states.dtype)
    # a norm between expert and weight: fetch the experts' outputs one by one, and weigh them here
    tokens, k = ids.shape
    ones = torch.ones(tokens * k, 1)
    outputs = backend.moe(layer, x.repeat_interleave(k, 0), ids.reshape(-1, 1), ones)
    normed: Tensor = module.post_expert_norm(outputs)  # type: ignore[operator]
    return (normed.view(tokens, k, -1) * weights[..., None]).sum(1).to(hidden_states.dtype)


PROBE = 64  # values tried to tell one activation from another


def _activation(module: nn.Module) -> tuple[str, dict[str, float]]:
    """(kind, its numbers): the known activation that computes what the module computes, found by trying them all."""
    numbers = {field: value for field, paths in _NUMBERS.items() if (value := _number(module, paths)) is not None}
    numbers = {"alpha": 1.702, "limit": 7.0, "up_limit": 7.0, **numbers}
    gate, up = torch.randn(2, 1, PROBE, generator=torch.Generator().manual_seed(0)).mul_(12.0)
    if module.has_gate:
        together = torch.cat((gate, up), -1) if module.is_concatenated else torch.stack((gate, up), -1).flatten(-2)
        wanted = module._apply_gate(together)  # type: ignore[operator]
    else:
        gate, up = up, torch.ones_like(up)
        wanted = module.act_fn(gate)  # type: ignore[operator]
    for kind, formula in ACTIVATIONS.items():
        if not wanted.is_meta and torch.allclose(formula(gate, up, **numbers), wanted, rtol=1e-4, atol=1e-4):
            return kind, numbers
    raise UnderhillError(
        Kind.UNSUPPORTED_MODEL,
        "The experts of this model use an activation that Underhill does not have "
        f"({type(getattr(module, 'act_fn', module)).__name__}).",
        "Choose another model.",
    )


_NUMBERS = {
    "alpha": ("alpha", "swiglu_alpha"),
    "limit": ("limit", "swiglu_limit", "act_fn.gate_softcap.softcap"),
    "up_limit": ("act_fn.up_softcap.softcap",),
}


def _number(module: nn.Module, paths: tuple[str, ...]) -> float | None:
    for path in paths:
        found: object = module
        for name in path.split("."):
            found = getattr(found, name, None)
        if isinstance(found, int | float):
            return float(found)
    return None
