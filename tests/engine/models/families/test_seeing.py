"""Kimi K2.5 and Mistral Small 4: the language model inside is opened; what sees is kept of the first alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from engine.convert.expert_plan import find_experts
from engine.errors import Kind, UnderhillError
from engine.formats.checkpoint import Checkpoint
from engine.models.families import read_spec
from tests.engine.models.compat.parity import open_lean
from tests.engine.models.families.seeing import INNER, config, save
from tests.engine.models.open_decoder import open_decoder
from tests.engine.models.parity import TOLERANCE, DirectoryWeights, Pair, compare, hf_model, oracle_logits, unread
from tests.engine.models.reference_experts import ReferenceExperts

SEES = ("vision_tower.", "multi_modal_projector.", "mm_projector.")


@pytest.mark.parametrize("family", INNER)
def test_parity(family: str, tmp_path: Path) -> None:
    model = hf_model(config(family))
    raw = save(model, tmp_path)
    weights = DirectoryWeights(tmp_path)
    pair = Pair(model, open_decoder(raw, weights, ReferenceExperts(model)), raw, weights)
    assert compare(pair).largest <= TOLERANCE
    assert not [name for name in unread(pair) if not name.startswith(SEES)]
    opened, backend = open_lean(tmp_path)  # with the experts that an import would find
    ids = list(range(5, 25))
    found = opened.forward(ids, opened.new_state(), "all")
    assert found is not None
    assert (found - oracle_logits(model, ids)).abs().max() <= TOLERANCE
    assert backend.calls == 2


@pytest.mark.parametrize(("family", "kept"), [("kimi_k25", True), ("mistral3", False)])
def test_what_sees_is_kept_where_it_can_be_used(family: str, kept: bool, tmp_path: Path) -> None:
    torch.manual_seed(0)
    save(hf_model(config(family)), tmp_path)
    plan = find_experts(Checkpoint.open(tmp_path))
    assert all(name.startswith("language_model.") for name in plan.dense)
    sees, other = (plan.vision, plan.unused) if kept else (plan.unused, plan.vision)
    assert sees
    assert not other
    assert all(name.startswith(SEES) for name in sees)


def test_how_the_language_model_is_packed_is_said_of_the_whole(tmp_path: Path) -> None:
    raw = save(hf_model(config("kimi_k25")), tmp_path)
    assert "quantization_config" not in Checkpoint.open(tmp_path).config
    raw["text_config"]["quantization_config"] = {"quant_method": "compressed-tensors", "format": "pack-quantized"}
    (tmp_path / "config.json").write_text(json.dumps(raw), encoding="utf-8")
    assert Checkpoint.open(tmp_path).config["quantization_config"] == raw["text_config"]["quantization_config"]


def test_one_that_sees_with_a_dense_language_model_is_refused_as_dense() -> None:
    text = {"model_type": "mistral", "num_hidden_layers": 2, "hidden_size": 32, "intermediate_size": 64}
    with pytest.raises(UnderhillError, match="is dense") as refused:
        read_spec({"model_type": "mistral3", "text_config": text})
    assert refused.value.kind is Kind.UNSUPPORTED_MODEL
