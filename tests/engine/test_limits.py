"""What no model has is refused before anything is built by it; what models have is not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from engine import limits
from engine.convert.skeleton import build_skeleton
from engine.errors import Kind, UnderhillError
from engine.formats.checkpoint import Checkpoint
from engine.library.config_facts import remote_facts
from engine.models.families import read_spec
from tests.engine.formats.tiny_checkpoint import write_checkpoint

OURS = {"model_type": "qwen3_moe", "num_experts": 4, "hidden_size": 64, "num_experts_per_tok": 2}
OTHERS = {"model_type": "jamba", "num_experts": 4, "hidden_size": 64, "num_hidden_layers": 2, "intermediate_size": 64}
CLAIMS = [
    ("num_hidden_layers", 10**8), ("num_labels", 10**9), ("num_experts", 10**9), ("vocab_size", 10**12),
    ("hidden_size", 2**40), ("num_attention_heads", 10**8), ("max_position_embeddings", 10**15),
    ("num_hidden_layers", 1e300), ("something", 10**30), ("num_anything", 10**9),
]  # fmt: skip


def nested(depth: int) -> dict[str, Any]:
    config: dict[str, Any] = {}
    for _ in range(depth):
        config = {"inner": config}
    return config


@pytest.mark.parametrize(("key", "value"), CLAIMS)
def test_what_no_model_counts_is_refused_by_everything_that_reads_a_config(
    key: str, value: float, tmp_path: Path
) -> None:
    path = write_checkpoint(tmp_path)
    config = json.loads((path / "config.json").read_text(encoding="utf-8"))
    (path / "config.json").write_text(json.dumps({**config, key: value}), encoding="utf-8")
    for read in (
        lambda: Checkpoint.open(path),
        lambda: read_spec({**OURS, key: value}),
        lambda: build_skeleton({**OTHERS, "vision_config": {key: value}}),
        lambda: remote_facts({**OTHERS, key: value}, "it", 10**9, 4),
    ):
        with pytest.raises(UnderhillError, match=f"config.json is wrong: {key} is .* no model has more") as refused:
            read()
        assert refused.value.kind is Kind.BROKEN_FILE
        assert len(refused.value.sentence) < 250


@pytest.mark.parametrize("config", [nested(100), {"list": [0] * (limits.ENTRIES + 1)}])
def test_a_config_without_end_is_refused(config: dict[str, Any]) -> None:
    with pytest.raises(UnderhillError, match="holds more than any model's does"):
        limits.check_config(config)


def test_what_published_models_have_is_taken() -> None:
    limits.check_config({
        "num_hidden_layers": 126, "n_routed_experts": 384, "vocab_size": 262_400, "hidden_size": 18_432,
        "max_position_embeddings": 10_485_760, "rope_theta": 10**10, "time_step_limit": [0.0, float("inf")],
        "layer_types": ["full_attention"] * 126, "mlp_only_layers": [125], "eos_token_id": [151_645],
        "moe_layer_freq": [1] * 126, "sliding_window": 2**31, "moe_intermediate_size": [4864] * 126,
    })  # fmt: skip
