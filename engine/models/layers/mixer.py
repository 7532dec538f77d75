"""The token mixer of a layer: what it promises, and who builds which."""

from __future__ import annotations

from typing import Protocol

import torch
from torch import Tensor

from engine.models.layers.position_range import PositionRange
from engine.models.layers.state import LayerState
from engine.models.layers.weight_format import WeightFormat
from engine.models.layers.weights import CheckpointWeights
from engine.models.spec import AttentionSpec, CompressedSpec, DeltaNetSpec, KdaSpec, Mamba2Spec, MixerSpec, MlaSpec


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
