"""Every expert read from a checkpoint equals its slice of transformers' own parameter."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load, load_file, save_file
from torch import Tensor

from engine.convert.expert_plan import find_experts
from engine.convert.pieces import ExpertMatrices
from engine.errors import Kind, UnderhillError
from engine.formats.checkpoint import Checkpoint
from engine.formats.families import FAMILIES
from engine.models import families
from tests.engine.models.compat.checkpoint import random_model
from tests.engine.models.compat.tiny import tiny_config
from tests.engine.models.mtp_checkpoint import write_checkpoint

INSIDE = {"qwen3_5_moe_text", "gemma4_text", "llama4_text"}  # inside qwen3_5_moe, gemma4 and llama4
UNKNOWN = {"bailing_moe", "bailing_moe_v2", "kimi_k2"}  # to transformers: their own tests read them through a plan
OTHERWISE = {"llama4", "longcat_flash", "step3p5", "step3p7"}  # outside the experts interface
SEEING = {"kimi_k25", "mistral3"}  # another family inside: test_seeing.py
MODEL_TYPES = sorted(set(FAMILIES) - INSIDE - UNKNOWN - OTHERWISE - SEEING)


def fused_experts(model: Any) -> dict[int, Any]:
    """The modules that hold all experts of a layer in one parameter, by layer."""
    found = {}
    for name, module in model.named_modules():
        if hasattr(module, "is_transposed") and hasattr(module, "down_proj"):
            found[int(re.search(r"layers\.(\d+)\.", name).group(1))] = module  # type: ignore[union-attr]
    return found


def expected(module: Any, expert: int) -> dict[str, Tensor]:
    """One expert of transformers' module as [out, in] matrices, from the flags of its own class."""
    if not module.has_gate:
        return {"up": module.up_proj[expert], "down": module.down_proj[expert]}
    gate_up, down = module.gate_up_proj[expert], module.down_proj[expert]
    if module.is_transposed:
        gate_up, down = gate_up.T, down.T
    half = gate_up.shape[0] // 2
    gate = slice(0, half) if module.is_concatenated else slice(0, None, 2)
    up = slice(half, None) if module.is_concatenated else slice(1, None, 2)
    result = {"gate": gate_up[gate], "up": gate_up[up], "down": down}
    if module.has_bias:
        bias = module.gate_up_proj_bias[expert]
        result |= {"gate_bias": bias[gate], "up_bias": bias[up], "down_bias": module.down_proj_bias[expert]}
    return result


def assert_same_experts(model: Any, path: Path) -> None:
    checkpoint = Checkpoint.open(path)
    plan = find_experts(checkpoint)
    modules = fused_experts(model)
    assert set(plan.layers) == set(modules)
    for layer, module in modules.items():
        assert len(plan.layers[layer]) == module.down_proj.shape[0]
        for expert, pieces in enumerate(plan.layers[layer]):
            read, want = ExpertMatrices(checkpoint, pieces), expected(module, expert)
            assert set(read) == set(want)
            for name, matrix in want.items():
                assert torch.equal(read[name], matrix), f"{name} of expert {expert} in layer {layer}"


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """model_type -> (transformers' model, the directory it was saved in)."""
    kept: dict[str, tuple[Any, Path]] = {}

    def get(model_type: str) -> tuple[Any, Path]:
        if model_type not in kept:
            model = random_model(tiny_config(model_type))
            path = tmp_path_factory.mktemp(model_type)
            model.save_pretrained(path)
            kept[model_type] = (model, path)
        return kept[model_type]

    return get


@pytest.mark.parametrize("model_type", MODEL_TYPES)
def test_every_expert_equals_its_slice(model_type: str, saved: Any) -> None:
    assert_same_experts(*saved(model_type))


@pytest.mark.parametrize("model_type", MODEL_TYPES)
def test_every_other_tensor_is_dense_or_known_to_be_unused(model_type: str, saved: Any) -> None:
    _, path = saved(model_type)
    checkpoint = Checkpoint.open(path)
    plan = find_experts(checkpoint)
    experts = {
        p.key for layer in plan.layers.values() for e in layer for p in (*e.matrices.values(), *e.biases.values())
    }
    assert experts | set(plan.dense) | set(plan.unused) | set(plan.vision) == set(checkpoint.entries)
    assert not experts & set(plan.dense)
    assert not [n for n in plan.unused if not re.search("visual|vision|audio|projector|patch_merge", n)]
    assert not [n for n in plan.dense if re.search(r"\bexperts\.\d", n)]


def test_layouts_and_decoders_know_the_same_families() -> None:
    assert set(FAMILIES) == set(families.FAMILIES)


@pytest.mark.parametrize("model_type", ["qwen3_moe", "olmoe", "qwen3_5_moe", "qwen3_vl_moe", "glm4v_moe"])
def test_a_copy_saved_with_all_experts_in_one_tensor_reads_the_same(
    model_type: str, saved: Any, tmp_path: Path
) -> None:
    model, path = saved(model_type)
    tensors = {n: t for n, t in load((path / "model.safetensors").read_bytes()).items() if ".experts." not in n}
    root = "model.layers" if model_type in ("qwen3_moe", "olmoe") else "model.language_model.layers"
    for layer, module in fused_experts(model).items():
        for name in ("gate_up_proj", "down_proj"):
            tensors[f"{root}.{layer}.mlp.experts.{name}"] = getattr(module, name).detach().clone()
    save_file(tensors, tmp_path / "model.safetensors")
    (tmp_path / "config.json").write_bytes((path / "config.json").read_bytes())
    assert_same_experts(model, tmp_path)


@pytest.mark.parametrize(("hidden", "intermediate"), [(32, 24), (32, 16), (32, 32)])  # 2I = H, I = H: square ones
def test_experts_may_lie_transposed(hidden: int, intermediate: int, tmp_path: Path) -> None:
    model = random_model(tiny_config("qwen3_vl_moe", hidden_size=hidden, moe_intermediate_size=intermediate))
    model.save_pretrained(tmp_path)
    assert_same_experts(model, tmp_path)
    file = tmp_path / "model.safetensors"
    stored = load(file.read_bytes())
    save_file({n: t.transpose(1, 2).contiguous() if ".experts." in n else t for n, t in stored.items()}, file)
    assert_same_experts(model, tmp_path)


def test_layers_that_predict_further_tokens_are_left_out(saved: Any, tmp_path: Path) -> None:
    _, path = saved("glm4_moe")
    tensors = load((path / "model.safetensors").read_bytes())
    layers = json.loads((path / "config.json").read_text(encoding="utf-8"))["num_hidden_layers"]
    extra = {n.replace(".layers.1.", f".layers.{layers}."): t for n, t in tensors.items() if ".layers.1." in n}
    save_file({**tensors, **{n: t.clone() for n, t in extra.items()}, "mtp.norm.weight": torch.ones(4)},
              tmp_path / "model.safetensors")  # fmt: skip
    (tmp_path / "config.json").write_bytes((path / "config.json").read_bytes())
    plan = find_experts(Checkpoint.open(tmp_path))
    assert layers not in plan.layers
    assert set(plan.unused) == {*extra, "mtp.norm.weight"}


def test_a_family_without_a_row_is_read_through_transformers_tables(tmp_path: Path) -> None:
    model = random_model(tiny_config("flint"))
    model.save_pretrained(tmp_path)
    assert "flint" not in FAMILIES
    assert_same_experts(model, tmp_path)


# ---- what cannot be imported --------------------------------------------------------------------------------------


def rewrite(path: Path, to: Path, config: dict[str, Any] | None = None, drop: str = "", change: Any = None) -> Path:
    """A copy of a checkpoint with changes."""
    tensors = {n: (change(n, t) if change else t) for n, t in load((path / "model.safetensors").read_bytes()).items()}
    save_file({n: t for n, t in tensors.items() if not drop or drop not in n}, to / "model.safetensors")
    old = json.loads((path / "config.json").read_text(encoding="utf-8"))
    (to / "config.json").write_text(json.dumps({**old, **(config or {})}), encoding="utf-8")
    return to


def refused(path: Path) -> UnderhillError:
    with pytest.raises(UnderhillError) as caught:
        find_experts(Checkpoint.open(path))
    return caught.value


def test_a_dense_model_is_refused(saved: Any, tmp_path: Path) -> None:
    error = refused(rewrite(saved("qwen3_moe")[1], tmp_path, drop=".experts."))
    assert error.kind is Kind.UNSUPPORTED_MODEL
    assert "dense" in error.sentence


def test_a_dense_family_is_refused(tmp_path: Path) -> None:
    from transformers import LlamaConfig

    config = LlamaConfig(
        vocab_size=32, hidden_size=16, intermediate_size=32, num_hidden_layers=1, num_attention_heads=2
    )
    random_model(config).save_pretrained(tmp_path)
    assert refused(tmp_path).kind is Kind.UNSUPPORTED_MODEL


@pytest.mark.parametrize("drop", ["layers.1.mlp.experts.7.", "layers.2.mlp.experts.0.up_proj"])
def test_a_missing_expert_is_named(drop: str, saved: Any, tmp_path: Path) -> None:
    error = refused(rewrite(saved("qwen3_moe")[1], tmp_path, drop=drop))
    assert error.kind is Kind.MISSING_FILE
    layer, expert = re.findall(r"\d+", drop)
    assert f"Expert {expert} of layer {layer}" in error.sentence


def test_other_quantizations_are_refused_by_name(saved: Any, tmp_path: Path) -> None:
    config = {"quantization_config": {"quant_method": "gptq"}}
    error = refused(rewrite(saved("qwen3_moe")[1], tmp_path, config=config))
    assert error.kind is Kind.UNSUPPORTED_MODEL
    assert "gptq" in error.sentence


def test_experts_of_an_integer_type_are_refused(saved: Any, tmp_path: Path) -> None:
    def change(name: str, t: Tensor) -> Tensor:
        return t.to(torch.int32) if ".experts." in name else t

    checkpoint = Checkpoint.open(rewrite(saved("qwen3_moe")[1], tmp_path, change=change))
    pieces = find_experts(checkpoint).layers[0][0]
    with pytest.raises(UnderhillError) as caught:
        ExpertMatrices(checkpoint, pieces)["up"]
    assert caught.value.kind is Kind.UNSUPPORTED_MODEL
    assert "I32" in caught.value.sentence


@pytest.mark.parametrize(
    "lost",
    [None, "enorm.weight", "self_attn.q_proj.weight", "mlp.experts.5.up_proj.weight"],
    ids=["whole", "joins nothing", "no queries", "an expert is not whole"],
)
def test_a_layer_for_multi_token_prediction_is_taken_where_it_is_whole(lost: str | None, tmp_path: Path) -> None:
    write_checkpoint("glm4_moe", tmp_path)
    tensors = load_file(tmp_path / "model.safetensors")
    own = {name for name in tensors if name.startswith("model.layers.3.")}
    if lost is not None:
        del tensors[f"model.layers.3.{lost}"]
        save_file(tensors, tmp_path / "model.safetensors")
    plan = find_experts(Checkpoint.open(tmp_path))
    assert set(plan.layers) == {1, 2}
    if lost is not None:
        assert not plan.mtp
        assert set(plan.unused) == own - {f"model.layers.3.{lost}"}
        assert not any(name.startswith("model.layers.3.") for name in plan.dense)
        return
    assert {layer: len(experts) for layer, experts in plan.mtp.items()} == {3: 8}
    assert set(plan.unused) == {f"model.layers.3.{name}.weight" for name in ("embed_tokens", "shared_head.head")}
    assert {"model.layers.3.eh_proj.weight", "model.layers.3.mlp.gate.e_score_correction_bias"} <= set(plan.dense)
