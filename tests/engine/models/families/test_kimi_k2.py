"""Kimi K2 is DeepSeek-V3 under another name: the same arithmetic, against transformers' DeepSeek-V3."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import torch

from engine.models.families import read_spec
from tests.engine.models.compat.parity import open_lean
from tests.engine.models.families.tiny import YARN, raw, tiny
from tests.engine.models.open_decoder import open_decoder
from tests.engine.models.parity import DirectoryWeights, Pair, compare, hf_model
from tests.engine.models.reference_experts import ReferenceExperts


def test_parity(tmp_path: Path) -> None:
    model = hf_model(tiny("deepseek_v3", rope_parameters=YARN, n_group=1, topk_group=1))
    model.save_pretrained(tmp_path)
    config = json.loads((tmp_path / "config.json").read_text(encoding="utf-8")) | {"model_type": "kimi_k2"}
    (tmp_path / "config.json").write_text(json.dumps(config), encoding="utf-8")
    weights = DirectoryWeights(tmp_path)
    pair = Pair(model, open_decoder(config, weights, ReferenceExperts(model)), config, weights)
    assert compare(pair).largest <= 1e-5
    opened, backend = open_lean(tmp_path)  # with the experts that an import would find
    ids = list(range(5, 25))
    with torch.no_grad():
        wanted = model(torch.tensor([ids])).logits[0]
    found = opened.forward(ids, opened.new_state(), "all")
    assert found is not None
    assert (found - wanted).abs().max() <= 1e-5
    assert backend.calls == 2


def test_its_spec_is_deepseeks() -> None:
    assert replace(read_spec(raw("kimi_k2")), family="deepseek_v3") == read_spec(raw("deepseek_v3"))
