"""A source of about 4 bits becomes a store of just those: its weights, its size, and the logits of transformers."""

from __future__ import annotations

import json
import mmap
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from gguf import GGMLQuantizationType as Type
from safetensors.torch import save_file
from torch import Tensor

from engine.convert.expert_plan import find_experts
from engine.convert.importer import import_checkpoint
from engine.convert.pieces import read_piece
from engine.experts.keys import ExpertKey
from engine.experts.precision import Thresholds
from engine.experts.runtime import open_runtime
from engine.formats.opening import open_source
from engine.formats.source import DecodedEntry, WeightSource
from engine.library.facts import activation_of
from engine.library.lowering import Lowering, write_lowered
from engine.models.families import read_spec
from engine.record.coding import Coding
from engine.store.reader import Store
from engine.store.verify import verify
from tests.engine.formats import forms
from tests.engine.formats.gguf_model import Array, write
from tests.engine.formats.test_gguf_source import with_tokenizer
from tests.engine.formats.test_packed import pack
from tests.engine.models.open_decoder import open_decoder
from tests.engine.models.parity import oracle_logits
from tests.engine.quantization.reference import decode_expert

pytestmark = pytest.mark.long

IDS = list(range(3, 24))


def _w4a16(zeros: bool, folder: Path) -> None:
    def random(weight: Tensor, generator: torch.Generator) -> dict[str, Tensor]:
        outputs, inputs = weight.shape
        words = partial(forms.words, generator=generator)
        scales = (torch.rand(outputs, inputs // forms.GROUP, generator=generator) * 0.01).bfloat16()
        found = {"weight_packed": words(outputs, inputs // 8), "weight_scale": scales}
        return found | ({"weight_zero_point": words(outputs // 8, inputs // forms.GROUP)} if zeros else {})

    scheme = {"num_bits": 4, "type": "int", "group_size": forms.GROUP, "strategy": "group"}
    settings = {
        "quant_method": "compressed-tensors",
        "format": "pack-quantized",
        "config_groups": {"0": {"weights": scheme}},
    }
    forms.packed(settings, random, folder)


def _q4_k_m(folder: Path) -> None:
    """As llama.cpp mixes types: down of one layer with 6 bits, and one of 3, whose codes are not kept."""
    source = folder.with_name(f"{folder.name}-source")
    forms.plain(torch.bfloat16, source)
    folder.mkdir()

    def type_of(name: str, array: Array) -> Type:
        if "_exps" not in name:
            return Type.F32
        if "blk.1.ffn_down" in name:
            return Type.Q6_K
        return Type.Q3_K if "blk.0.ffn_down" in name else Type.Q4_K

    config = json.loads((source / "config.json").read_text(encoding="utf-8"))
    write(source, config, folder / "model-Q4_K_M.gguf", "qwen3moe", type_of, with_tokenizer)


# how it is made, bits per weight of the source, error of all bits that is allowed
KINDS: dict[str, tuple[Callable[[Path], Any], float, float]] = {
    "MXFP4": (forms.FORMS["MXFP4"], 4.25, 1e-6),
    "GPTQ": (forms.FORMS["GPTQ"], 4 + 20 / forms.GROUP, 1e-3),
    "AWQ": (forms.FORMS["AWQ"], 4 + 20 / forms.GROUP, 1e-3),
    "W4A16": (partial(_w4a16, False), 4 + 16 / forms.GROUP, 1e-6),
    "W4A16 with zeros": (partial(_w4a16, True), 4 + 20 / forms.GROUP, 1e-3),
    "NVFP4": (lambda folder: pack(folder, "nvfp4", hidden=64), 4.5, 1e-6),
    "NVFP4 by ModelOpt": (lambda folder: pack(folder, "modelopt", hidden=64), 4.5, 1e-6),
    "NF4": (lambda folder: pack(folder, "nf4", hidden=64), 4.5, 4e-3),  # its levels are no whole numbers
    "Q4_0": (partial(forms.as_gguf, Type.Q4_0), 4.5, 1e-6),
    "Q4_1": (partial(forms.as_gguf, Type.Q4_1), 5.0, 1e-6),
    "Q4_K": (partial(forms.as_gguf, Type.Q4_K), 4.5, 1e-6),
    "IQ4_NL": (partial(forms.as_gguf, Type.IQ4_NL), 4.5, 1e-6),
    "IQ4_XS": (partial(forms.as_gguf, Type.IQ4_XS), 4.25, 1e-3),
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], tuple[Path, Path]]:
    """(source, store) of a kind, each made once, the import by default."""
    known: dict[str, tuple[Path, Path]] = {}

    def make(kind: str) -> tuple[Path, Path]:
        if kind not in known:
            folder = tmp_path_factory.mktemp("kept")
            (_q4_k_m if kind == "Q4_K_M" else KINDS[kind][0])(folder / "source")
            known[kind] = folder / "source", import_checkpoint(folder / "source", folder / "store", 0)
        return known[kind]

    return make


@pytest.mark.parametrize("kind", KINDS)
def test_weights_are_those_of_the_source_in_no_more_bits(kind: str, made: Callable[[str], tuple[Path, Path]]) -> None:
    source_path, store_path = made(kind)
    _, bits, allowed = KINDS[kind]
    source = open_source(source_path)
    plan = find_experts(source)
    assert verify(store_path) == ()
    with Store.open(store_path) as store:
        fine, coarse = (next(q for q in store.manifest.quality if q.tier == tier) for tier in (4, 2))
        assert fine.relative_error <= allowed
        assert coarse.relative_error <= 0.6  # random codes are spread evenly, which suits 2 bits worst
        for layer, experts in plan.layers.items():
            spec = store.spec(layer, 1)
            assert len(spec.codings) == 3
            large = replace(spec, hidden=2048, intermediate=768)  # without what padding costs so small a model
            assert large.layout.bits_per_weight(4) <= bits + 0.3
            decoded = decode_expert(record(store, layer, 1), spec, 4)
            for name, piece in experts[1].matrices.items():
                wanted = read_piece(source, piece).float()
                assert float((decoded[name] - wanted).norm() / wanted.norm()) <= allowed


def record(store: Store, layer: int, expert: int) -> bytes:
    """All of an expert's record."""
    layout = store.spec(layer, expert).layout
    buffers = [mmap.mmap(-1, part.nbytes) for part in layout.parts]  # page-aligned, as direct I/O wants them
    store.read_parts(layer, expert, range(len(buffers)), [memoryview(b) for b in buffers])
    return b"".join(buffer[:] for buffer in buffers)


def meant(source: WeightSource, name: str) -> Tensor:
    """A tensor beside the experts as its source means it, before that is rounded to bf16."""
    entry = source.entry(name)
    if not isinstance(entry, DecodedEntry) or len(entry.shape) != 2:
        return source.tensor(name).float()
    return entry.rows.read(0, entry.shape[0]).float().reshape(entry.shape)


def plain_model(source: WeightSource, folder: Path) -> Any:
    """transformers' model of the weights that a source means, in float32."""
    from transformers import AutoModelForCausalLM

    plan = find_experts(source)
    tensors = {name: meant(source, name) for name in plan.dense}
    oss = source.config["model_type"] == "gpt_oss"
    for layer, experts in plan.layers.items():
        read = [{n: read_piece(source, p).float() for n, p in e.matrices.items()} for e in experts]
        root = f"model.layers.{layer}.mlp.experts"
        if oss:
            both = [torch.stack((e["gate"], e["up"]), 1).flatten(0, 1).T for e in read]
            tensors[f"{root}.gate_up_proj"] = torch.stack(both)
            tensors[f"{root}.down_proj"] = torch.stack([e["down"].T for e in read])
            for name, pieces in (("down_proj_bias", [e.biases["down"] for e in experts]),):
                tensors[f"{root}.{name}"] = source.tensor(pieces[0].key).float()
            tensors[f"{root}.gate_up_proj_bias"] = source.tensor(experts[0].biases["up"].key).float()
            continue
        for e, own in enumerate(read):
            tensors |= {f"{root}.{e}.{name}_proj.weight": own[name] for name in own}
    folder.mkdir()
    save_file({n: t.contiguous() for n, t in tensors.items()}, folder / "model.safetensors", {"format": "pt"})
    config = {k: v for k, v in source.config.items() if k not in ("quantization_config", "torch_dtype", "dtype")}
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    return AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").eval()


def logits_of(path: Path, *, exact: bool, thresholds: Thresholds | None = None) -> Tensor:
    """[T, V] of a store: a prompt, and then token by token, with a cache that holds a third of the experts."""
    with Store.open(path) as store:
        activation = activation_of(store, read_spec(store.config))
        given = {} if thresholds is None else {"thresholds": thresholds}
        runtime = open_runtime(store, activation, store.expert_bytes() // 3, threads=1, exact=exact, **given)  # type: ignore[arg-type]
        try:
            decoder = open_decoder(store.config, store.dense, runtime)
            state = decoder.new_state()
            first = decoder.forward(IDS[:12], state, "all")
            rest = [decoder.forward([token], state) for token in IDS[12:]]
        finally:
            runtime.close()
    assert first is not None
    return torch.cat([first, *(found for found in rest if found is not None)])


@pytest.mark.parametrize("kind", [*KINDS, "Q4_K_M"])
def test_the_exact_dial_gives_the_logits_of_transformers(
    kind: str, made: Callable[[str], tuple[Path, Path]], tmp_path: Path
) -> None:
    """Activations as they are: what is left is the order of sums, and scales rounded to float16."""
    source, store = made(kind)
    wanted = oracle_logits(plain_model(open_source(source), tmp_path / "plain"), IDS)
    ours = logits_of(store, exact=True)
    allowed = {1e-6: 1e-4, 1e-3: 5e-3}.get(KINDS[kind][2], 0.03) if kind in KINDS else 0.2
    assert (ours - wanted).norm() <= allowed * wanted.norm()


def test_a_mixed_file_keeps_what_it_can(made: Callable[[str], tuple[Path, Path]]) -> None:
    _, path = made("Q4_K_M")
    with Store.open(path) as store:
        specs = {layer: store.spec(layer, 0) for layer in store.layers}
    first, second = (specs[layer].codings for layer in sorted(specs))
    q4_k = Coding(4, 32, "super", "plain")
    assert first == (q4_k, q4_k, Coding(4, 64, "pair", "plain"))
    assert second == (q4_k, q4_k, Coding(6, 16, "half", "middle32"))


def test_coarse_and_lowered_experts_of_such_a_store(made: Callable[[str], tuple[Path, Path]], tmp_path: Path) -> None:
    """Dials that mix 2 bits with all, and a store of which some experts keep 2 bits: near, and verified."""
    for kind in ("MXFP4", "Q4_K_M"):
        _, path = made(kind)
        whole = logits_of(path, exact=True)
        mixed = logits_of(path, exact=True, thresholds=Thresholds(0.4, 0.9))
        off = float((mixed - whole).norm() / whole.norm())
        assert 0 < off < 1.0
        with Store.open(path) as store:
            first = store.layers[0]
            bits = {ExpertKey(first, 0): 2, ExpertKey(first, 2): 2}
            lowered = write_lowered(store, tmp_path / kind, bits, Lowering(0.02, 0.01, 0.01, 100))
            bytes_before = store.expert_bytes()
        assert verify(lowered) == ()
        with Store.open(lowered) as store:
            assert store.spec(first, 0).top == 2
            assert store.spec(first, 0).codings == store.spec(first, 1).codings
            assert store.expert_bytes() < bytes_before
        assert 0 < float((logits_of(lowered, exact=True) - whole).norm() / whole.norm()) < 1.0


@pytest.mark.parametrize(("top", "group", "kept"), [(0, None, True), (4, None, True), (8, None, False), (4, 32, False)])
def test_other_bits_and_groups_are_made_when_they_are_asked_for(
    top: int, group: int | None, kept: bool, made: Callable[[str], tuple[Path, Path]], tmp_path: Path
) -> None:
    source, _ = made("Q4_0")
    with Store.open(import_checkpoint(source, tmp_path / "store", top, group=group)) as store:
        assert all(bool(spec.codings) == kept for spec in store.manifest.specs)
        assert {spec.top for spec in store.manifest.specs} == {top or 4}
