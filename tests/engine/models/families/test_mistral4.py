"""Mistral 4 against transformers: queries that grow, groups that are rated by their two best."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.engine.models.families.tiny import SCALED, tiny
from tests.engine.models.parity import assert_parity


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"q_lora_rank": None, "rope_interleave": False, "norm_topk_prob": False, "routed_scaling_factor": 1.7},
        {"rope_parameters": {**SCALED, "llama_4_scaling_beta": 0.0}, "n_group": 1, "topk_group": 1},
    ],
    ids=["scaled", "no query rank, rope in halves", "not scaled"],
)
def test_parity(changes: dict[str, Any], tmp_path: Path) -> None:
    assert_parity(tiny("mistral4", **changes), tmp_path)
