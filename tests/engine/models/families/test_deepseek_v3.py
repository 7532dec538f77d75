"""DeepSeek-V3 against transformers; tests/engine/models/test_mtp.py has its layer for multi-token prediction."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.models.families import read_spec
from tests.engine.models.families.tiny import YARN, raw, tiny
from tests.engine.models.parity import assert_parity


@pytest.mark.parametrize(
    "changes",
    [
        {"rope_parameters": YARN},
        {"q_lora_rank": None, "rope_interleave": False, "attention_bias": True, "norm_topk_prob": False},
    ],
    ids=["yarn", "no query rank, rope in halves, biases"],
)
def test_parity(changes: dict[str, object], tmp_path: Path) -> None:
    pair = assert_parity(tiny("deepseek_v3", **changes), tmp_path)
    assert {name for name in pair.weights.names - pair.weights.seen if ".mlp.experts." not in name} == set()


def test_prediction_layers_are_no_layers() -> None:
    spec = read_spec(raw("deepseek_v3", num_nextn_predict_layers=1))
    assert [layer.index for layer in spec.layers] == [0, 1, 2]
    assert sorted(spec.moe_layers) == [1, 2]
    assert spec.mtp is not None
    assert spec.mtp.layer.index == 3
    assert read_spec(raw("deepseek_v3", num_nextn_predict_layers=0)).mtp is None


def test_yarn_as_the_hub_spells_it_means_the_same() -> None:
    old = {key: value for key, value in YARN.items() if key not in ("rope_type", "rope_theta")}
    hub = read_spec(raw("deepseek_v3", rope_theta=10000.0, rope_scaling={**old, "type": "yarn"}))
    assert hub == read_spec(raw("deepseek_v3", rope_parameters=YARN))
