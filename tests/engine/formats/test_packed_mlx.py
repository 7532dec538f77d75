"""Checkpoints as MLX writes them: stacked experts, its names, layouts and packing; what it says where it cannot."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load, save_file
from torch import Tensor

from engine.convert.expert_plan import find_experts
from engine.convert.importer import import_checkpoint
from engine.convert.pieces import read_piece
from engine.errors import Kind, UnderhillError
from engine.formats.opening import open_source
from engine.formats.packed_mlx import bit_stream
from engine.kernels.activation import Activation
from engine.library import library
from tests.engine.formats import packers
from tests.engine.models.compat.checkpoint import Dense, MemoryExperts
from tests.engine.models.compat.tiny import tiny_config
from tests.engine.models.open_decoder import open_decoder
from tests.engine.models.parity import hf_model, oracle_logits

pytestmark = pytest.mark.long

PARTS = ("gate", "up", "down")
NORMS = (
    "input_layernorm.weight",
    "post_attention_layernorm.weight",
    "q_norm.weight",
    "k_norm.weight",
    "model.norm.weight",
)
# How MLX calls the module that holds the experts, by family.
MODULES = {
    "qwen3_moe": "mlp.switch_mlp", "mixtral": "block_sparse_moe.switch_mlp", "dots1": "mlp.experts",
    "deepseek_v3": "mlp.switch_mlp", "glm4_moe_lite": "mlp.switch_mlp", "qwen3_next": "mlp.switch_mlp",
}  # fmt: skip
SIZES = {
    "hidden_size": 64, "moe_intermediate_size": 32, "intermediate_size": 32, "kv_lora_rank": 32, "qk_nope_head_dim": 32,
    "q_lora_rank": 32,
}  # fmt: skip


def as_mlx(
    folder: Path, family: str, bits: int = 4, skip: tuple[str, ...] = ("gate.",), **sizes: int
) -> tuple[Any, dict[str, Tensor]]:
    """A random model as MLX would have written it, in `folder`; and the model, with the weights that are then meant.

    skip: parts of the names of matrices that stay as they are.
    """
    config = tiny_config(family, **SIZES, **sizes)
    model = hf_model(config)
    model.save_pretrained(folder)
    plain, source = load((folder / "model.safetensors").read_bytes()), open_source(folder)
    plan, made, meant = find_experts(source), {}, {}

    def put(name: str, weight: Tensor) -> Tensor:
        """As MLX packs it where it does; what it then means."""
        stacked = weight if weight.dim() == 3 else weight.unsqueeze(0)
        if any(part in name for part in skip) or weight.dim() < 2 or weight.shape[-1] % 32 or "conv1d" in name:
            made[name] = weight
            return weight
        found = [packers.mlx(each, bits) for each in stacked]
        for ending in ("weight", "scales", "biases"):
            tensor = torch.stack([packed[ending].view(torch.int16 if ending != "weight" else torch.int32)
                                  for packed, _ in found])  # fmt: skip
            tensor = tensor.view(torch.bfloat16 if ending != "weight" else torch.uint32)
            made[f"{name.removesuffix('.weight')}.{ending}"] = tensor if weight.dim() == 3 else tensor[0]
        back = torch.stack([each for _, each in found])
        return back if weight.dim() == 3 else back[0]

    for layer, experts in plan.layers.items():
        for part in PARTS:
            stack = torch.stack([read_piece(source, e.matrices[part]) for e in experts])
            meant[f"{layer} {part}"] = put(f"model.layers.{layer}.{MODULES[family]}.{part}_proj.weight", stack)
    for name in plan.dense:
        weight = plain[name]
        if name.endswith("kv_b_proj.weight"):
            heads, nope = config.num_attention_heads, config.qk_nope_head_dim
            keys, values = weight.reshape(heads, -1, weight.shape[1]).split([nope, config.v_head_dim], 1)
            keys = put(name.replace("kv_b_proj", "embed_q"), keys.transpose(1, 2).contiguous()).transpose(1, 2)
            values = put(name.replace("kv_b_proj", "unembed_out"), values.contiguous())
            meant[name] = torch.cat((keys, values), 1).reshape(weight.shape)
        elif family == "qwen3_next" and name.endswith(NORMS):
            made[name], meant[name] = weight + 1, weight
        elif name.endswith("conv1d.weight"):
            made[name], meant[name] = weight.transpose(1, 2).contiguous(), weight
        else:
            meant[name] = put(name, weight)
    save_file({n: t.contiguous() for n, t in made.items()}, folder / "model.safetensors")
    said = {"group_size": 32, "bits": bits}
    written = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    (folder / "config.json").write_text(
        json.dumps({**written, "quantization": said, "quantization_config": said}), encoding="utf-8"
    )
    return model, meant


@pytest.mark.parametrize("family", MODULES)
def test_every_matrix_and_the_logits(family: str, tmp_path: Path) -> None:
    """Experts come out exactly, all others within bf16; and transformers with the same weights agrees."""
    model, meant = as_mlx(tmp_path, family)
    source = open_source(tmp_path)
    plan = find_experts(source)
    for layer, experts in plan.layers.items():
        for part in PARTS:
            found = torch.stack([read_piece(source, e.matrices[part]) for e in experts])
            assert torch.equal(found, meant[f"{layer} {part}"])
    weights = model.state_dict()
    for name in plan.dense:
        tensor = source.tensor(name)
        assert tensor.shape == meant[name].shape
        assert (tensor.float() - meant[name]).abs().max() <= 2**-7 * meant[name].abs().max()
        assert b"".join(map(bytes, source.chunks(name))) == tensor.reshape(-1).view(torch.uint8).numpy().tobytes()
        if name in weights:
            weights[name].copy_(tensor)
    for layer, experts in plan.layers.items():
        whole = {part: torch.stack([read_piece(source, e.matrices[part]) for e in experts]) for part in PARTS}
        module = model.model.layers[layer].mlp.experts
        module.gate_up_proj.data.copy_(torch.cat((whole["gate"], whole["up"]), 1))
        module.down_proj.data.copy_(whole["down"])
    backend = MemoryExperts(source, plan)
    decoder = open_decoder(source.config, Dense(source, plan), backend)
    backend.activations = dict.fromkeys(plan.layers, Activation("silu"))
    ids = list(range(3, 30))
    ours = decoder.forward(ids, decoder.new_state(), "all")
    assert ours is not None
    assert (ours - oracle_logits(model, ids)).abs().max() <= 2e-5


@pytest.mark.parametrize("bits", [2, 3, 4, 5, 6, 8])
def test_codes_of_any_width(bits: int) -> None:
    weight = torch.randn(3, 64, generator=torch.Generator().manual_seed(bits))
    found, meant = packers.mlx(weight, bits)
    codes = bit_stream(found["weight"], bits)
    each = [found[ending].float().repeat_interleave(32, 1) for ending in ("scales", "biases")]
    assert torch.equal(codes * each[0] + each[1], meant)


def test_it_is_imported_and_its_matrices_may_differ_in_bits(tmp_path: Path) -> None:
    as_mlx(tmp_path / "source", "qwen3_moe")
    file, config = tmp_path / "source" / "model.safetensors", tmp_path / "source" / "config.json"
    tensors, said = load(file.read_bytes()), json.loads(config.read_text(encoding="utf-8"))
    name = "model.layers.0.self_attn.q_proj"
    weight = torch.randn(32, 64, generator=torch.Generator().manual_seed(1))
    eight, meant = packers.mlx(weight, 8)
    save_file({**tensors, **{f"{name}.{ending}": tensor for ending, tensor in eight.items()}}, file)
    said["quantization"][name] = {"group_size": 32, "bits": 8}
    config.write_text(json.dumps(said), encoding="utf-8")
    source = open_source(tmp_path / "source")
    assert torch.equal(source.tensor(f"{name}.weight"), meant.bfloat16())
    assert source.form.name == "MLX 4-bit"
    store = import_checkpoint(tmp_path / "source", tmp_path / "store", top=4)
    assert "MLX 4-bit" in library.source_note(store)


def test_unquantized_experts_of_a_layer_are_taken_apart(tmp_path: Path) -> None:
    _, meant = as_mlx(tmp_path, "qwen3_moe", skip=(".",))
    source = open_source(tmp_path)
    pieces = find_experts(source).layers[1][3]
    assert torch.equal(read_piece(source, pieces.matrices["up"]), meant["1 up"][3])


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"model_type": "gpt_oss"}, "quantized by MLX, which stores gpt_oss models in a way of its own"),
        ({"quantization": {"bits": 4, "group_size": 16, "mode": "nvfp4"}}, "quantized by MLX, which .* as nvfp4"),
        ({"quantization": {"bits": 7, "group_size": 32}}, "quantized by MLX, which .* with 7 bits"),
        (
            {"model_type": "llama", "num_experts": None, "num_local_experts": None},
            "llama model is dense",
        ),
    ],
)
def test_what_it_cannot_read_is_said(change: dict[str, Any], sentence: str, tmp_path: Path) -> None:
    as_mlx(tmp_path, "qwen3_moe")
    config = json.loads((tmp_path / "config.json").read_text(encoding="utf-8"))
    (tmp_path / "config.json").write_text(json.dumps({**config, **change}), encoding="utf-8")
    with pytest.raises(UnderhillError, match=sentence) as caught:
        find_experts(open_source(tmp_path))
    assert caught.value.kind is Kind.UNSUPPORTED_MODEL
