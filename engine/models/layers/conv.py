"""Short causal depthwise convolutions, their history carried from call to call, and LFM2's token mixer made of one.

Of the mixer torch computes prompts of more than 16 tokens; the op graph the rest (engine/native/mixer_ops.py).
"""

from __future__ import annotations

import torch
from torch import Tensor

from engine.models.layers.position_range import PositionRange
from engine.models.layers.state import LayerState, RecurrentState
from engine.models.layers.weight_format import WeightFormat
from engine.models.layers.weights import CheckpointWeights, fetch, load_linear, vector
from engine.models.spec import ShortConvSpec


def causal_conv(x: Tensor, history: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Every channel convolved with its own kernel over the current and the K - 1 previous tokens.

    x: [T, C]. history: [K - 1, C], the inputs before x, oldest first; it is replaced in place by the last K - 1 inputs.
    weight: [K, C], the tap of the current token last. bias: [C]. Returns [T, C].
    """
    tokens = x.shape[0]
    rows = torch.cat((history, x))
    out = rows[:tokens] * weight[0]
    for tap in range(1, weight.shape[0]):
        out.addcmul_(rows[tap : tap + tokens], weight[tap])
    history.copy_(rows[tokens:])
    return out if bias is None else out.add_(bias)


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
