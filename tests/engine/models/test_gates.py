"""Predictors see the decoder's own routers, and the residual stream behind every layer with experts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from torch import Tensor
from transformers import AutoConfig

from engine.experts.predictors.gates import folded
from engine.kernels.native import NativeKernel
from engine.models.decoder import Decoder
from engine.models.gates import gates_of
from tests.engine.models.families.test_plain_attention import CASES, COMMON
from tests.engine.models.families.tiny import FAMILIES, tiny
from tests.engine.models.open_decoder import native_kernel, plain_weights
from tests.engine.models.parity import make_pair
from tests.engine.models.reference_experts import ReferenceExperts

IDS = [5, 17, 3, 88, 41, 2, 60, 9]


@pytest.fixture(scope="module")
def kernel() -> NativeKernel:
    return native_kernel()


def config(name: str) -> Any:
    if name in FAMILIES:
        return tiny(name)
    model_type, changes = CASES[name]
    return AutoConfig.for_model(model_type, **{**COMMON, **changes})


class Heard:
    """Experts that note what they are asked."""

    def __init__(self, inner: ReferenceExperts) -> None:
        self._inner = inner
        self.calls: list[tuple[int, Tensor, Tensor]] = []

    def moe(self, layer: int, x: Tensor, ids: Tensor, weights: Tensor) -> Tensor:
        """See ExpertBackend.moe."""
        self.calls.append((layer, x.clone(), ids.clone()))
        return self._inner.moe(layer, x, ids, weights)


@pytest.mark.parametrize("name", ["gpt_oss", "glm4_moe", "gemma4_text", "phimoe with biases", "qwen3_moe"])
def test_what_the_experts_are_given_tells_what_the_router_chose(name: str, tmp_path: Path) -> None:
    """Through the norms of a router of its own, biases, and biases on the choice alone."""
    pair = make_pair(config(name), tmp_path)
    heard = Heard(ReferenceExperts(pair.model))
    decoder = Decoder(pair.ours.spec, pair.weights, heard, plain_weights())
    decoder.forward(IDS, decoder.new_state())
    gates = gates_of(decoder)
    assert len(gates) == len(heard.calls)
    for gate, (_, x, ids) in zip(gates, heard.calls, strict=True):
        own = folded(gate, gate)
        scores = gate.ranking(x.numpy() @ own.weight.T + own.bias)
        best = np.argsort(-scores, 1, kind="stable")[:, : ids.shape[1]]
        assert (np.sort(best) == np.sort(ids.numpy())).mean() > 0.95
