"""DeepSeek-V2 against transformers, and where Underhill decides otherwise."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from engine.errors import Kind, UnderhillError
from engine.models.families import read_spec
from engine.models.layers.router import choose
from tests.engine.models.families.tiny import YARN, raw, tiny
from tests.engine.models.parity import assert_parity

GROUPS = {"topk_method": "group_limited_greedy", "n_group": 4, "topk_group": 2, "routed_scaling_factor": 16.0}


@pytest.mark.parametrize(
    "changes",
    [
        {"q_lora_rank": None, "n_shared_experts": 2, "routed_scaling_factor": 1.5},
        {**GROUPS, "rope_parameters": YARN},
        {"attention_bias": True, "mlp_bias": True},
    ],
    ids=["lite", "groups and yarn", "biases"],
)
def test_parity(changes: dict[str, object], tmp_path: Path) -> None:
    pair = assert_parity(tiny("deepseek_v2", **changes), tmp_path)
    assert {name for name in pair.weights.names - pair.weights.seen if ".mlp.experts." not in name} == set()


def test_normalized_weights_are_scaled_as_in_the_original() -> None:
    router = read_spec(raw("deepseek_v2", norm_topk_prob=True, routed_scaling_factor=2.5)).moe_layers[1].router
    _, weights = choose(router, torch.randn(5, 8))
    torch.testing.assert_close(weights.sum(-1), torch.full((5,), 2.5))


@pytest.mark.parametrize("changes", [{"topk_method": "noaux_tc"}, {"scoring_func": "sigmoid"}, {"moe_layer_freq": 2}])
def test_what_it_does_not_compute_it_refuses(changes: dict[str, object]) -> None:
    with pytest.raises(UnderhillError) as caught:
        read_spec(raw("deepseek_v2", **changes))
    assert caught.value.kind == Kind.UNSUPPORTED_MODEL
