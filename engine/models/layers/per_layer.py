"""Gemma 4's per-layer inputs: every layer gets a vector of its own for each token, from its id and its embedding."""

from __future__ import annotations

from torch import Tensor

from engine.models.layers.feed_forward import gated
from engine.models.layers.norms import build_norm
from engine.models.layers.weight_format import WeightFormat
from engine.models.layers.weights import CheckpointWeights, load_linear, looked_up
from engine.models.spec import PerLayerGateSpec, PerLayerInputsSpec


class PerLayerInputs:
    """Made once per token, before the first layer."""

    def __init__(self, spec: PerLayerInputsSpec, weights: CheckpointWeights, hidden: int, dense: WeightFormat) -> None:
        self._dim, self._scale = spec.dim, hidden**-0.5
        # rows that are only looked up; one scale for the shares of all layers, as torch's int8 has, would be too coarse
        self._table = looked_up(weights, f"{spec.embedding}.weight", dense)
        self._projection = load_linear(weights, spec.projection, dense=dense)
        self._norm = build_norm(spec.norm, weights, spec.dim)

    def __call__(self, ids: Tensor, x: Tensor) -> tuple[Tensor, ...]:
        """ids: [T]. x: [T, H], their embeddings. Returns for every layer its inputs [T, dim]."""
        by_id = self._table.rows(ids).unflatten(1, (-1, self._dim)) * self._dim**0.5
        by_context = self._norm((self._projection(x) * self._scale).unflatten(1, (-1, self._dim)))
        return ((by_context + by_id) * 2**-0.5).unbind(1)


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
