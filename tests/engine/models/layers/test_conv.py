"""The short convolution: against torch's own, and against itself cut into pieces."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional as F

from engine.models.layers.conv import causal_conv


def _case(taps: int = 4, channels: int = 6, tokens: int = 11):
    g = torch.Generator().manual_seed(0)
    return (
        torch.randn(tokens, channels, generator=g),
        torch.randn(taps, channels, generator=g),
        torch.randn(channels, generator=g),
    )


@pytest.mark.parametrize("taps", [2, 3, 4])
def test_equals_a_left_padded_depthwise_convolution(taps):
    x, weight, bias = _case(taps)
    got = causal_conv(x, torch.zeros(taps - 1, 6), weight, bias)
    padded = F.pad(x.T.unsqueeze(0), (taps - 1, 0))
    want = F.conv1d(padded, weight.T.unsqueeze(1), bias, groups=6)[0].T
    torch.testing.assert_close(got, want, rtol=0, atol=1e-6)


@pytest.mark.parametrize("cuts", [[1] * 11, [4, 1, 6], [2, 9], [10, 1]])
def test_history_carries_over_cuts_even_shorter_than_the_kernel(cuts):
    x, weight, _ = _case()
    want = causal_conv(x, torch.zeros(3, 6), weight)
    history = torch.zeros(3, 6)
    got = torch.cat([causal_conv(part, history, weight) for part in x.split(cuts)])
    torch.testing.assert_close(got, want, rtol=0, atol=1e-6)
    assert torch.equal(history, x[-3:])
