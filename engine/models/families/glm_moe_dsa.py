"""GLM-5: DeepSeek-V3.2's sparse attention, whose choice some layers take over from the layer before."""

from __future__ import annotations

from typing import Any

from engine.models.config import Config
from engine.models.families.sparse_parts import sparse_attention_lm
from engine.models.spec import DecoderSpec

KINDS = ("full", "shared")


def spec(config: dict[str, Any]) -> DecoderSpec:
    """indexer_types, or a pattern of F and S, or a schedule, says which layers choose for themselves."""
    c = Config(config)
    groups = (c.integer("n_group", 1), c.integer("topk_group", 1))
    shared = [kind == "shared" for kind in _kinds(c, c.integer("num_hidden_layers"))]
    return sparse_attention_lm(c, *groups, c.number("rms_norm_eps", 1e-5), interleaved=True, shared=shared)


def _kinds(c: Config, count: int) -> tuple[str, ...]:
    pattern = c.raw.get("index_topk_pattern")
    if isinstance(pattern, str):
        pattern = [{"F": "full", "S": "shared"}.get(letter, letter) for letter in pattern]
    every, offset = c.integer("index_topk_freq", 1), c.integer("index_skip_topk_offset", 2)
    scheduled = [KINDS[max(i - offset + 1, 0) % max(every, 1) != 0] for i in range(count)]
    return c.layer_types(count, KINDS, pattern or scheduled, "indexer_types")
