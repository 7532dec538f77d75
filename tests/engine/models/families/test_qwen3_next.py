"""Qwen3-Next against transformers, rollback through snapshots included."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.errors import UnderhillError
from engine.models.families import read_spec
from engine.models.spec import AttentionSpec
from tests.engine.models.families.tiny import raw, tiny
from tests.engine.models.parity import assert_parity


@pytest.mark.parametrize(
    "changes",
    [{"mlp_only_layers": [1]}, {"attention_bias": True, "norm_topk_prob": False, "linear_num_value_heads": 2}],
)
def test_parity(changes: dict[str, object], tmp_path: Path) -> None:
    pair = assert_parity(tiny("qwen3_next", **changes), tmp_path)
    assert {name for name in pair.weights.names - pair.weights.seen if ".mlp.experts." not in name} == set()


def test_every_fourth_layer_has_attention_by_default() -> None:
    config = raw("qwen3_next", num_hidden_layers=8)
    del config["layer_types"]
    layers = read_spec(config).layers
    assert [layer.index for layer in layers if isinstance(layer.mixer, AttentionSpec)] == [3, 7]


def test_another_activation_is_refused() -> None:
    with pytest.raises(UnderhillError, match="hidden_act"):
        read_spec(raw("qwen3_next", hidden_act="gelu"))
