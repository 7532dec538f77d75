"""The short causal depthwise convolution of recurrent token mixers, with its history carried from call to call."""

from __future__ import annotations

import torch
from torch import Tensor


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
