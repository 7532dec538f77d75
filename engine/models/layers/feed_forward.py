"""What follows the mixer in a layer: a dense MLP, a MoE block, or both side by side; and Gemma 4's per-layer inputs."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Protocol

import torch
import torch.nn.functional as F
from torch import Tensor

from engine.experts.backend import ExpertCall, ExpertPass
from engine.models.layers.norms import build_norm
from engine.models.layers.router import Router
from engine.models.layers.weight_format import WeightFormat
from engine.models.layers.weights import CheckpointWeights, Linear, load_linear, looked_up
from engine.models.spec import (
    ActivationSpec,
    DenseMlpSpec,
    MlpSpec,
    MoeSpec,
    ParallelMlpSpec,
    PerLayerGateSpec,
    PerLayerInputsSpec,
)

_GATED: dict[str, Callable[[Tensor], Tensor]] = {
    "silu": F.silu,
    "gelu": F.gelu,
    "gelu_tanh": partial(F.gelu, approximate="tanh"),
    "relu": F.relu,
    "relu2": lambda x: F.relu(x).square(),
}


def gated(spec: ActivationSpec, gate: Tensor, up: Tensor) -> Tensor:
    """act(gate) * up."""
    if spec.kind == "clamped_swiglu":
        gate, up = gate.clamp(max=spec.limit), up.clamp(-spec.limit, spec.limit)
        return (up + 1) * gate * torch.sigmoid(spec.alpha * gate)
    if spec.kind == "limited_swiglu":
        return F.silu(gate.clamp(max=spec.limit)).mul_(up.clamp(-spec.limit, spec.limit))
    if spec.kind == "late_limited_swiglu":
        return F.silu(gate).clamp_(max=spec.limit).mul_(up.clamp(-spec.limit, spec.limit))
    return _GATED[spec.kind](gate).mul_(up)


class FeedForward(Protocol):
    """The second half of a layer. router: of its MoE block, None if it has none."""

    router: Router | None

    def forward(self, h: Tensor, residual: Tensor, tokens: Tensor | None = None) -> ExpertPass[Tensor]:
        """h: [T, H] float32, normed; residual: what it was normed from; tokens: their ids [T]. Returns [T, H]."""


class DenseMlp:
    """down(act(gate x) * up x), gate and up in one product."""

    def __init__(self, spec: DenseMlpSpec, weights: CheckpointWeights, dense: WeightFormat) -> None:
        self.router: Router | None = None
        self.activation = spec.activation
        self.gated = spec.gate is not None
        names = (spec.up,) if spec.fused or spec.gate is None else (spec.gate, spec.up)
        self.gate_up = load_linear(weights, *(f"{spec.prefix}.{n}" for n in names), dense=dense, bias=spec.bias)
        self.down: Linear = load_linear(weights, f"{spec.prefix}.{spec.down}", dense=dense, bias=spec.bias)

    def forward(self, h: Tensor, residual: Tensor, tokens: Tensor | None = None) -> ExpertPass[Tensor]:
        """As `product`: the residual is not looked at, and no experts are called."""
        yield from ()
        return self.product(h)

    def product(self, h: Tensor) -> Tensor:
        """h: [T, H] float32, normed. Returns [T, H]."""
        if not self.gated:
            return self.down(_GATED[self.activation.kind](self.gate_up(h)))
        gate, up = self.gate_up(h).chunk(2, -1)
        return self.down(gated(self.activation, gate, up))


class MoeBlock:
    """Router, routed experts in the backend, shared expert."""

    def __init__(
        self,
        spec: MoeSpec,
        weights: CheckpointWeights,
        hidden: int,
        dense: WeightFormat,
        layer: int,
    ) -> None:
        self.router: Router | None = Router(spec.router, weights, hidden)
        self._route = self.router
        self.layer = layer
        self.weigh_input = spec.weigh_input
        self.count = spec.experts.count
        self.passes = spec.router.experts > self.count  # some of what is chosen gives back its input
        self.latent = None
        if spec.latent is not None:
            own = spec.latent
            self.latent = tuple(load_linear(weights, n, dense=dense, bias=own.bias) for n in (own.down, own.up))
        self.shared = self.shared_gate = None
        if spec.shared is not None:
            self.shared = DenseMlp(spec.shared.mlp, weights, dense)
            if spec.shared.gate is not None:
                self.shared_gate = load_linear(weights, spec.shared.gate, dense=dense.exact)

    def forward(self, h: Tensor, residual: Tensor, tokens: Tensor | None = None) -> ExpertPass[Tensor]:
        """h: [T, H] float32, the input of experts and router; a router that norms for itself reads the residual."""
        ids, weights = self._route(h if self._route.spec.input_norm_eps is None else residual, tokens)
        given = h
        if self.weigh_input:
            given, weights = h * weights, torch.ones_like(weights)
        passed = None
        if self.passes:
            ids, weights, passed = _real(ids, weights, self.count)
        if self.latent is not None:
            given = self.latent[0](h)
        out = yield ExpertCall(self.layer, given, ids, weights)
        if self.latent is not None:
            out = self.latent[1](out)
        if passed is not None:
            out = torch.addcmul(out, h, passed)
        if self.shared is not None:
            shared = self.shared.product(h)
            out = out + (shared if self.shared_gate is None else shared * self.shared_gate(h).sigmoid())
        return out


def _real(ids: Tensor, weights: Tensor, count: int) -> tuple[Tensor, Tensor, Tensor]:
    """(ids, weights) [T, K] of experts below `count` alone, and what the others weigh together [T, 1].

    In the place of others stands an expert that the token has chosen anyway, which then weighs nothing, so that nothing
    is read for them.
    """
    real = ids < count
    first = torch.where(real, weights, float("-inf")).argmax(-1, keepdim=True)
    instead = ids.gather(1, first).clamp(max=count - 1)
    passed = weights.masked_fill(real, 0).sum(-1, keepdim=True)
    return torch.where(real, ids, instead), weights.masked_fill(~real, 0), passed


class ParallelMlp:
    """A dense MLP and a MoE block side by side (gemma4); the MoE half reads the residual."""

    def __init__(
        self,
        spec: ParallelMlpSpec,
        weights: CheckpointWeights,
        hidden: int,
        dense: WeightFormat,
        layer: int,
    ) -> None:
        self.moe = MoeBlock(spec.moe, weights, hidden, dense, layer)
        self.dense = DenseMlp(spec.dense, weights, dense)
        self.before_moe = build_norm(spec.before_moe, weights, hidden)
        self.after_dense = build_norm(spec.after_dense, weights, hidden)
        self.after_moe = build_norm(spec.after_moe, weights, hidden)
        self.router = self.moe.router

    def forward(self, h: Tensor, residual: Tensor, tokens: Tensor | None = None) -> ExpertPass[Tensor]:
        """h: [T, H] float32, normed."""
        moe = self.after_moe((yield from self.moe.forward(self.before_moe(residual), residual, tokens)))
        return moe + self.after_dense(self.dense.product(h))


def build_feed_forward(
    spec: MlpSpec, weights: CheckpointWeights, hidden: int, dense: WeightFormat, layer: int
) -> FeedForward:
    """The feed-forward of a spec. layer: the model's own index, which experts are called with."""
    if isinstance(spec, DenseMlpSpec):
        return DenseMlp(spec, weights, dense)
    block = MoeBlock if isinstance(spec, MoeSpec) else ParallelMlp
    return block(spec, weights, hidden, dense, layer)  # type: ignore[arg-type]


class PerLayerInputs:
    """Gemma 4's: every layer gets a vector of its own for each token, from its id and its embedding.

    Made once per token, before the first layer.
    """

    def __init__(self, spec: PerLayerInputsSpec, weights: CheckpointWeights, hidden: int, dense: WeightFormat) -> None:
        self.dim, self.scale = spec.dim, hidden**-0.5
        # rows that are only looked up; one scale for the shares of all layers, as torch's int8 has, would be too coarse
        self._table = looked_up(weights, f"{spec.embedding}.weight", dense)
        self.projection = load_linear(weights, spec.projection, dense=dense)
        self.norm = build_norm(spec.norm, weights, spec.dim)

    def __call__(self, ids: Tensor, x: Tensor) -> tuple[Tensor, ...]:
        """ids: [T]. x: [T, H], their embeddings. Returns for every layer its inputs [T, dim]."""
        by_context = self.norm((self.projection(x) * self.scale).unflatten(1, (-1, self.dim)))
        return ((by_context + self.by_id(ids).unflatten(1, (-1, self.dim))) * 2**-0.5).unbind(1)

    def by_id(self, ids: Tensor) -> Tensor:
        """What of all layers' inputs hangs on the ids [T] alone: [T, layers * dim]."""
        return self._table.rows(ids) * self.dim**0.5


class PerLayerGate:
    """What a layer makes of its inputs: norm(projection(act(gate x) * inputs))."""

    def __init__(self, spec: PerLayerGateSpec, weights: CheckpointWeights, hidden: int, dense: WeightFormat) -> None:
        self.activation = spec.activation
        self.gate = load_linear(weights, spec.gate, dense=dense)
        self.projection = load_linear(weights, spec.projection, dense=dense)
        self.norm = build_norm(spec.norm, weights, hidden)

    def __call__(self, x: Tensor, inputs: Tensor) -> Tensor:
        """x: [T, H], the residual stream. inputs: [T, dim]. Returns [T, H], to be added."""
        return self.norm(self.projection(gated(self.activation, self.gate(x), inputs)))
