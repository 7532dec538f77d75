"""GPTQ, AWQ and compressed-tensors: matrices packed here bit by bit come back as they were meant."""

from __future__ import annotations

import json
from collections.abc import Callable
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
from engine.formats.source import DecodedEntry
from engine.kernels.activation import Activation
from engine.library import library
from tests.engine.formats import forms, packers
from tests.engine.models.compat.checkpoint import Dense, MemoryExperts
from tests.engine.models.compat.tiny import tiny_config
from tests.engine.models.open_decoder import open_decoder
from tests.engine.models.parity import hf_model, oracle_logits

pytestmark = pytest.mark.long

GROUP = 16


def words(values: list[list[int]], bits: int, order: tuple[int, ...] | None = None) -> Tensor:
    """Rows of small numbers to rows of int32, 32 / bits to a word; order: which of them each place takes."""
    pack = 32 // bits
    rows = []
    for row in values:
        packed = []
        for at in range(0, len(row), pack):
            word = sum(row[at + (order[i] if order else i)] << (bits * i) for i in range(pack))
            packed.append(word - (1 << 32) if word >= 1 << 31 else word)
        rows.append(packed)
    return torch.tensor(rows, dtype=torch.int32)


def quantized(weight: Tensor, bits: int, symmetric: bool, group_of: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """(codes [out, in], zeros and scales [out, groups], what they mean [out, in]) by rounding to nearest."""
    count = int(group_of.max()) + 1
    top = (1 << bits) - 1
    codes = torch.empty(weight.shape, dtype=torch.int64)
    zeros = torch.empty(len(weight), count, dtype=torch.int64)
    scales = torch.empty(len(weight), count, dtype=torch.float16)
    for g in range(count):
        part = weight[:, group_of == g]
        low, high = part.amin(1).clamp(max=0), part.amax(1).clamp(min=0)
        if symmetric:
            scale, zero = 2 * part.abs().amax(1) / top, torch.full((len(weight),), (top + 1) // 2)
        else:
            scale = (high - low) / top
            zero = (-low / scale).round().long()
        scales[:, g], zeros[:, g] = scale.half(), zero
        codes[:, group_of == g] = ((part / scales[:, g, None].float()).round().long() + zero[:, None]).clamp(0, top)
    return codes, zeros, scales, (codes - zeros[:, group_of]) * scales[:, group_of].float()


def equal_groups(inputs: int) -> Tensor:
    return torch.arange(inputs) // GROUP


def gptq(weight: Tensor, bits: int = 4, symmetric: bool = False, reorder: bool = False, v2: bool = False) -> Any:
    group_of = equal_groups(weight.shape[1])
    if reorder:
        group_of = group_of[torch.randperm(len(group_of), generator=torch.Generator().manual_seed(len(group_of)))]
    codes, zeros, scales, meant = quantized(weight, bits, symmetric, group_of)
    stored = zeros if v2 else (zeros - 1) % (1 << bits)
    return {
        "qweight": words(codes.tolist(), bits).T.contiguous(),
        "qzeros": words(stored.T.tolist(), bits),
        "scales": scales.T.contiguous(),
        "g_idx": group_of.int(),
    }, meant


def awq(weight: Tensor) -> Any:
    codes, zeros, scales, meant = quantized(weight, 4, False, equal_groups(weight.shape[1]))
    order = (0, 2, 4, 6, 1, 3, 5, 7)
    return {
        "qweight": words(codes.T.tolist(), 4, order),
        "qzeros": words(zeros.T.tolist(), 4, order),
        "scales": scales.T.contiguous(),
    }, meant


def compressed(weight: Tensor, symmetric: bool = True) -> Any:
    codes, zeros, scales, meant = quantized(weight, 4, symmetric, equal_groups(weight.shape[1]))
    found = {
        "weight_packed": words(codes.tolist(), 4),
        "weight_scale": scales,
        "weight_shape": torch.tensor(weight.shape),
    }
    if not symmetric:
        found["weight_zero_point"] = words(zeros.T.tolist(), 4).T.contiguous()
    return found, meant


def _settings(**scheme: Any) -> dict[str, Any]:
    weights = {"num_bits": 4, "type": "int", "group_size": GROUP, "strategy": "group", **scheme}
    return {
        "quant_method": "compressed-tensors",
        "format": "pack-quantized",
        "config_groups": {"0": {"weights": weights}},
    }


def float8(weight: Tensor, block: tuple[int, int], name: str, flat: bool = False) -> Any:
    rows, columns = (torch.arange(n) // b for n, b in zip(weight.shape, block, strict=True))
    scales = torch.zeros(int(rows.max()) + 1, int(columns.max()) + 1)
    for i in range(len(scales)):
        for j in range(scales.shape[1]):
            scales[i, j] = weight[rows == i][:, columns == j].abs().max() / 448
    codes = (weight / scales[rows][:, columns]).to(torch.float8_e4m3fn)
    stored = scales.flatten() if flat else scales
    return {"weight": codes, name: stored, "input_scale": torch.ones(1)}, codes.float() * scales[rows][:, columns]


def _floats(form: str, group: int) -> dict[str, Any]:
    weights = {"num_bits": 4, "type": "float", "group_size": group}
    return {"quant_method": "compressed-tensors", "format": form, "config_groups": {"0": {"weights": weights}}}


def _bnb(kind: str, nested: bool) -> dict[str, Any]:
    return {
        "quant_method": "bitsandbytes", "load_in_4bit": True, "load_in_8bit": False, "bnb_4bit_quant_type": kind,
        "bnb_4bit_use_double_quant": nested,
    }  # fmt: skip


def _hqq(bits: int, axis: int = 1) -> dict[str, Any]:
    params = {"nbits": bits, "group_size": GROUP, "axis": axis, "optimize": True, "round_zero": bits == 4}
    return {"quant_method": "hqq", "quant_config": {"weight_quant_params": params}, "skip_modules": ["lm_head"]}


def _auto_round(form: str) -> dict[str, Any]:
    how = {"quant_method": "auto-round", "packing_format": f"auto_round:{form}", "data_type": "int", "sym": False}
    return {**how, "bits": 4, "group_size": GROUP}


FP8 = {"quant_method": "fp8", "weight_block_size": [16, 16]}
CHANNELS = {"quant_method": "compressed-tensors", "format": "float-quantized"}
GPTQ = {"quant_method": "gptq", "bits": 4, "group_size": GROUP}
WAYS: dict[str, tuple[dict[str, Any], Callable[[Tensor], Any]]] = {
    "gptq": (GPTQ, gptq),
    "gptq symmetric": ({**GPTQ, "sym": True}, lambda w: gptq(w, symmetric=True)),
    "gptq reordered": ({**GPTQ, "desc_act": True}, lambda w: gptq(w, reorder=True)),
    "gptq version 2": ({**GPTQ, "checkpoint_format": "gptq_v2"}, lambda w: gptq(w, v2=True)),
    "gptq 8 bits": ({**GPTQ, "bits": 8}, lambda w: gptq(w, bits=8)),
    "awq": ({"quant_method": "awq", "bits": 4, "group_size": GROUP, "version": "gemm"}, awq),
    "compressed-tensors": (_settings(), compressed),
    "compressed-tensors with zeros": (_settings(symmetric=False), lambda w: compressed(w, False)),
    "float8 in blocks of 16": (FP8, lambda w: float8(w, (16, 16), "weight_scale_inv")),
    "auto-round as GPTQ": (_auto_round("auto_gptq"), gptq),
    "auto-round as AWQ": (_auto_round("auto_awq"), awq),
    "gptq with other bits": ({**GPTQ, "dynamic": {"+:.*": {"bits": 8}}}, lambda w: gptq(w, bits=8)),
    "nvfp4": (_floats("nvfp4-pack-quantized", 16), packers.nvfp4),
    "mxfp4": (_floats("mxfp4-pack-quantized", 32), packers.mxfp4),
    "modelopt": ({"quant_method": "modelopt", "quant_algo": "NVFP4"}, lambda w: packers.nvfp4(w, True)),
    "modelopt beside config.json": ({}, lambda w: packers.nvfp4(w, True)),
    "modelopt FP8": (
        {"quant_method": "modelopt", "quant_algo": "FP8"},
        lambda w: float8(w, (99, 99), "weight_scale", True),
    ),
    "nf4": (_bnb("nf4", False), packers.bitsandbytes),
    "nf4 twice": (_bnb("nf4", True), lambda w: packers.bitsandbytes(w, nested=True)),
    "bitsandbytes fp4": (_bnb("fp4", False), lambda w: packers.bitsandbytes(w, "fp4")),
    "hqq 4 bits": (_hqq(4), packers.hqq),
    "hqq 3 bits": (_hqq(3), lambda w: packers.hqq(w, 3)),
    "hqq 2 bits": (_hqq(2), lambda w: packers.hqq(w, 2)),
    "hqq 8 bits": (_hqq(8), lambda w: packers.hqq(w, 8)),
    "hqq by columns": (_hqq(4, 0), lambda w: packers.hqq(w, 4, 0)),
    "float8, one scale": ({"quant_method": "fp8"}, lambda w: float8(w, (99, 99), "weight_scale_inv", True)),
    "float8 by outputs": (CHANNELS, lambda w: float8(w, (1, 99), "weight_scale")),
}


def pack(
    folder: Path, way: str, model_type: str = "qwen3_moe", hidden: int = 32, **sizes: int
) -> tuple[Any, dict[str, Tensor]]:
    """A random model with its experts and attention packed in `folder`; and the model that this means."""
    model = hf_model(
        tiny_config(model_type, hidden_size=hidden, moe_intermediate_size=64, intermediate_size=64, **sizes)
    )
    model.save_pretrained(folder)
    settings, packer = WAYS[way]
    tensors, meant = load((folder / "model.safetensors").read_bytes()), {}
    for name in [n for n in tensors if n.endswith("_proj.weight") or ".experts." in n]:
        found, weight = packer(tensors.pop(name))
        stem = name.removesuffix(".weight")
        tensors |= {f"{stem}.{ending}": tensor for ending, tensor in found.items()}
        meant[name] = weight if ".experts." in name else weight.bfloat16().float()
    save_file(tensors, folder / "model.safetensors")
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    (folder / "config.json").write_text(json.dumps({**config, "quantization_config": settings}), encoding="utf-8")
    return model, meant


# Whose factors are multiplied in another order there, which is one rounding.
ROUNDED = ("nvfp4", "modelopt", "nf4", "bitsandbytes", "hqq")


def assert_same(found: Tensor, meant: Tensor, way: str, step: float) -> None:
    """The same numbers; but for that rounding, where there is one."""
    assert found.shape == meant.shape
    assert (found - meant).abs().max() <= (step * meant.abs().max() if way.startswith(ROUNDED) else 0)


@pytest.mark.parametrize("way", WAYS)
def test_every_matrix_and_the_logits(way: str, tmp_path: Path) -> None:
    """Experts come out exactly, all others in bf16, what is not packed as it was; and transformers agrees."""
    model, meant = pack(tmp_path, way)
    source = open_source(tmp_path)
    plan = find_experts(source)
    assert {n for n in meant if ".experts." not in n} <= set(plan.dense)
    assert not [n for n in plan.dense if not n.endswith((".weight", ".bias"))]
    for layer, experts in plan.layers.items():
        for e, pieces in enumerate(experts):
            for part in ("gate", "up", "down"):
                name = f"model.layers.{layer}.mlp.experts.{e}.{part}_proj.weight"
                assert_same(read_piece(source, pieces.matrices[part]), meant[name], way, 1e-6)
    for name in plan.dense:
        tensor = source.tensor(name)
        if name in meant:
            assert tensor.dtype == torch.bfloat16
            assert_same(tensor.float(), meant[name], way, 2**-7)
            assert torch.equal(source.part(name, (), (3, 9)), tensor[3:9])
        assert b"".join(map(bytes, source.chunks(name))) == tensor.reshape(-1).view(torch.uint8).numpy().tobytes()

    folder = tmp_path / "plain"
    model.save_pretrained(folder)
    save_file({**load((folder / "model.safetensors").read_bytes()), **meant}, folder / "model.safetensors")
    theirs = type(model).from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").eval()
    backend = MemoryExperts(source, plan)
    decoder = open_decoder(source.config, Dense(source, plan), backend)
    backend.activations = dict.fromkeys(plan.layers, Activation("silu"))
    ids = list(range(3, 30))
    ours = decoder.forward(ids, decoder.new_state(), "all")
    assert ours is not None
    assert (ours - oracle_logits(theirs, ids)).abs().max() <= 1e-5


# Ways of four bits whose codes a store keeps as they are, with how far what they then mean may be off.
KEPT = {
    "gptq": 1e-6, "gptq symmetric": 1e-6, "gptq version 2": 1e-6, "awq": 1e-6, "compressed-tensors": 1e-6,
    "compressed-tensors with zeros": 1e-6, "auto-round as GPTQ": 1e-6, "auto-round as AWQ": 1e-6, "nvfp4": 1e-6,
    "mxfp4": 1e-6, "modelopt": 1e-6, "nf4": 3e-3, "nf4 twice": 3e-3, "hqq 4 bits": 1e-6,
}  # fmt: skip


@pytest.mark.parametrize("way", KEPT)
def test_four_bits_are_handed_on_as_the_codes_they_are(way: str, tmp_path: Path) -> None:
    _, meant = pack(tmp_path, way, hidden=64)
    source = open_source(tmp_path)
    for name, weight in meant.items():
        if ".experts." in name:
            entry = source.entry(name)
            assert isinstance(entry, DecodedEntry)
            assert entry.coded is not None
            found = entry.coded.grouped(3, 19)
            assert found.coding == entry.coded.coding
            assert (found.values() - weight[3:19]).abs().max() <= KEPT[way] * weight.abs().max()


def test_the_store_says_what_it_was_made_from(tmp_path: Path) -> None:
    pack(tmp_path / "source", "gptq reordered")
    store = import_checkpoint(tmp_path / "source", tmp_path / "store", top=4, group=32)
    assert "GPTQ 4-bit, act-order, about 5.25 bits" in library.source_note(store)


def test_codes_that_act_order_keeps_from_being_kept_are_said_to_be_quantized_again(tmp_path: Path) -> None:
    """At import and by info; not where codes are kept, nor where 8 bits were asked for."""
    forms.FORMS["GPTQ"](tmp_path / "source")
    kept = import_checkpoint(tmp_path / "source", tmp_path / "kept", 0)
    assert "a second time" not in library.source_note(kept)
    file = tmp_path / "source" / "config.json"
    config = json.loads(file.read_text(encoding="utf-8"))
    config["quantization_config"]["desc_act"] = True
    file.write_text(json.dumps(config), encoding="utf-8")
    note = library.source_note(import_checkpoint(tmp_path / "source", tmp_path / "again", 0))
    assert "GPTQ 4-bit, act-order" in note
    assert "act-order puts each" in note
    assert "a second time" not in library.source_note(import_checkpoint(tmp_path / "source", tmp_path / "eight", 8))


def test_biases_of_nothing_are_left_out(tmp_path: Path) -> None:
    pack(tmp_path, "gptq")
    tensors = load((tmp_path / "model.safetensors").read_bytes())
    stems = [n.removesuffix(".qweight") for n in tensors if n.endswith(".qweight")]
    tensors |= {f"{stem}.bias": torch.zeros(8) for stem in stems if ".experts." in stem}
    save_file(tensors, tmp_path / "model.safetensors")
    source = open_source(tmp_path)
    assert not [name for name in source.entries if ".experts." in name and name.endswith(".bias")]


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({**GPTQ, "bits": 3}, "GPTQ with 3 bits"),
        ({**GPTQ, "checkpoint_format": "marlin"}, "in the format 'marlin'"),
        ({"quant_method": "awq", "bits": 4, "version": "gemv"}, "'gemv' kernels"),
        ({**FP8, "weight_block_size": [16]}, r"FP8 in blocks of \[16\]"),
        ({"quant_method": "compressed-tensors", "format": "marlin-24"}, "in the format 'marlin-24'"),
        (_settings(type="float"), "as 'float'"),
        (_settings(num_bits=5), "with 5 bits"),
        ({"quant_method": "exl3"}, r"isn\'t supported \(exl3\)"),
    ],
)
def test_other_packings_are_refused(settings: dict[str, Any], sentence: str, tmp_path: Path) -> None:
    pack(tmp_path, "gptq")
    config = json.loads((tmp_path / "config.json").read_text(encoding="utf-8"))
    (tmp_path / "config.json").write_text(json.dumps({**config, "quantization_config": settings}), encoding="utf-8")
    with pytest.raises(UnderhillError, match=sentence) as caught:
        find_experts(open_source(tmp_path))
    assert caught.value.kind is Kind.UNSUPPORTED_MODEL


STEM = "model.layers.0.self_attn.q_proj"


@pytest.mark.parametrize(
    ("change", "kind", "sentence"),
    [
        (lambda t: t.pop(f"{STEM}.qzeros"), Kind.MISSING_FILE, r"lacks the tensor .*q_proj\.qzeros"),
        (lambda t: t.update({f"{STEM}.scales": t[f"{STEM}.scales"][:, :8].clone()}), Kind.BROKEN_FILE, "another shape"),
        (lambda t: t.update({f"{STEM}.qweight": t[f"{STEM}.qweight"][0].clone()}), Kind.BROKEN_FILE, "no matrix"),
        (lambda t: t.update({f"{STEM}.g_idx": t[f"{STEM}.g_idx"] + 7}), Kind.BROKEN_FILE, "groups that there are not"),
    ],
)
def test_damage_is_named(change: Callable[[dict[str, Tensor]], Any], kind: Kind, sentence: str, tmp_path: Path) -> None:
    pack(tmp_path, "gptq")
    tensors = load((tmp_path / "model.safetensors").read_bytes())
    change(tensors)
    save_file(tensors, tmp_path / "model.safetensors")
    with pytest.raises(UnderhillError, match=sentence) as caught:
        open_source(tmp_path).tensor(f"{STEM}.weight")
    assert caught.value.kind is kind


def test_a_config_that_lies_about_packing(tmp_path: Path) -> None:
    hf_model(tiny_config("qwen3_moe")).save_pretrained(tmp_path)
    config = json.loads((tmp_path / "config.json").read_text(encoding="utf-8"))
    (tmp_path / "config.json").write_text(json.dumps({**config, "quantization_config": GPTQ}), encoding="utf-8")
    with pytest.raises(UnderhillError, match="says that the weights are GPTQ 4-bit, and none"):
        open_source(tmp_path)
