"""One decoder layer: its mixer, its feed-forward and the norms around them."""

from __future__ import annotations

from torch import Tensor

from engine.experts.backend import ExpertBackend
from engine.models.feed_forward import build_feed_forward
from engine.models.holding import Holding
from engine.models.mixer import build_mixer
from engine.models.norms import build_norm
from engine.models.per_layer import PerLayerGate
from engine.models.span import Span
from engine.models.spec import LayerSpec
from engine.models.state import LayerState
from engine.models.weights import Weights, vector


class Layer:
    """One decoder layer: see LayerSpec for the formula."""

    def __init__(self, spec: LayerSpec, weights: Weights, hidden: int, dense: Holding, experts: ExpertBackend) -> None:
        self.index = spec.index
        self.mixer = build_mixer(spec.mixer, weights, hidden, dense)
        self.feed_forward = build_feed_forward(spec.mlp, weights, hidden, dense, spec.index, experts)
        self.before_mixer = build_norm(spec.before_mixer, weights, hidden)
        self.before_mlp = build_norm(spec.before_mlp, weights, hidden)
        self.after_mixer = build_norm(spec.after_mixer, weights, hidden)
        self.after_mlp = build_norm(spec.after_mlp, weights, hidden)
        self.multiplier = spec.residual_multiplier
        self.per_layer = None if spec.per_layer is None else PerLayerGate(spec.per_layer, weights, hidden, dense)
        self.scalar = None if spec.scalar is None else float(vector(weights, spec.scalar)[0])

    def forward(self, x: Tensor, span: Span, state: LayerState, inputs: Tensor | None = None) -> Tensor:
        """x: [T, H] float32, the residual stream, written over. inputs: of this layer alone [T, dim]. Returns x."""
        h = self.mixer.forward(self.before_mixer(x), span, state)
        x.add_(self.after_mixer(h), alpha=self.multiplier)
        h = self.feed_forward.forward(self.before_mlp(x), x)
        x.add_(self.after_mlp(h), alpha=self.multiplier)
        if self.per_layer is not None and inputs is not None:
            x.add_(self.per_layer(x, inputs))
        return x if self.scalar is None else x.mul_(self.scalar)
