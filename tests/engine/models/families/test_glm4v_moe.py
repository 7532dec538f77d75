"""The language model of GLM-4.5V and 4.6V against transformers; tests/engine/models/vision has what it sees."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from engine.convert.expert_plan import find_experts
from engine.errors import UnderhillError
from engine.formats.checkpoint import Checkpoint
from engine.models.families import read_spec
from engine.models.spec import AttentionSpec
from tests.engine.models.open_decoder import open_decoder
from tests.engine.models.parity import TOLERANCE, DirectoryWeights, Pair, compare, hf_model, layers_pair, unread
from tests.engine.models.reference_experts import ReferenceExperts
from tests.engine.models.vision.seeing_glm import ROPE, config

GROUPS = {"n_group": 4, "topk_group": 2, "norm_topk_prob": False, "first_k_dense_replace": 0}


@pytest.mark.parametrize(
    "wanted",
    [config(), config(**GROUPS, attention_bias=False), config(tie_word_embeddings=True)],
    ids=["published", "in groups, without biases", "tied"],
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
        print(f"glm4v_moe: max {found.largest:.1e} mean {found.mean:.1e}")
        assert found.largest <= TOLERANCE
    assert all(name.startswith("model.visual.") for name in unread(pair))


def test_names_are_those_of_the_hub(tmp_path: Path) -> None:
    model = hf_model(config())
    model.save_pretrained(tmp_path)
    plan = find_experts(Checkpoint.open(tmp_path))
    assert plan.layers[1][0].matrices["gate"].key == "model.language_model.layers.1.mlp.experts.0.gate_proj.weight"
    assert {"lm_head.weight", "model.language_model.layers.1.mlp.gate.e_score_correction_bias"} <= set(plan.dense)
    assert {"model.visual.merger.gate_proj.weight", "model.visual.embeddings.position_embedding.weight"} <= set(
        plan.vision
    )


def test_what_turns_by_rows_and_columns() -> None:
    def axes(**changes: object) -> tuple[tuple[int, ...], bool]:
        written = config(rope_parameters={**ROPE, **changes}).to_dict()
        mixer = read_spec(written).layers[0].mixer
        assert isinstance(mixer, AttentionSpec)
        assert mixer.rope is not None
        return mixer.rope.axes, mixer.rope.apart

    assert axes() == ((1, 2, 1), True)
    assert axes(mrope_interleaved=True, mrope_section=[2, 1, 1]) == ((2, 1, 1), False)
    with pytest.raises(UnderhillError, match="whose sum is 4"):
        axes(mrope_section=[1, 2, 2])
