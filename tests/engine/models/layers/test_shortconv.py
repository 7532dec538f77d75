"""The short convolution mixer against transformers' module, fed whole and in pieces."""

from __future__ import annotations

import pytest
import torch
from transformers import Lfm2MoeConfig
from transformers.models.lfm2_moe.modeling_lfm2_moe import Lfm2MoeShortConv

from engine.models.layers.conv import ShortConv
from engine.models.layers.position_range import PositionRange
from engine.models.spec import ShortConvSpec
from tests.engine.models.open_decoder import plain_weights


class Tensors(dict):
    """Weights from a dictionary."""

    def has(self, name: str) -> bool:
        return name in self


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("cuts", [[15], [1] * 15, [7, 1, 7]])
def test_equals_transformers_however_the_tokens_are_cut(bias, cuts):
    config = Lfm2MoeConfig(hidden_size=16, num_hidden_layers=1, layer_types=["conv"], conv_bias=bias)
    torch.manual_seed(0)
    oracle = Lfm2MoeShortConv(config, 0).eval()
    with torch.no_grad():
        for parameter in oracle.parameters():
            parameter.copy_(torch.randn_like(parameter) * 0.25)
    weights = Tensors({f"layer.conv.{name}": tensor for name, tensor in oracle.state_dict().items()})
    mixer = ShortConv(ShortConvSpec("layer.conv", 16, 3, bias), weights, 16, plain_weights())
    x = torch.randn(15, 16)
    state = mixer.new_state(torch.float32)
    at, outs = 0, []
    with torch.inference_mode():
        for part in x.split(cuts):
            outs.append(mixer.forward(part, PositionRange(at, at + part.shape[0]), state))
            at += part.shape[0]
        want = oracle(x[None])[0]
    assert want.abs().mean() > 0.05
    torch.testing.assert_close(torch.cat(outs), want, rtol=0, atol=1e-5)
