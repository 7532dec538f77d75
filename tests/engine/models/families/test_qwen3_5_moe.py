"""Qwen3.5-MoE against transformers, as a text model and as the text half of one with images."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from transformers import Qwen3_5MoeConfig, Qwen3_5MoeForConditionalGeneration

from engine.errors import UnderhillError
from engine.models.families import read_spec
from tests.engine.models.families.tiny import COMMON, LINEAR, raw, tiny
from tests.engine.models.open_decoder import open_decoder
from tests.engine.models.parity import DirectoryWeights, Pair, assert_parity, compare, randomize
from tests.engine.models.reference_experts import ReferenceExperts

VISION = {
    "depth": 1, "hidden_size": 16, "intermediate_size": 16, "num_heads": 2, "patch_size": 4, "out_hidden_size": 48,
    "num_position_embeddings": 16,
}  # fmt: skip


def test_parity(tmp_path: Path) -> None:
    pair = assert_parity(tiny("qwen3_5_moe_text"), tmp_path)
    assert {name for name in pair.weights.names - pair.weights.seen if ".mlp.experts." not in name} == set()


def test_parity_of_the_text_half(tmp_path: Path) -> None:
    torch.manual_seed(0)
    text = {**COMMON, **LINEAR}
    rope = {"rope_type": "default", "rope_theta": 1e6, "partial_rotary_factor": 0.25}
    text["rope_parameters"] = {**rope, "mrope_section": [1, 1, 0], "mrope_interleaved": True}
    config = Qwen3_5MoeConfig(text_config=text, vision_config=VISION)
    model = Qwen3_5MoeForConditionalGeneration._from_config(config, attn_implementation="eager").eval()
    randomize(model)
    model.save_pretrained(tmp_path)
    read = json.loads((tmp_path / "config.json").read_text(encoding="utf-8"))
    weights = DirectoryWeights(tmp_path)
    pair = Pair(model, open_decoder(read, weights, ReferenceExperts(model)), read, weights)
    found = compare(pair)
    print(f"qwen3_5_moe: max {found.largest:.1e} mean {found.mean:.1e}")
    assert found.largest <= 1e-5
    assert not any("visual" in name for name in weights.seen)


def test_attention_without_its_gate_is_refused() -> None:
    with pytest.raises(UnderhillError, match="attn_output_gate"):
        read_spec(raw("qwen3_5_moe_text", attn_output_gate=False))
