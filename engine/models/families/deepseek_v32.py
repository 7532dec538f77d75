"""DeepSeek-V3.2: DeepSeek-V3 whose queries attend to the 2048 tokens that an indexer finds best."""

from __future__ import annotations

from typing import Any

from engine.models.config import Config
from engine.models.families.sparse_parts import sparse_attention_lm
from engine.models.spec import DecoderSpec


def spec(config: dict[str, Any]) -> DecoderSpec:
    """Every layer has an indexer, which turns its pairs in halves."""
    c = Config(config)
    count, groups = c.integer("num_hidden_layers"), (c.integer("n_group", 8), c.integer("topk_group", 4))
    return sparse_attention_lm(c, *groups, c.number("rms_norm_eps", 1e-6), interleaved=False, shared=[False] * count)
