"""Rotary embeddings: every variant's frequencies against transformers, and what rotation must keep."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from transformers import Qwen3MoeConfig
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

from engine.models.config import Config
from engine.models.layers.position_range import PositionRange
from engine.models.layers.rope import rope_frequencies, rope_table
from engine.models.spec import RopeSpec

VARIANTS: dict[str, dict[str, Any]] = {
    "linear": {"rope_type": "linear", "factor": 3.0},
    "dynamic": {"rope_type": "dynamic", "factor": 2.0},
    "yarn": {"rope_type": "yarn", "factor": 8.0, "original_max_position_embeddings": 64},
    "yarn untruncated": {
        "rope_type": "yarn", "factor": 32.0, "original_max_position_embeddings": 64, "truncate": False, "beta_fast": 8
    },
    "yarn mscale": {
        "rope_type": "yarn", "factor": 8.0, "original_max_position_embeddings": 64, "mscale": 1.2, "mscale_all_dim": 0.7
    },
    "yarn given attention factor": {
        "rope_type": "yarn", "factor": 8.0, "original_max_position_embeddings": 64, "attention_factor": 1.3
    },
    "longrope": {
        "rope_type": "longrope", "short_factor": [1.0 + i / 8 for i in range(16)], "factor": 4.0,
        "long_factor": [2.0 + i for i in range(16)], "original_max_position_embeddings": 64,
    },
    "llama3": {
        "rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
        "original_max_position_embeddings": 64,
    },
    "partial linear": {"rope_type": "linear", "factor": 3.0, "partial_rotary_factor": 0.5},
}  # fmt: skip


@pytest.mark.parametrize("name", VARIANTS)
@pytest.mark.parametrize("horizon", [20, 64, 65, 300, 1000])
def test_frequencies_are_those_of_transformers(name: str, horizon: int) -> None:
    settings = {**VARIANTS[name], "rope_theta": 50_000.0}
    config = Qwen3MoeConfig(head_dim=32, max_position_embeddings=256, rope_parameters=dict(settings))
    spec = Config({"max_position_embeddings": 256, "rope_parameters": settings}).rope(32)
    frequencies, factor = rope_frequencies(spec, horizon)
    wanted, wanted_factor = ROPE_INIT_FUNCTIONS[settings["rope_type"]](config, "cpu", seq_len=horizon)
    assert torch.allclose(frequencies, wanted, rtol=2e-6)
    assert factor == pytest.approx(wanted_factor)


def test_old_and_new_configs_read_alike() -> None:
    new = Config({"max_position_embeddings": 256, "rope_parameters": {**VARIANTS["yarn"], "rope_theta": 5e5}}).rope(32)
    scaling = {**VARIANTS["yarn"], "type": "yarn"}
    del scaling["rope_type"]
    old = Config({"max_position_embeddings": 256, "rope_theta": 5e5, "rope_scaling": scaling, "rope_parameters": None})
    assert old.rope(32) == new
    assert old.rope(32) is old.rope(32)  # layers that share a table see it by identity


def test_settings_per_layer_type() -> None:
    nested = {
        "sliding_attention": {"rope_type": "default", "rope_theta": 1e4},
        "full_attention": {"rope_type": "linear", "factor": 8.0, "rope_theta": 1e6},
    }
    c = Config({"rope_parameters": nested})
    sliding, full = (c.rope(32, layer_type=kind) for kind in nested)
    assert (sliding.theta, sliding.scaling) == (1e4, None)
    assert full.theta == 1e6
    assert full.scaling is not None
    assert full.scaling.factor == 8.0


def test_original_context_beside_the_settings_wins() -> None:
    raw = {"max_position_embeddings": 256, "rope_scaling": VARIANTS["longrope"], "original_max_position_embeddings": 32}
    scaling = Config(raw).rope(32).scaling
    assert scaling is not None
    assert scaling.original == 32


@pytest.mark.parametrize("interleaved", [False, True])
def test_products_depend_on_distance_only_and_lengths_are_kept(interleaved: bool) -> None:
    torch.manual_seed(0)
    spec = RopeSpec(32, 10_000.0, interleaved)
    q, k = torch.randn(1, 1, 32), torch.randn(1, 1, 32)

    def at(x: torch.Tensor, position: int) -> torch.Tensor:
        return rope_table(spec, position, position + 1, 0).apply(x)

    near, far = ((at(q, p + 3) * at(k, p)).sum() for p in (2, 90))
    assert torch.allclose(near, far, atol=1e-5)
    assert not torch.allclose((at(q, 4) * at(k, 0)).sum(), near, atol=1e-3)
    assert torch.allclose(at(q, 77).norm(), q.norm())


def test_interleaved_is_the_same_rotation_of_other_pairs() -> None:
    torch.manual_seed(0)
    x = torch.randn(5, 2, 16)
    halves = rope_table(RopeSpec(16, 10_000.0), 3, 8, 0).apply(x)
    paired = x.unflatten(-1, (2, 8)).transpose(-1, -2).flatten(-2)  # (i, i + 8) become neighbours
    turned = rope_table(RopeSpec(16, 10_000.0, interleaved=True), 3, 8, 0).apply(paired)
    assert torch.allclose(turned.unflatten(-1, (8, 2)).transpose(-1, -2).flatten(-2), halves, atol=1e-6)


def test_partial_rotation_passes_the_rest_through() -> None:
    x = torch.randn(4, 2, 16)
    turned = rope_table(RopeSpec(8, 10_000.0), 1, 5, 0).apply(x)
    assert torch.equal(turned[..., 8:], x[..., 8:])
    assert not torch.allclose(turned[..., :8], x[..., :8], atol=1e-2)
    proportional = rope_table(RopeSpec(16, 10_000.0, rotated=4), 1, 5, 0).apply(x)
    still = [2, 3, 4, 5, 6, 7, 10, 11, 12, 13, 14, 15]
    assert torch.allclose(proportional[..., still], x[..., still])
    assert not torch.allclose(proportional[..., 0], x[..., 0], atol=1e-2)


def test_a_span_computes_a_table_once_for_equal_specs() -> None:
    span = PositionRange(4, 9)
    first = span.rope(RopeSpec(16, 10_000.0))
    assert span.rope(RopeSpec(16, 10_000.0)) is first
    assert span.rope(RopeSpec(16, 20_000.0)) is not first
    assert first.cos.shape == (5, 1, 16)
