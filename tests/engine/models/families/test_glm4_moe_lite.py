"""GLM-4.7-Flash against transformers."""

from __future__ import annotations

from pathlib import Path

from engine.models.families import read_spec
from tests.engine.models.families.tiny import raw, tiny
from tests.engine.models.parity import assert_parity


def test_parity(tmp_path: Path) -> None:
    pair = assert_parity(tiny("glm4_moe_lite"), tmp_path)
    assert {name for name in pair.weights.names - pair.weights.seen if ".mlp.experts." not in name} == set()


def test_dense_layers_come_from_either_key() -> None:
    assert sorted(read_spec(raw("glm4_moe_lite")).moe_layers) == [1, 2]
    assert sorted(read_spec(raw("glm4_moe_lite", first_k_dense_replace=2)).moe_layers) == [2]
    kinds = ["sparse", "dense", "sparse"]
    assert sorted(read_spec(raw("glm4_moe_lite", mlp_layer_types=kinds)).moe_layers) == [0, 2]
