"""What the routed experts of a family compute, read off transformers' own module of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from engine.errors import Kind, UnderhillError
from engine.hub.skeleton import ExpertsModule
from engine.kernels.activation import KINDS, Activation

PROBE = 64  # values tried to tell one activation from another


@dataclass(frozen=True)
class RoutedExperts:
    """What the backend must compute for one layer: down(act(gate x) * up x), or down(act(up x)) without a gate.

    hidden, intermediate: of the experts, whose input may be narrower than the model's hidden state.
    """

    count: int
    hidden: int
    intermediate: int
    activation: Activation
    has_gate: bool = True
    has_bias: bool = False


def routed_experts(found: ExpertsModule) -> RoutedExperts:
    """Read off an experts module; UnderhillError(UNSUPPORTED_MODEL) for an activation that is not known."""
    module = found.module
    hidden, intermediate = expert_sizes(module)
    return RoutedExperts(
        int(module.down_proj.shape[0]),
        hidden,
        intermediate,
        _activation(module),
        bool(module.has_gate),
        bool(module.has_bias),
    )


def expert_sizes(module: Any) -> tuple[int, int]:
    """(H, I) of an experts module, from the shape of its down projection."""
    _, rows, cols = module.down_proj.shape
    return (cols, rows) if module.is_transposed else (rows, cols)


def _activation(module: Any) -> Activation:
    """The activation that computes what the module computes, found by trying all that the kernels have."""
    gate, up = torch.randn(2, 1, PROBE, generator=torch.Generator().manual_seed(0)).mul_(12.0)
    if module.has_gate:
        together = torch.cat((gate, up), -1) if module.is_concatenated else torch.stack((gate, up), -1).flatten(-2)
        wanted = module._apply_gate(together)
    else:
        wanted = module.act_fn(up)
    alpha, limit = _number(module, "alpha", 1.702), _number(module, "limit", 7.0)
    for kind in KINDS:
        if kind == "clamped_swiglu" and not module.has_gate:
            continue
        found = Activation(kind, alpha, limit)
        computed = found.apply(gate if module.has_gate else None, up)
        if not wanted.is_meta and torch.allclose(computed, wanted, rtol=1e-4, atol=1e-4):
            return found
    raise UnderhillError(
        Kind.UNSUPPORTED_MODEL,
        f"The experts of this model use an activation that the kernels do not have ({_activation_name(module)}).",
        "Choose another model.",
    )


def _number(module: Any, name: str, default: float) -> float:
    found = getattr(module, name, getattr(module, f"swiglu_{name}", None))
    return default if found is None else float(found)


def _activation_name(module: Any) -> str:
    act = getattr(module, "act_fn", None)
    own = type(module)._apply_gate.__name__ != "_default_apply_gate"
    return f"the gate of {type(module).__name__}" if own or act is None else type(act).__name__
