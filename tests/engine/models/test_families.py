"""Every plain-attention family against transformers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from transformers import AutoConfig

from tests.engine.models.parity import assert_parity

COMMON = {
    "vocab_size": 97, "hidden_size": 48, "num_hidden_layers": 3, "num_attention_heads": 4, "num_key_value_heads": 2,
    "max_position_embeddings": 256, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2,
}  # fmt: skip


def tiny(model_type: str, **changes: Any) -> Any:
    """A small config of a family."""
    return AutoConfig.for_model(model_type, **{**COMMON, **changes})


QWEN3 = {
    "head_dim": 16,
    "intermediate_size": 64,
    "moe_intermediate_size": 24,
    "num_experts": 8,
    "num_experts_per_tok": 3,
}

CASES = {
    "qwen3_moe": tiny("qwen3_moe", **QWEN3, norm_topk_prob=True),
}


@pytest.mark.parametrize("name", CASES)
def test_parity(name: str, tmp_path: Path) -> None:
    assert_parity(CASES[name], tmp_path)
