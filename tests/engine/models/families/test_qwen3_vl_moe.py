"""The language model of Qwen3-VL-MoE against transformers; tests/engine/models/vision has what it sees."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from transformers import Qwen3VLMoeConfig

from engine.models.families import read_spec
from engine.models.spec import AttentionSpec
from tests.engine.models.families.tiny import COMMON, QWEN
from tests.engine.models.open_decoder import open_decoder
from tests.engine.models.parity import TOLERANCE, DirectoryWeights, Pair, compare, hf_model, layers_pair, unread
from tests.engine.models.reference_experts import ReferenceExperts
from tests.engine.models.vision.seeing_qwen_vl import SIGHT

MROPE = {"rope_type": "default", "rope_theta": 1e4, "mrope_section": [3, 3, 2], "mrope_interleaved": True}


def config(*, tied: bool = False, **changes: Any) -> Any:
    """For transformers. changes: of the language model."""
    text = {**COMMON, **QWEN, "rope_parameters": MROPE, **changes}
    return Qwen3VLMoeConfig(text_config=text, vision_config=SIGHT, tie_word_embeddings=tied)


@pytest.mark.parametrize(
    "wanted",
    [config(), config(tied=True), config(tied=True, tie_word_embeddings=False, attention_bias=True)],
    ids=["untied", "tied", "with biases, tied though its text model says otherwise"],
)
def test_parity_of_text(wanted: Any, tmp_path: Path) -> None:
    model = hf_model(wanted)
    model.save_pretrained(tmp_path)
    raw = json.loads((tmp_path / "config.json").read_text(encoding="utf-8"))
    weights = DirectoryWeights(tmp_path)
    pair = Pair(model, open_decoder(raw, weights, ReferenceExperts(model)), raw, weights)
    for used in (pair, layers_pair(pair)):
        assert used is not None
        found = compare(used)
        print(f"qwen3_vl_moe: max {found.largest:.1e} mean {found.mean:.1e}")
        assert found.largest <= TOLERANCE
    assert all(name.startswith("model.visual.") for name in unread(pair))


def test_rope_and_routing_where_the_config_does_not_say() -> None:
    written = config().to_dict()
    del written["text_config"]["rope_parameters"]
    mixer = read_spec(written).layers[0].mixer
    assert isinstance(mixer, AttentionSpec)
    assert mixer.rope is not None
    assert mixer.rope.theta == Qwen3VLMoeConfig().text_config.rope_parameters["rope_theta"]
    assert all(moe.router.normalize for moe in read_spec({**written, "norm_topk_prob": False}).moe_layers.values())
