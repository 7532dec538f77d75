"""One decoder layer: its mixer, its feed-forward and the norms around them."""

from __future__ import annotations

import torch
from torch import Tensor

from engine.experts.backend import ExpertBackend
from engine.models.layers.feed_forward import build_feed_forward
from engine.models.layers.mixer import build_mixer
from engine.models.layers.norms import build_norm
from engine.models.layers.per_layer import PerLayerGate
from engine.models.layers.position_range import PositionRange
from engine.models.layers.router import Router
from engine.models.layers.state import LayerState, RowsState
from engine.models.layers.streams import Streams
from engine.models.layers.weight_format import WeightFormat
from engine.models.layers.weights import CheckpointWeights, vector
from engine.models.spec import LayerSpec


class Layer:
    """One decoder layer: see LayerSpec for the formula."""

    def __init__(
        self, spec: LayerSpec, weights: CheckpointWeights, hidden: int, dense: WeightFormat, experts: ExpertBackend
    ) -> None:
        self.index = spec.index
        self.mixer = None if spec.mixer is None else build_mixer(spec.mixer, weights, hidden, dense)
        parts = (None if own is None else build_feed_forward(own, weights, hidden, dense, spec.index, experts)
                 for own in (spec.mlp, spec.shortcut))  # fmt: skip
        self.feed_forward, self.shortcut = parts
        self.lands = spec.lands
        self.before_mixer = build_norm(spec.before_mixer, weights, hidden)
        self.before_mlp = build_norm(spec.before_mlp, weights, hidden)
        self.after_mixer = build_norm(spec.after_mixer, weights, hidden)
        self.after_mlp = build_norm(spec.after_mlp, weights, hidden)
        self.multiplier = spec.residual_multiplier
        self.per_layer = None if spec.per_layer is None else PerLayerGate(spec.per_layer, weights, hidden, dense)
        self.streams = None if spec.streams is None else tuple(Streams(own, weights) for own in spec.streams)
        self.scalar = None if spec.scalar is None else float(vector(weights, spec.scalar)[0])

    @property
    def router(self) -> Router | None:
        """Of its experts; None if it has none."""
        parts = (self.feed_forward, self.shortcut)
        return next((part.router for part in parts if part is not None and part.router is not None), None)

    def new_state(self, kv_dtype: torch.dtype) -> LayerState:
        """What its mixer keeps of a sequence, empty."""
        return RowsState([], kv_dtype) if self.mixer is None else self.mixer.new_state(kv_dtype)

    def forward(self, x: Tensor, span: PositionRange, state: LayerState, inputs: Tensor | None = None) -> Tensor:
        """x: [T, H] float32, the residual stream, written over. inputs: of this layer alone [T, dim]. Returns x.

        With several streams x is [T, n, H], and what is returned another.
        """
        if self.streams is not None:
            return self._in_streams(x, span, state, *self.streams)
        if self.mixer is not None:
            h = self.mixer.forward(self.before_mixer(x), span, state)
            x.add_(self.after_mixer(h), alpha=self.multiplier)
        if self.feed_forward is not None:
            given = self.before_mlp(x)
            if self.shortcut is not None:
                span.shortcut = self.shortcut.forward(given, x)
            h = self.feed_forward.forward(given, x, span.tokens)
            x.add_(self.after_mlp(h), alpha=self.multiplier)
        if self.lands:
            assert span.shortcut is not None, "a layer before this one has a shortcut"
            x.add_(span.shortcut)
        if self.per_layer is not None and inputs is not None:
            x.add_(self.per_layer(x, inputs))
        return x if self.scalar is None else x.mul_(self.scalar)

    def _in_streams(self, x: Tensor, span: PositionRange, state: LayerState, first: Streams, second: Streams) -> Tensor:
        mixer, mlp = self.mixer, self.feed_forward
        assert mixer is not None
        assert mlp is not None
        x = first.around(x, lambda taken: mixer.forward(self.before_mixer(taken), span, state))
        return second.around(x, lambda taken: mlp.forward(self.before_mlp(taken), taken, span.tokens))
