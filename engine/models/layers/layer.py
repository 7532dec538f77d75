"""One decoder layer: its mixer, its feed-forward and the norms around them; and what a mixer promises."""

from __future__ import annotations

from typing import Protocol

import torch
from torch import Tensor

from engine.experts.backend import ExpertPass
from engine.models.layers.feed_forward import PerLayerGate, build_feed_forward
from engine.models.layers.norms import build_norm
from engine.models.layers.position_range import PositionRange
from engine.models.layers.router import Router
from engine.models.layers.state import LayerState, RowsState
from engine.models.layers.streams import Streams
from engine.models.layers.weight_format import WeightFormat
from engine.models.layers.weights import CheckpointWeights, vector
from engine.models.spec import (
    AttentionSpec,
    CompressedSpec,
    DeltaNetSpec,
    KdaSpec,
    LayerSpec,
    Mamba2Spec,
    MixerSpec,
    MlaSpec,
)


class Layer:
    """One decoder layer: see LayerSpec for the formula."""

    def __init__(self, spec: LayerSpec, weights: CheckpointWeights, hidden: int, dense: WeightFormat) -> None:
        self.index = spec.index
        self.mixer = None if spec.mixer is None else build_mixer(spec.mixer, weights, hidden, dense)
        parts = (None if own is None else build_feed_forward(own, weights, hidden, dense, spec.index)
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

    def forward(
        self, x: Tensor, span: PositionRange, state: LayerState, inputs: Tensor | None = None
    ) -> ExpertPass[Tensor]:
        """x: [T, H] float32, the residual stream, written over. inputs: of this layer alone [T, dim]. Returns x.

        With several streams x is [T, n, H], and what is returned another.
        """
        if self.streams is not None:
            return (yield from self._in_streams(x, span, state, *self.streams))
        if self.mixer is not None:
            h = self.mixer.forward(self.before_mixer(x), span, state)
            x.add_(self.after_mixer(h), alpha=self.multiplier)
        if self.feed_forward is not None:
            given = self.before_mlp(x)
            if self.shortcut is not None:
                span.shortcut = yield from self.shortcut.forward(given, x)
            h = yield from self.feed_forward.forward(given, x, span.tokens)
            x.add_(self.after_mlp(h), alpha=self.multiplier)
        if self.lands:
            assert span.shortcut is not None, "a layer before this one has a shortcut"
            x.add_(span.shortcut)
        if self.per_layer is not None and inputs is not None:
            x.add_(self.per_layer(x, inputs))
        return x if self.scalar is None else x.mul_(self.scalar)

    def _in_streams(
        self, x: Tensor, span: PositionRange, state: LayerState, first: Streams, second: Streams
    ) -> ExpertPass[Tensor]:
        mixer, mlp = self.mixer, self.feed_forward
        assert mixer is not None
        assert mlp is not None
        taken, end = first.opened(x)
        taken, end = second.opened(end(mixer.forward(self.before_mixer(taken), span, state)))
        return end((yield from mlp.forward(self.before_mlp(taken), taken, span.tokens)))


class Mixer(Protocol):
    """Attention or whatever stands in its place."""

    def forward(self, x: Tensor, span: PositionRange, state: LayerState) -> Tensor:
        """Mix the tokens of `span`. x: [T, H] float32, normed. Returns [T, H] float32. Appends to `state`."""

    def new_state(self, kv_dtype: torch.dtype) -> LayerState:
        """Empty state of this layer for a new sequence. kv_dtype: of keys and values; recurrent states stay float32."""


def build_mixer(spec: MixerSpec, weights: CheckpointWeights, hidden: int, dense: WeightFormat) -> Mixer:
    """The mixer of a spec, its tensors read from `weights`. dense: how its linear layers are held.

    Modules are imported only when a model needs them.
    """
    if isinstance(spec, AttentionSpec):
        from engine.models.layers.attention import Attention

        return Attention(spec, weights, hidden, dense)
    if isinstance(spec, MlaSpec):
        from engine.models.layers.mla import Mla

        return Mla(spec, weights, hidden, dense)
    if isinstance(spec, DeltaNetSpec):
        from engine.models.layers.deltanet import DeltaNet

        return DeltaNet(spec, weights, hidden, dense)
    if isinstance(spec, Mamba2Spec):
        from engine.models.layers.mamba2 import Mamba2

        return Mamba2(spec, weights, hidden, dense)
    if isinstance(spec, KdaSpec):
        from engine.models.layers.deltanet import Kda

        return Kda(spec, weights, hidden, dense)
    if isinstance(spec, CompressedSpec):
        from engine.models.layers.compressed import Compressed

        return Compressed(spec, weights, hidden, dense)
    from engine.models.layers.conv import ShortConv

    return ShortConv(spec, weights, hidden, dense)
