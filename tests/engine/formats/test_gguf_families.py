"""Every architecture that is read from GGUF: the config comes back, the tensors too, and the model says the same."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gguf
import pytest
import torch
from gguf import GGMLQuantizationType as Type
from safetensors.torch import load, save_file
from transformers import Qwen3VLMoeConfig

from engine.convert.expert_plan import find_experts
from engine.convert.pieces import read_piece
from engine.formats.gguf_names import ARCHITECTURES
from engine.formats.opening import open_source
from engine.kernels.activation import Activation
from engine.models.families import read_spec
from tests.engine.formats.gguf_model import FAMILIES, SIZES, Array, tiny, write
from tests.engine.models.compat.checkpoint import Dense, MemoryExperts
from tests.engine.models.families.reference_bailing import logits as bailing_logits
from tests.engine.models.families.test_bailing_moe import checkpoint as bailing_checkpoint
from tests.engine.models.open_decoder import open_decoder
from tests.engine.models.parity import hf_model, oracle_logits
from tests.engine.models.vision.seeing_qwen_vl import SIGHT

IDS = list(range(3, 40))


def saved(architecture: str, path: Path, **changes: Any) -> tuple[Any, dict[str, Any]]:
    """transformers' model, saved at `path`, and its config; of families that it does not know our reference."""
    if architecture.startswith("bailing"):
        model_type, own = FAMILIES[architecture]
        made = {**SIZES, **own, **changes, "model_type": model_type}
        tensors = bailing_checkpoint(made, path)
        return lambda input_ids, **_: SimpleNamespace(
            logits=bailing_logits(made, tensors, input_ids[0].tolist())[None]
        ), made
    model = hf_model(tiny(architecture, **changes))
    model.save_pretrained(path)
    return model, json.loads((path / "config.json").read_text(encoding="utf-8"))


def opened(file: Path) -> tuple[Any, MemoryExperts]:
    """Our decoder over the GGUF file, experts in memory."""
    source = open_source(file)
    plan = find_experts(source)
    experts = MemoryExperts(source, plan)
    decoder = open_decoder(source.config, Dense(source, plan), experts)
    for index, moe in decoder.spec.moe_layers.items():
        a = moe.experts.activation
        experts.activations[index] = Activation(a.kind, **activation_numbers(a))
    return decoder, experts


def activation_numbers(a: Any) -> dict[str, float]:
    return {name: getattr(a, name) for name in ("alpha", "limit") if getattr(a, name, None) is not None}


def logits(decoder: Any) -> torch.Tensor:
    return decoder.forward(IDS, decoder.new_state(), "all")


def test_every_architecture_is_tried() -> None:
    assert set(FAMILIES) == set(ARCHITECTURES)


def as_in_gguf(config: Any) -> Any:
    """Without what a GGUF file does not say, or what is not read of it: how positions turn by rows and columns of
    images, and layers for multi-token prediction."""
    if not isinstance(config, dict):
        return config
    found = {name: as_in_gguf(value) for name, value in config.items() if name != "mrope_section"}
    return found | ({"num_nextn_predict_layers": 0} if "model_type" in found else {})


@pytest.mark.parametrize("architecture", FAMILIES)
def test_unquantized(architecture: str, tmp_path: Path) -> None:
    model, config = saved(architecture, tmp_path)
    write(tmp_path, config, tmp_path / "model.gguf", architecture)
    (tmp_path / "model.safetensors").rename(tmp_path / "aside")
    source = open_source(tmp_path / "model.gguf")
    assert read_spec(source.config) == read_spec(as_in_gguf(config))
    original = load((tmp_path / "aside").read_bytes())
    for name in find_experts(source).dense:
        stored = source.tensor(name)
        if name.endswith(("norm.weight", "A_log")) and architecture in ("qwen3next", "qwen35moe"):  # 1 added, an exp
            torch.testing.assert_close(stored, original[name], rtol=1e-6, atol=1e-6)
        else:
            assert torch.equal(stored, original[name]), name
        assert b"".join(map(bytes, source.chunks(name))) == stored.numpy().tobytes()
    decoder, _ = opened(tmp_path / "model.gguf")
    assert (logits(decoder) - oracle_logits(model, IDS)).abs().max() <= 1e-5


def halves(name: str, array: Array) -> Type:
    """As people quantize: experts and matrices coarsely, vectors and routers not at all."""
    if array.ndim == 1 or "ffn_gate_inp" in name or "shortconv.conv" in name or "exp_probs" in name:
        return Type.F32
    if name.endswith(".bias"):
        return Type.F32
    return Type.Q4_0 if "_exps" in name else Type.Q8_0 if array.shape[-1] % 32 == 0 else Type.F16


@pytest.mark.parametrize(
    "architecture", ["llama", "gpt-oss", "deepseek2", "granitemoe", "lfm2moe", "qwen3next", "qwen35moe"]
)
def test_quantized(architecture: str, tmp_path: Path) -> None:
    """Against the package's own dequantization, of whole tensors: what is read by rows and by experts is the same."""
    _, config = saved(architecture, tmp_path)
    write(tmp_path, config, tmp_path / "coarse.gguf", architecture, halves)

    def as_it_will_be(name: str, array: Array) -> Type:
        """Experts as gguf decodes them; other matrices, if they were quantized, rounded to bf16."""
        kind = halves(name, array)
        values = torch.from_numpy(gguf.dequantize(gguf.quantize(array, kind), kind))
        rounded = "_exps" not in name and kind == Type.Q8_0
        array[...] = (values.bfloat16().float() if rounded else values).numpy()
        return Type.F32

    write(tmp_path, config, tmp_path / "decoded.gguf", architecture, as_it_will_be)
    coarse, wanted = open_source(tmp_path / "coarse.gguf"), open_source(tmp_path / "decoded.gguf")
    assert coarse.form.name == "GGUF Q4_0"
    assert 4 < coarse.form.bits < 5
    plan = find_experts(coarse)
    for name in plan.dense:
        assert torch.equal(coarse.tensor(name).float(), wanted.tensor(name)), name
    kinds = {coarse.entry(name).dtype for name in plan.dense if name.endswith("norm.weight")}
    assert kinds == {"F32"}
    for layer, experts in plan.layers.items():
        other = find_experts(wanted).layers[layer]
        for mine, theirs in zip(experts, other, strict=True):
            for part in mine.matrices:
                assert torch.equal(read_piece(coarse, mine.matrices[part]), read_piece(wanted, theirs.matrices[part]))
    mine, theirs = logits(opened(tmp_path / "coarse.gguf")[0]), logits(opened(tmp_path / "decoded.gguf")[0])
    assert (mine - theirs).abs().max() <= 1e-5


def test_qwen3_vl(tmp_path: Path) -> None:
    """The language model alone, as llama.cpp leaves it, says of text what transformers' whole model says."""
    sizes = {**SIZES, **FAMILIES["qwen3vlmoe"][1]}
    axes = {**sizes["rope_parameters"], "mrope_section": [3, 3, 2], "mrope_interleaved": True}
    model = hf_model(
        Qwen3VLMoeConfig(text_config={**sizes, "rope_parameters": axes}, vision_config=SIGHT, tie_word_embeddings=False)
    )
    own = {f"model.{name}": value for name, value in model.model.language_model.state_dict().items()}
    for name in [name for name in own if ".experts." in name]:
        stack, tensor = name.rsplit(".", 1)[0], own.pop(name)
        for expert, matrix in enumerate(tensor):  # [2 x moe_intermediate, hidden], or turned
            parts = matrix.chunk(2) if name.endswith("gate_up_proj") else (matrix,)
            kinds = ("gate_proj", "up_proj") if len(parts) == 2 else ("down_proj",)
            own |= {f"{stack}.{expert}.{kind}.weight": part.clone() for kind, part in zip(kinds, parts, strict=True)}
    save_file({**own, "lm_head.weight": model.lm_head.weight.detach().clone()}, tmp_path / "model.safetensors")
    write(tmp_path, {**sizes, "model_type": "qwen3_moe"}, tmp_path / "model.gguf", "qwen3vlmoe")
    (tmp_path / "model.safetensors").unlink()
    decoder, _ = opened(tmp_path / "model.gguf")
    assert (logits(decoder) - oracle_logits(model, IDS)).abs().max() <= 1e-5
