"""The gated short convolution of LFM2, a token mixer that sees only the last few tokens."""

from __future__ import annotations

import torch
from torch import Tensor

from engine.models.layers.conv import causal_conv
from engine.models.layers.position_range import PositionRange
from engine.models.layers.state import LayerState, RecurrentState
from engine.models.layers.weight_format import WeightFormat
from engine.models.layers.weights import CheckpointWeights, fetch, load_linear, vector
from engine.models.spec import ShortConvSpec


class ShortConv:
    """The token mixer of one layer. Its state: the convolution's last kernel - 1 inputs."""

    def __init__(self, spec: ShortConvSpec, weights: CheckpointWeights, hidden: int, dense: WeightFormat) -> None:
        self.spec = spec
        self.project = load_linear(weights, f"{spec.prefix}.in_proj", dense=dense, bias=spec.bias)
        self.taps = fetch(weights, f"{spec.prefix}.conv.weight").float().squeeze(1).T.contiguous()
        self.bias = vector(weights, f"{spec.prefix}.conv.bias") if spec.bias else None
        self.out = load_linear(weights, f"{spec.prefix}.out_proj", dense=dense, bias=spec.bias)

    def new_state(self, kv_dtype: torch.dtype) -> RecurrentState:
        """Empty state, always float32: [kernel - 1, hidden]."""
        return RecurrentState([(self.spec.kernel - 1, self.spec.hidden)])

    def forward(self, x: Tensor, span: PositionRange, state: LayerState) -> Tensor:
        """x: [T, H] float32, normed. Returns [T, H] float32; `state` moves on by T tokens."""
        assert isinstance(state, RecurrentState)
        before, after, value = self.project(x).chunk(3, dim=1)
        return self.out(causal_conv(before * value, state.tensors[0], self.taps, self.bias).mul_(after))
