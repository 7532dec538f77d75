"""What the routed experts of a family compute, read off transformers' own module of them."""

from __future__ import annotations

from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import torch

from engine.convert.skeleton import ExpertsModule
from engine.errors import Kind, UnderhillError
from engine.kernels.activation import KINDS, SWIGLU_KINDS, Activation
from engine.translatable import msg

PROBE = 256  # values tried to tell one activation from another

# The numbers of an activation, and where the modules keep them.
_NUMBERS = {
    "alpha": ("alpha", "swiglu_alpha"),
    "limit": ("limit", "swiglu_limit", "act_fn.gate_softcap.softcap"),
    "up_limit": ("act_fn.up_softcap.softcap",),
}


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
    # From small values, where activations differ in their curve, to those beyond any limit that matters.
    gate, up = torch.randn(2, 1, PROBE, generator=torch.Generator().manual_seed(0)) * torch.logspace(-1, 4, PROBE)
    if module.has_gate:
        together = torch.cat((gate, up), -1) if module.is_concatenated else torch.stack((gate, up), -1).flatten(-2)
        wanted = module._apply_gate(together)
    else:
        wanted = module.act_fn(up)
    numbers = {name: value for name, paths in _NUMBERS.items() if (value := _number(module, paths)) is not None}
    for kind in KINDS:
        if kind in SWIGLU_KINDS and not module.has_gate:
            continue
        found = Activation(kind, **numbers)
        computed = found.apply(gate if module.has_gate else None, up)
        if not wanted.is_meta and torch.allclose(computed, wanted, rtol=1e-4, atol=1e-4):
            return found
    raise UnderhillError(
        Kind.UNSUPPORTED_MODEL,
        msg(
            "The experts of this model use an activation that the kernels do not have ({activation_name}).",
            activation_name=_activation_name(module),
        ),
        msg("Choose another model."),
    )


def _number(module: Any, paths: tuple[str, ...]) -> float | None:
    """What the first of these attributes says that is there and is not None."""
    for path in paths:
        try:
            found = attrgetter(path)(module)
        except AttributeError:
            continue
        if found is not None:
            return float(found)
    return None


def _activation_name(module: Any) -> str:
    act = getattr(module, "act_fn", None)
    own = type(module)._apply_gate.__name__ != "_default_apply_gate"
    return msg("the gate of {name}", name=type(module).__name__) if own or act is None else type(act).__name__
