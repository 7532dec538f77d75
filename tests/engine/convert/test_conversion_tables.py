"""Where experts lie, read off transformers' tables: every piece against the parameter that transformers makes of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load, save_file

from engine.convert.expert_plan import plan_experts
from engine.convert.pieces import read_piece
from engine.convert.skeleton import build_skeleton
from engine.errors import Kind, UnderhillError
from engine.formats.checkpoint import Checkpoint
from tests.engine.models.compat.checkpoint import random_model, shapes
from tests.engine.models.compat.tiny import tiny_config


def saved(model_type: str, path: Path) -> tuple[Checkpoint, Any]:
    model = random_model(tiny_config(model_type))
    model.save_pretrained(path)
    return Checkpoint.open(path), model


@pytest.mark.parametrize(
    "model_type", ["aria_text", "gpt_oss", "granitemoe_swa", "jamba", "kimi_linear", "mistral_large4", "nemotron_h"]
)
def test_every_piece_is_its_slice_of_transformers_parameter(model_type: str, tmp_path: Path) -> None:
    checkpoint, model = saved(model_type, tmp_path)
    plan = plan_experts(checkpoint.config, shapes(checkpoint))
    modules = {found.layer: found.name for found in build_skeleton(checkpoint.config).experts}
    assert set(plan.layers) == set(modules)
    for layer, experts in plan.layers.items():
        module = model.get_submodule(modules[layer])
        for number, expert in enumerate(experts):
            down = module.down_proj[number]
            first = (module.gate_up_proj if plan.has_gate else module.up_proj)[number]
            if module.is_transposed:
                down, first = down.T, first.T
            parts = {"down": down}
            if not plan.has_gate:
                parts["up"] = first
            elif module.is_concatenated:
                parts["gate"], parts["up"] = first.chunk(2)
            else:
                parts["gate"], parts["up"] = first[::2], first[1::2]
            assert set(expert.matrices) == set(parts)
            for part, wanted in parts.items():
                assert torch.equal(read_piece(checkpoint, expert.matrices[part]), wanted), (layer, number, part)
            if plan.has_bias:
                assert torch.equal(read_piece(checkpoint, expert.biases["up"]), module.gate_up_proj_bias[number][1::2])
                assert torch.equal(read_piece(checkpoint, expert.biases["down"]), module.down_proj_bias[number])
    assert read_piece(checkpoint, expert.matrices["up"]).shape == (plan.intermediate, plan.hidden)


def test_experts_stored_transposed_on_the_hub_are_turned_back(tmp_path: Path) -> None:
    checkpoint, model = saved("qwen3_vl_moe", tmp_path)
    module = model.model.language_model.layers[1].mlp.experts
    stored = load((tmp_path / "model.safetensors").read_bytes())
    turned = {name: t.transpose(1, 2).contiguous() if ".experts." in name else t for name, t in stored.items()}
    for tensors in (stored, turned):
        save_file(tensors, tmp_path / "model.safetensors")
        checkpoint = Checkpoint.open(tmp_path)
        expert = plan_experts(checkpoint.config, shapes(checkpoint)).layers[1][3]
        assert torch.equal(read_piece(checkpoint, expert.matrices["up"]), module.gate_up_proj[3, 24:])
        assert torch.equal(read_piece(checkpoint, expert.matrices["down"]), module.down_proj[3])


def test_interleaved_rows_on_the_hub_become_gate_and_up(tmp_path: Path) -> None:
    checkpoint, _ = saved("inkling_mm_model", tmp_path)
    fused = {
        name: shape for name, shape in shapes(checkpoint).items() if name.endswith("w13_weight") and len(shape) == 3
    }
    assert fused, "the checkpoint should be in the layout of the hub"
    plan = plan_experts(checkpoint.config, shapes(checkpoint))
    gate, up = (plan.layers[1][2].matrices[part] for part in ("gate", "up"))
    assert gate.key in fused
    assert (gate.start, gate.step) == (0, 2)
    assert (up.start, up.step) == (1, 2)


def test_experts_before_ten_come_before_ten(tmp_path: Path) -> None:
    model = random_model(tiny_config("jamba", num_experts=12))
    model.save_pretrained(tmp_path)
    checkpoint = Checkpoint.open(tmp_path)
    plan = plan_experts(checkpoint.config, shapes(checkpoint))
    for number, expert in enumerate(plan.layers[1]):
        assert f".experts.{number}." in expert.matrices["gate"].key


def test_towers_and_further_layers_are_not_asked_for(tmp_path: Path) -> None:
    checkpoint, _ = saved("glm4v_moe", tmp_path)
    known = {**shapes(checkpoint), "model.layers.99.enorm.weight": (32,)}
    plan = plan_experts(checkpoint.config, known)
    assert "model.layers.99.enorm.weight" in plan.unused
    assert any(name.startswith("model.visual.") for name in plan.unused)
    assert not any(name.startswith("model.visual.") for name in plan.dense)
    experts = {p.key for layer in plan.layers.values() for expert in layer for p in expert.matrices.values()}
    assert experts | set(plan.dense) | set(plan.unused) == set(known)
    assert not experts & set(plan.dense)


@pytest.mark.parametrize("gone", ["model.layers.1.feed_forward.experts.3.up_proj.weight", "experts"])
def test_missing_experts_are_missed(gone: str, tmp_path: Path) -> None:
    checkpoint, _ = saved("jamba", tmp_path)
    left = {name: shape for name, shape in shapes(checkpoint).items() if gone not in name}
    with pytest.raises(UnderhillError, match="layer 1") as raised:
        plan_experts(checkpoint.config, left)
    assert raised.value.kind == Kind.MISSING_FILE


def test_an_unknown_arrangement_is_refused(tmp_path: Path) -> None:
    checkpoint, _ = saved("granitemoe_swa", tmp_path)
    odd = {name: (*shape, 2) if ".experts." in name else shape for name, shape in shapes(checkpoint).items()}
    with pytest.raises(UnderhillError, match="does not know") as raised:
        plan_experts(checkpoint.config, odd)
    assert raised.value.kind == Kind.UNSUPPORTED_MODEL
