"""Matrices beside the experts keep the codes of their source too: weights, bits, products, the plan."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from gguf import GGMLQuantizationType as Type
from safetensors.torch import load

from engine.convert.expert_plan import find_experts
from engine.convert.importer import import_checkpoint
from engine.experts.keys import ExpertKey
from engine.experts.runtime import open_runtime
from engine.formats.opening import open_source
from engine.kernels.native import NativeKernel
from engine.library.facts import activation_of
from engine.library.lowering import Lowering, write_lowered
from engine.models.families import read_spec
from engine.models.layers.weight_format import holding
from engine.store.reader import Store
from engine.store.verify import verify
from tests.engine.convert.test_kept_codes import IDS, meant, plain_model
from tests.engine.formats import forms
from tests.engine.formats.gguf_model import Array, write
from tests.engine.formats.test_gguf_source import with_tokenizer
from tests.engine.library.test_facts import check_bytes
from tests.engine.models.families.tiny import tiny
from tests.engine.models.open_decoder import open_decoder
from tests.engine.models.parity import oracle_logits

ATTENTION = ("q_proj", "k_proj", "v_proj", "o_proj")


# All experts compute every token. With a choice, one that a rounded scale turns around on one processor and not on
# another stays in keys, values and states for all tokens behind it.
EVERY: dict[str, object] = {"num_experts": 8, "num_experts_per_tok": 8}


def _settings(folder: Path, settings: dict[str, object]) -> None:
    file = folder / "config.json"
    file.write_text(json.dumps({**json.loads(file.read_text(encoding="utf-8")), **settings}), encoding="utf-8")


def _gptq(folder: Path) -> None:
    """Attention packed as the experts are."""
    forms.FORMS["GPTQ"](folder)
    _settings(folder, EVERY)
    _packed(folder, ATTENTION)


def _linear_gptq(folder: Path) -> None:
    """Of Qwen3-Next, whose queries lie with their gates head by head, and whose linear layers are put in order."""
    sizes = {**forms.SIZES, "moe_intermediate_size": 128, "num_hidden_layers": 4}
    sizes["shared_expert_intermediate_size"] = 128
    heads = {"linear_num_key_heads": 2, "linear_num_value_heads": 4, "linear_key_head_dim": 32}
    config = tiny("qwen3_next", **sizes, **heads, linear_value_head_dim=32, **EVERY)
    forms.write_chattable(config, folder, dtype=torch.float32)
    quantization = {"quant_method": "gptq", "bits": 4, "group_size": forms.GROUP}
    _settings(folder, {"quantization_config": quantization})
    experts = tuple(part.removesuffix(".weight") for part in forms.EXPERTS)
    _packed(folder, (*ATTENTION, *experts, "in_proj_qkvz", "out_proj"))


def _packed(folder: Path, modules: tuple[str, ...]) -> None:
    random = torch.Generator().manual_seed(6)
    for file in sorted(folder.glob("*.safetensors")):
        tensors = load(file.read_bytes())
        for name in [n for n in tensors if n.endswith(tuple(f"{module}.weight" for module in modules))]:
            stem, weight = name.removesuffix(".weight"), tensors.pop(name)
            tensors |= {f"{stem}.{ending}": tensor for ending, tensor in forms.gptq(weight, random).items()}
        forms.save_file({n: t.contiguous() for n, t in tensors.items()}, file, {"format": "pt"})


def _q4_k_m(folder: Path) -> None:
    """Everything quantized, values and head with 6 bits, as llama.cpp mixes types."""
    source = folder.with_name(f"{folder.name}-source")
    forms.plain(torch.bfloat16, source)
    _settings(source, EVERY)
    folder.mkdir()

    def type_of(name: str, array: Array) -> Type:
        if array.ndim < 2 or "ffn_gate_inp" in name:
            return Type.F32
        return Type.Q6_K if "attn_v" in name or name == "output.weight" else Type.Q4_K

    config = json.loads((source / "config.json").read_text(encoding="utf-8"))
    write(source, config, folder / "model-Q4_K_M.gguf", "qwen3moe", type_of, with_tokenizer)


# how it is made, bits per weight of the coarsest, error that is allowed, how many matrices of a layer keep their codes
KINDS: dict[str, tuple[Callable[[Path], None], float, float]] = {
    "GPTQ": (_gptq, 4 + 20 / forms.GROUP, 1e-3),
    "GPTQ of Qwen3-Next": (_linear_gptq, 4 + 20 / forms.GROUP, 1e-3),
    "Q4_K_M": (_q4_k_m, 4.5, 1e-3),
}


@pytest.fixture(scope="module", params=KINDS)
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path, Path]:
    """(kind, source, store)"""
    folder = tmp_path_factory.mktemp("dense")
    KINDS[request.param][0](folder / "source")
    return request.param, folder / "source", import_checkpoint(folder / "source", folder / "store", 0)


@pytest.fixture(scope="module")
def kernel() -> Iterator[NativeKernel]:
    found = NativeKernel(2, exact=True)
    yield found
    found.close()


def test_they_are_those_of_the_source_in_no_more_bits(made: tuple[str, Path, Path]) -> None:
    kind, source_path, path = made
    _, bits, allowed = KINDS[kind]
    source = open_source(source_path)
    assert verify(path) == ()
    with Store.open(path) as store:
        kept = {name for name in find_experts(source).dense if store.dense.entry(name).coding is not None}
        assert {n.split(".")[-2] for n in kept} >= set(ATTENTION)
        for name in kept:
            wanted, entry = meant(source, name), store.dense.entry(name)
            assert float((store.dense.get(name) - wanted).norm() / wanted.norm()) <= allowed
            six = entry.coding is not None and entry.coding.bits == 6
            assert 8 * (entry.nbytes - 64) / wanted.numel() <= (7.0 if six else bits + 0.3)


@pytest.mark.parametrize("how", ["int8", "int4"])
def test_the_kernels_multiply_them_as_they_are(
    how: str, made: tuple[str, Path, Path], kernel: NativeKernel, tmp_path: Path
) -> None:
    """Activations as they are: a prompt, and then token by token, against transformers in float32."""
    kind, source, path = made
    wanted = oracle_logits(plain_model(open_source(source), tmp_path / "plain"), IDS)
    held = holding(how, kernel)  # type: ignore[arg-type]
    if "GPTQ" in kind:  # embedding and head of which came in 16 bits
        held = replace(held, head="f32", table="f32")
    with Store.open(path) as store:
        activation = activation_of(store, read_spec(store.config))
        runtime = open_runtime(store, activation, store.expert_bytes(), threads=1, exact=True)
        try:
            decoder = open_decoder(store.config, store.dense, runtime, held)
            state = decoder.new_state()
            parts = [decoder.forward(IDS[:12], state, "all"), *(decoder.forward([i], state) for i in IDS[12:])]
        finally:
            runtime.close()
    ours = torch.cat([part for part in parts if part is not None])
    off = (ours - wanted).norm(dim=1) / wanted.norm(dim=1)
    assert float(off.max()) <= 4e-3, off


@pytest.mark.parametrize("how", ["bf16", "int8", "int4"])
def test_the_plan_is_told_what_they_take(how: str, made: tuple[str, Path, Path], kernel: NativeKernel) -> None:
    with Store.open(made[2]) as store:
        check_bytes(store, how, kernel)


def test_a_smaller_copy_of_such_a_store_keeps_them(made: tuple[str, Path, Path], tmp_path: Path) -> None:
    with Store.open(made[2]) as store:
        bits = {ExpertKey(store.layers[0], 0): 2}
        with Store.open(write_lowered(store, tmp_path / "low", bits, Lowering(0.02, 0.01, 0.01, 100))) as lowered:
            assert verify(lowered.path) == ()
            for name in store.dense:
                assert lowered.dense.entry(name).coding == store.dense.entry(name).coding
                assert torch.equal(lowered.dense.get(name), store.dense.get(name))


def test_a_large_table_of_rows_to_be_looked_up_becomes_float16(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.convert.encoding.stays", lambda shape: True)
    _q4_k_m(tmp_path / "source")
    source, name = open_source(tmp_path / "source"), "model.embed_tokens.weight"
    with Store.open(import_checkpoint(tmp_path / "source", tmp_path / "store", 0)) as store:
        assert (store.dense.entry(name).dtype, store.dense.entry(name).coding) == ("F16", None)
        wanted = meant(source, name)
        assert float((store.dense.get(name).float() - wanted).norm() / wanted.norm()) <= 3e-4
        assert store.dense.entry("lm_head.weight").coding is not None
