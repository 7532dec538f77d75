"""Experts that are stored quantized are multiplied out exactly."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import load, save_file

from engine.convert.expert_plan import find_experts
from engine.convert.pieces import ExpertMatrices
from engine.formats.checkpoint import Checkpoint
from engine.formats.packed_floats import mxfp4
from tests.engine.models.compat.checkpoint import random_model
from tests.engine.models.compat.tiny import tiny_config


def test_mxfp4_agrees_with_transformers() -> None:
    from transformers.integrations.mxfp4 import convert_moe_packed_tensors

    blocks = torch.randint(0, 256, (1, 6, 3, 16), dtype=torch.uint8)
    scales = torch.randint(100, 150, (1, 6, 3), dtype=torch.uint8)
    theirs = convert_moe_packed_tensors(blocks, scales)[0].T  # theirs is [in, out]
    assert torch.equal(mxfp4(blocks[0], scales[0]), theirs)


def test_mxfp4_by_hand() -> None:
    blocks = torch.zeros(1, 1, 16, dtype=torch.uint8)
    blocks[0, 0, 0] = 0x9 << 4 | 0x7  # even element 6, odd element -0.5
    got = mxfp4(blocks, torch.tensor([[129]], dtype=torch.uint8))  # times 2 ** 2
    assert got[0, :3].tolist() == [24.0, -2.0, 0.0]


def test_gpt_oss_in_mxfp4_reads_gate_and_up_from_every_other_row(tmp_path: Path) -> None:
    model = random_model(tiny_config("gpt_oss"))
    model.save_pretrained(tmp_path)
    tensors = load((tmp_path / "model.safetensors").read_bytes())
    decoded = {}
    for name in [n for n in tensors if n.endswith(("gate_up_proj", "down_proj"))]:
        experts, inner, outer = tensors.pop(name).shape
        inner = -(-inner // 32) * 32
        tensors[name + "_blocks"] = torch.randint(0, 256, (experts, outer, inner // 32, 16), dtype=torch.uint8)
        tensors[name + "_scales"] = torch.randint(120, 130, (experts, outer, inner // 32), dtype=torch.uint8)
        decoded[name] = mxfp4(tensors[name + "_blocks"], tensors[name + "_scales"])
    save_file(tensors, tmp_path / "model.safetensors")
    checkpoint = Checkpoint.open(tmp_path)
    plan = find_experts(checkpoint)
    assert not [n for n in plan.dense if "experts" in n]
    for layer, experts in plan.layers.items():
        for e, pieces in enumerate(experts):
            read = ExpertMatrices(checkpoint, pieces)
            both = decoded[f"model.layers.{layer}.mlp.experts.gate_up_proj"][e]
            assert torch.equal(read["gate"], both[0::2])
            assert torch.equal(read["up"], both[1::2])
            assert torch.equal(read["down"], decoded[f"model.layers.{layer}.mlp.experts.down_proj"][e])
            assert len(read["gate_bias"]) == len(both) // 2


@pytest.mark.parametrize("block", [[128, 128], [16, 16]])
def test_block_scaled_float8_is_multiplied_out(block: list[int], tmp_path: Path) -> None:
    model = random_model(tiny_config("qwen3_moe"))
    model.save_pretrained(tmp_path)
    tensors = load((tmp_path / "model.safetensors").read_bytes())
    scales = {}
    for name in [n for n in tensors if ".experts." in n]:
        rows, cols = tensors[name].shape
        tensors[name] = tensors[name].to(torch.float8_e4m3fn)
        scales[name + "_scale_inv"] = torch.rand(-(-rows // block[0]), -(-cols // block[1])) + 0.5
    save_file({**tensors, **scales}, tmp_path / "model.safetensors")
    config = json.loads((tmp_path / "config.json").read_text(encoding="utf-8"))
    config["quantization_config"] = {"quant_method": "fp8", "weight_block_size": block}
    (tmp_path / "config.json").write_text(json.dumps(config), encoding="utf-8")
    checkpoint = Checkpoint.open(tmp_path)
    plan = find_experts(checkpoint)
    assert not [n for n in plan.dense if "experts" in n]
    got = ExpertMatrices(checkpoint, plan.layers[1][3])["down"]
    name = "model.layers.1.mlp.experts.3.down_proj.weight"
    for r in range(got.shape[0]):
        for c in range(got.shape[1]):
            want = float(tensors[name][r, c].float() * scales[name + "_scale_inv"][r // block[0], c // block[1]])
            assert float(got[r, c]) == pytest.approx(want)
