"""LFM2-MoE against transformers."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.errors import UnderhillError
from engine.models.families import read_spec
from tests.engine.models.families.tiny import raw, tiny
from tests.engine.models.parity import assert_parity


@pytest.mark.parametrize("changes", [{}, {"conv_bias": True, "use_expert_bias": False, "norm_topk_prob": False}])
def test_parity(changes: dict[str, object], tmp_path: Path) -> None:
    pair = assert_parity(tiny("lfm2_moe", **changes), tmp_path)
    assert {name for name in pair.weights.names - pair.weights.seen if ".experts." not in name} == set()


def test_the_head_is_tied_unless_either_key_says_no() -> None:
    assert read_spec(raw("lfm2_moe")).head is None
    assert read_spec(raw("lfm2_moe", tie_embedding=False)).head == "lm_head"
    assert read_spec(raw("lfm2_moe", tie_word_embeddings=False)).head == "lm_head"


def test_layers_of_unknown_kind_are_refused() -> None:
    with pytest.raises(UnderhillError, match="mamba"):
        read_spec(raw("lfm2_moe", layer_types=["conv", "mamba", "conv"]))
