"""DeepSeek-V3.2 and GLM-5 against transformers: chosen tokens alone, and the same as dense where all are chosen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from engine.errors import UnderhillError
from engine.models.families import read_spec
from tests.engine.models.families.tiny import YARN, raw, tiny
from tests.engine.models.parity import assert_parity


@pytest.mark.parametrize(
    ("family", "changes"),
    [
        ("deepseek_v32", {}),
        ("deepseek_v32", {"rope_parameters": YARN, "attention_bias": True, "index_topk": 3}),
        ("deepseek_v32", {"index_topk": 64, "norm_topk_prob": False}),
        ("glm_moe_dsa", {}),
        ("glm_moe_dsa", {"indexer_types": ["full", "shared", "shared"], "first_k_dense_replace": 1}),
        ("glm_moe_dsa", {"index_topk": 64}),
    ],
    ids=["deepseek", "deepseek yarn", "deepseek all", "glm", "glm shared", "glm all"],
)
def test_parity(family: str, changes: dict[str, Any], tmp_path: Path) -> None:
    assert_parity(tiny(family, **changes), tmp_path)


def test_the_choice_matters(tmp_path: Path) -> None:
    """With 6 of the tokens chosen the logits are others than with all."""
    pair = assert_parity(tiny("deepseek_v32", index_topk=6), tmp_path)
    ids = torch.randint(3, 97, (30,), generator=torch.Generator().manual_seed(3)).tolist()
    few = pair.ours.forward(ids, pair.ours.new_state(), "all")
    for layer in pair.ours.layers:
        layer.mixer.indexer.spec = type(layer.mixer.indexer.spec)(**{**vars(layer.mixer.indexer.spec), "top_k": 99})
    every = pair.ours.forward(ids, pair.ours.new_state(), "all")
    assert few is not None
    assert every is not None
    torch.testing.assert_close(few[:6], every[:6])
    assert (few[6:] - every[6:]).abs().amax(-1).min() > 1e-4


def test_the_first_layer_chooses_for_itself() -> None:
    with pytest.raises(UnderhillError, match="first layer"):
        read_spec(raw("glm_moe_dsa", indexer_types=["shared", "full", "full"]))


def test_patterns_say_which_layers_choose() -> None:
    def shared(**changes: Any) -> list[bool]:
        spec = read_spec(raw("glm_moe_dsa", num_hidden_layers=6, **changes))
        return [layer.mixer.indexer.shared for layer in spec.layers]  # type: ignore[union-attr]

    assert shared() == [False] * 6
    assert shared(index_topk_pattern="FFSSFS") == [False, False, True, True, False, True]
    assert shared(index_topk_freq=3, index_skip_topk_offset=2) == [False, False, True, True, False, True]
