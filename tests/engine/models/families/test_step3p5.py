"""Step 3.5 and 3.7 against transformers, which knows the language model inside the one with images alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from engine.models.families import read_spec
from engine.models.spec import AttentionSpec
from tests.engine.models.compat.parity import measure
from tests.engine.models.compat.tiny import tiny_config
from tests.engine.models.parity import TOLERANCE, compare, layers_pair, make_pair

ROPE = {"full_attention": {"rope_type": "default", "rope_theta": 5e6, "partial_rotary_factor": 0.5},
        "sliding_attention": {"rope_type": "default", "rope_theta": 1e4}}  # fmt: skip


@pytest.mark.parametrize("changes", [{}, {"rope_parameters": ROPE, "swiglu_limits": None, "query_pre_attn_scalar": 12}])
def test_parity(changes: dict[str, Any], tmp_path: Path) -> None:
    pair = make_pair(tiny_config("step3p7", **changes), tmp_path)
    assert compare(pair).largest <= TOLERANCE
    layers = layers_pair(pair)
    assert layers is not None
    assert compare(layers).largest <= TOLERANCE


def test_its_experts_are_found_and_limited() -> None:
    parity = measure(tiny_config("step3p7"), lean=True)
    assert parity.ok, parity


def test_a_config_of_the_hub_says_the_same() -> None:
    hub = {
        "model_type": "step3p5", "hidden_size": 32, "num_hidden_layers": 4, "num_attention_heads": 4,
        "num_attention_groups": 2, "head_dim": 8, "vocab_size": 96, "max_position_embeddings": 512,
        "intermediate_size": 48, "moe_intermediate_size": 24, "moe_num_experts": 8, "moe_top_k": 2,
        "share_expert_dims": 20, "moe_layers_enum": "1,2,3", "moe_router_scaling_factor": 1.7, "sliding_window": 8,
        "layer_types": ["full_attention", "sliding_attention", "sliding_attention", "full_attention", "full_attention"],
        "attention_other_setting": {"num_attention_heads": 6}, "rope_theta": [5e6, 1e4, 1e4, 5e6, 5e6],
        "partial_rotary_factors": [0.5, 1.0, 1.0, 0.5, 0.5], "num_nextn_predict_layers": 1,
    }  # fmt: skip
    spec = read_spec(hub)
    first, second = (layer.mixer for layer in spec.layers[:2])
    assert isinstance(first, AttentionSpec)
    assert isinstance(second, AttentionSpec)
    assert (first.heads, first.kv_heads, first.window, second.heads, second.window) == (4, 2, None, 6, 8)
    assert first.rope is not None
    assert second.rope is not None
    assert (first.rope.dim, first.rope.theta, second.rope.dim, second.rope.theta) == (4, 5e6, 8, 1e4)
    assert sorted(spec.moe_layers) == [1, 2, 3]
