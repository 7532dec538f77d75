"""MiniMax-M3 against transformers: dense attention beside attention to chosen blocks of tokens."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
import torch

from engine.errors import UnderhillError
from engine.models.families import read_spec
from engine.models.layers.attention import Attention, attend_masked
from engine.models.spec import AttentionSpec
from tests.engine.models.compat.parity import measure
from tests.engine.models.compat.tiny import tiny_config
from tests.engine.models.parity import TOLERANCE, compare, make_pair, unread

OUTSIDE = ("vision_tower.", "multi_modal_projector.", "patch_merge_mlp.")
TEXT: dict[str, Any] = {
    "hidden_size": 32, "num_hidden_layers": 3, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 8,
    "rotary_dim": 4, "vocab_size": 96, "max_position_embeddings": 512, "num_local_experts": 8, "rope_theta": 5e6,
    "num_experts_per_tok": 2, "intermediate_size": 24, "dense_intermediate_size": 40, "moe_layer_freq": [0, 1, 1],
    "shared_intermediate_size": 24, "hidden_act": "swigluoai", "use_gemma_norm": True, "n_shared_experts": 1,
    "sparse_attention_config": {
        "use_sparse_attention": True, "sparse_index_dim": 6, "sparse_num_index_heads": 2, "sparse_topk_blocks": 3,
        "sparse_block_size": 4, "sparse_score_type": "max", "sparse_init_block": 0, "sparse_local_block": 1,
        "sparse_attention_freq": [0, 1, 1], "sparse_disable_index_value": [0, 1, 1],
    },
}  # fmt: skip
HUB: dict[str, Any] = {"model_type": "minimax_m3_vl", "vision_config": {}, "text_config": TEXT}


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"index_local_blocks": 2, "index_topk_blocks": 2},
        {"index_topk_blocks": 30},
        {"index_local_blocks": 0, "index_block_size": 1, "index_topk_blocks": 5},
    ],
    ids=["some", "only the last", "all", "tokens"],
)
def test_parity(changes: dict[str, Any], tmp_path: Path) -> None:
    pair = make_pair(tiny_config("minimax_m3_vl", **changes), tmp_path)
    assert compare(pair).largest <= TOLERANCE
    assert not [name for name in unread(pair) if not name.startswith(OUTSIDE)]


def test_its_experts_are_found() -> None:
    parity = measure(tiny_config("minimax_m3_vl"), lean=True)
    assert parity.ok, parity


def test_the_choice_matters(tmp_path: Path) -> None:
    """With 3 blocks of 4 tokens chosen the logits are others than with all, but for the first 12 tokens."""
    pair = make_pair(tiny_config("minimax_m3_vl"), tmp_path)
    ids = torch.randint(3, 96, (30,), generator=torch.Generator().manual_seed(3)).tolist()
    few = pair.ours.forward(ids, pair.ours.new_state(), "all")
    for layer in pair.ours.layers:
        assert isinstance(layer.mixer, Attention)
        if layer.mixer.blocks is not None:
            layer.mixer.blocks.sees_all = lambda stop: True  # type: ignore[method-assign]
    every = pair.ours.forward(ids, pair.ours.new_state(), "all")
    assert few is not None
    assert every is not None
    torch.testing.assert_close(few[:12], every[:12])
    assert (few[12:] - every[12:]).abs().amax(-1).max() > 1e-3


def test_long_prompts_are_cut_into_parts_of_queries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pair = make_pair(tiny_config("minimax_m3_vl"), tmp_path)
    ids = list(range(3, 60))
    whole = pair.ours.forward(ids, pair.ours.new_state(), "all")
    spy = Mock(side_effect=attend_masked)
    monkeypatch.setattr("engine.models.layers.attention.SCORES_LIMIT", 1000)
    monkeypatch.setattr("engine.models.layers.attention.attend_masked", spy)
    parts = pair.ours.forward(ids, pair.ours.new_state(), "all")
    assert spy.call_count > 3 * 3
    torch.testing.assert_close(parts, whole)


def test_a_config_of_the_hub_says_the_same() -> None:
    spec = read_spec(HUB)
    first, second = (layer.mixer for layer in spec.layers[:2])
    assert isinstance(first, AttentionSpec)
    assert isinstance(second, AttentionSpec)
    assert first.blocks is None
    assert second.blocks is not None
    chosen = second.blocks
    assert (chosen.heads, chosen.head_dim, chosen.block, chosen.top_k, chosen.local) == (2, 6, 4, 3, 1)
    assert second.rope is not None
    assert (second.rope.dim, second.rope.theta) == (4, 5e6)
    assert sorted(spec.moe_layers) == [1, 2]


def test_an_indexer_with_heads_of_another_number_is_refused() -> None:
    text = {**TEXT, "index_n_heads": 3, "sparse_attention_config": {"sparse_attention_freq": [0, 1, 1]}}
    with pytest.raises(UnderhillError, match="does not fit its 2 key heads"):
        read_spec({**HUB, "text_config": text})
