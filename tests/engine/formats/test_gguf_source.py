"""GGUF files as sources: what they hold is found, imported and said; what is wrong with them, too."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import pytest
import torch
from gguf import GGMLQuantizationType as Type

from engine.calibration.calibrator import open_calibrated
from engine.convert.expert_plan import find_experts
from engine.convert.importer import import_checkpoint
from engine.convert.pieces import read_piece
from engine.errors import Kind, UnderhillError
from engine.formats.opening import open_source
from engine.library import library
from engine.models.families import read_spec
from engine.store.reader import Store, load_manifest
from tests.engine.formats import gguf_model
from tests.engine.formats.gguf_blocks import decoded, random_blocks
from tests.engine.formats.gguf_model import Array, write
from tests.engine.formats.test_gguf_families import saved
from tests.engine.formats.test_gguf_tokenizer import builtin
from tests.engine.models.mtp_checkpoint import write_checkpoint


def with_tokenizer(writer: gguf.GGUFWriter) -> None:
    """The built-in model's vocabulary."""
    for key, value in builtin()[0].items():
        if not key.startswith("tokenizer."):
            continue
        if isinstance(value, list):
            writer.add_array(key, value)
        elif isinstance(value, int):
            writer.add_uint32(key, value)
        else:
            writer.add_string(key, value)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A qwen3moe in float32, as the hub has it."""
    path = tmp_path_factory.mktemp("hub")
    vocabulary = len(builtin()[0]["tokenizer.ggml.tokens"])
    saved("qwen3moe", path, vocab_size=vocabulary, num_hidden_layers=2, rope_parameters=None)
    return path


@pytest.fixture(scope="module")
def file(folder: Path) -> Path:
    """The same as GGUF, in a folder of its own."""
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    target = folder.parent / f"{folder.name}-gguf" / "tiny-f32.gguf"
    target.parent.mkdir()
    write(folder, config, target, "qwen3moe", extra=with_tokenizer)
    return target


def test_the_store_is_that_of_the_safetensors(folder: Path, file: Path, tmp_path: Path) -> None:
    theirs, ours = import_checkpoint(folder, tmp_path / "a"), import_checkpoint(file, tmp_path / "b")
    data = sorted(p.name for p in theirs.glob("*.safetensors"))
    assert data == sorted(p.name for p in ours.glob("*.safetensors"))
    for name in data:
        assert (theirs / name).read_bytes() == (ours / name).read_bytes()
    source = load_manifest(ours).source
    assert [f.name for f in source.files] == [file.name]
    assert (source.form, source.bits) == ("GGUF F32", 32.0)
    assert {p.name for p in ours.iterdir()} > {"tokenizer.json", "chat_template.jinja", "config.json"}


def test_a_split_file_gives_the_same_store_and_a_lost_part_is_named(folder: Path, file: Path, tmp_path: Path) -> None:
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    write(folder, config, tmp_path / "m.gguf", "qwen3moe", extra=with_tokenizer, split=10)
    parts = sorted(tmp_path.glob("*.gguf"))
    assert len(parts) == 3
    whole, split = open_source(file), open_source(tmp_path)
    assert split.files == tuple(parts)
    assert split.config == whole.config
    for name in find_experts(whole).dense:
        assert torch.equal(whole.tensor(name), split.tensor(name))
    parts[1].rename(tmp_path / "aside")
    with pytest.raises(UnderhillError, match=f"{parts[1].name} is missing"):
        open_source(parts[0])


def test_importing_again_goes_on_where_it_stopped(file: Path, tmp_path: Path) -> None:
    def stop(phrase: str, done: int, total: int) -> None:
        if "Quantizing" in phrase and done > total // 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        import_checkpoint(file, tmp_path / "m", progress=stop)
    seen: list[tuple[str, int]] = []
    import_checkpoint(file, tmp_path / "m", progress=lambda phrase, done, total: seen.append((phrase, done)))
    whole = import_checkpoint(file, tmp_path / "other")
    first = next(done for phrase, done in seen if "Quantizing" in phrase)
    assert first > 8 * (tmp_path / "m").stat().st_size
    for path in (tmp_path / "m").glob("*.safetensors"):
        assert path.read_bytes() == (whole / path.name).read_bytes()


def test_the_library_takes_a_file_and_knows_it_again(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(library.HOME, str(tmp_path))
    with open_calibrated(str(file)) as session:
        assert session.logits([1, 2, 3], one_by_one=False).isfinite().all()
    assert [p.name for p in library.models()] == ["tiny-f32"]
    assert library.prepare(file) == library.prepare(file.parent) == library.location("tiny-f32")
    assert library.source_note(library.location("tiny-f32")) == ""


# ---- every type that people quantize experts to -----------------------------------------------------------------

COARSE = [
    Type.Q4_0, Type.Q4_1, Type.Q5_0, Type.Q5_1, Type.Q8_0, Type.Q2_K, Type.Q3_K, Type.Q4_K, Type.Q5_K, Type.Q6_K,
    Type.IQ4_NL, Type.IQ4_XS, Type.MXFP4, Type.IQ2_XXS, Type.BF16, Type.F16,
]  # fmt: skip


@pytest.mark.parametrize("kind", COARSE, ids=lambda kind: kind.name)
def test_every_expert_is_what_the_package_decodes(kind: Type, tmp_path: Path) -> None:
    """Of stacked tensors one expert at a time, of dense ones by rows, bit for bit."""
    experts, inner, hidden = 3, 256, 512
    shapes = {
        "token_embd.weight": (64, hidden), "blk.0.ffn_gate_exps.weight": (experts, inner, hidden),
        "blk.0.ffn_up_exps.weight": (experts, inner, hidden), "blk.0.ffn_down_exps.weight": (experts, hidden, inner),
    }  # fmt: skip
    writer = gguf.GGUFWriter(tmp_path / "m.gguf", "qwen3moe")
    for key, value in (("block_count", 1), ("embedding_length", hidden), ("attention.head_count", 4),
                       ("context_length", 64), ("expert_count", experts), ("expert_used_count", 2),
                       ("expert_feed_forward_length", inner)):  # fmt: skip
        writer.add_uint32(f"qwen3moe.{key}", value)
    writer.add_layer_norm_rms_eps(1e-6)
    blocks = {name: random_blocks(kind, shape, seed) for seed, (name, shape) in enumerate(shapes.items())}
    for name, data in blocks.items():
        writer.add_tensor(name, data, raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    whole = {n: torch.from_numpy(decoded(kind, d, shapes[n])) for n, d in blocks.items()}
    source = open_source(tmp_path / "m.gguf")
    plan = find_experts(source)
    for e, pieces in enumerate(plan.layers[0]):
        for part in ("gate", "up", "down"):
            got = read_piece(source, pieces.matrices[part])
            assert torch.equal(got.float(), whole[f"blk.0.ffn_{part}_exps.weight"][e])
    embeddings = source.tensor("model.embed_tokens.weight")
    assert torch.equal(embeddings, whole["token_embd.weight"].to(embeddings.dtype))
    assert torch.equal(source.part("model.embed_tokens.weight", (), (5, 9)), embeddings[5:9])
    assert embeddings.dtype == (torch.float16 if kind == Type.F16 else torch.bfloat16)
    assert source.form.name == f"GGUF {kind.name}"


# ---- what is refused --------------------------------------------------------------------------------------------


def add_unknown(tensors: dict[str, Array]) -> None:
    tensors["blk.0.attn_secret.weight"] = np.zeros((4, 4), np.float32)


def add_stretch(tensors: dict[str, Array]) -> None:
    tensors["rope_freqs.weight"] = np.full(8, 2.0, np.float32)


def drop_expert(tensors: dict[str, Array]) -> None:
    tensors["blk.0.ffn_up_exps.weight"] = tensors["blk.0.ffn_up_exps.weight"][:5]


@pytest.mark.parametrize(
    ("change", "extra", "kind", "sentence"),
    [
        (add_unknown, {}, Kind.UNSUPPORTED_MODEL, r"attn_secret\.weight, whose part"),
        (add_stretch, {}, Kind.UNSUPPORTED_MODEL, "stretches its context by rope_freqs"),
        (drop_expert, {}, Kind.BROKEN_FILE, r"ffn_up_exps\.weight has the shape \[5, "),
        (None, {"general.architecture": "mamba"}, Kind.UNSUPPORTED_MODEL, "mamba model is dense"),
        (
            None,
            {"general.architecture": "mamba", "mamba.expert_count": 8},
            Kind.UNSUPPORTED_MODEL,
            "mamba models aren.t supported",
        ),
        (None, {"qwen3moe.expert_count": 0}, Kind.UNSUPPORTED_MODEL, "is dense"),
        (None, {"qwen3moe.rope.scaling.type": "longrope"}, Kind.UNSUPPORTED_MODEL, "by 'longrope'"),
        (None, {"qwen3moe.attention.head_count": 0}, Kind.BROKEN_FILE, "no heads"),
        (None, {"qwen3moe.block_count": "two"}, Kind.BROKEN_FILE, "block_count is 'two'"),
        (None, {"split.tensors.count": 99}, Kind.BROKEN_FILE, "instead of 99"),
    ],
)
def test_what_cannot_be_imported_is_said(
    change: Callable[[dict[str, Array]], None] | None,
    extra: dict[str, Any],
    kind: Kind,
    sentence: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _, config = saved("qwen3moe", tmp_path)
    original = gguf_model.converted

    def changed(*args: Any) -> dict[str, Array]:
        tensors = original(*args)
        if change is not None:
            change(tensors)
        return tensors

    def add(writer: gguf.GGUFWriter) -> None:
        for key, value in extra.items():
            (writer.add_uint32 if isinstance(value, int) else writer.add_string)(key, value)

    monkeypatch.setattr(gguf_model, "converted", changed)
    write(tmp_path, config, tmp_path / "m.gguf", "qwen3moe", extra=add)
    with pytest.raises(UnderhillError, match=sentence) as caught:
        open_source(tmp_path / "m.gguf")
    assert caught.value.kind is kind


def test_a_coarse_source_is_said_to_bound_the_quality(file: Path, folder: Path, tmp_path: Path) -> None:
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))

    def kind_of(name: str, array: Array) -> Type:
        return Type.Q4_0 if "_exps" in name else Type.F32

    write(folder, config, tmp_path / "q4.gguf", "qwen3moe", kind_of, with_tokenizer)
    store = import_checkpoint(tmp_path / "q4.gguf", tmp_path / "m", top=4)
    note = library.source_note(store)
    assert "GGUF Q4_0, about 4.5 bits" in note
    with Store.open(store) as opened:
        assert opened.config["model_type"] == "qwen3_moe"


def test_layers_for_further_tokens_are_left_out(tmp_path: Path) -> None:
    """Where the file counts them among its blocks."""
    _, config = saved("glm4moe", tmp_path, num_hidden_layers=3)

    def claim(writer: gguf.GGUFWriter) -> None:
        writer.add_nextn_predict_layers(2)  # of four: the config has one already

    write(tmp_path, config, tmp_path / "m.gguf", "glm4moe", extra=claim)
    source = open_source(tmp_path / "m.gguf")
    assert source.config["num_hidden_layers"] == 2
    assert not [name for name in source.entries if name.startswith("model.layers.2.")]
    assert sorted(find_experts(source).layers) == [1]


PREDICTING = {
    "glm4moe": "glm4_moe", "deepseek2": "deepseek_v3", "qwen3next": "qwen3_next", "qwen35moe": "qwen3_5_moe_text",
}  # fmt: skip


@pytest.mark.parametrize("architecture", PREDICTING)
def test_a_layer_for_multi_token_prediction_is_that_of_the_hub(architecture: str, tmp_path: Path) -> None:
    write_checkpoint(PREDICTING[architecture], tmp_path / "hub")
    hub = open_source(tmp_path / "hub")
    write(tmp_path / "hub", {**hub.config, "num_nextn_predict_layers": 1}, tmp_path / "m.gguf", architecture)
    source = open_source(tmp_path / "m.gguf")
    assert read_spec(source.config).mtp == read_spec(hub.config).mtp is not None
    found, wanted = find_experts(source), find_experts(hub)
    assert set(found.dense) == set(wanted.dense)
    for name in found.dense:
        torch.testing.assert_close(source.tensor(name), hub.tensor(name), rtol=1e-6, atol=1e-6)
    assert list(found.mtp) == list(wanted.mtp) == [3]
    for own, known in zip(found.mtp[3], wanted.mtp[3], strict=True):
        for part, piece in own.matrices.items():
            assert torch.equal(read_piece(source, piece), read_piece(hub, known.matrices[part]))


def test_what_is_not_known_of_predicting_tokens_leaves_it_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An unknown tensor in its place, and nothing of it is used; the model is whole without."""
    write_checkpoint("glm4_moe", tmp_path / "hub")
    config = {**open_source(tmp_path / "hub").config, "num_nextn_predict_layers": 1}
    original = gguf_model.converted

    def changed(*args: Any) -> dict[str, Array]:
        tensors = original(*args)
        return {name.replace("blk.3.attn_q.weight", "blk.3.attn_secret.weight"): own for name, own in tensors.items()}

    monkeypatch.setattr(gguf_model, "converted", changed)
    write(tmp_path / "hub", config, tmp_path / "m.gguf", "glm4moe")
    plan = find_experts(open_source(tmp_path / "m.gguf"))
    assert not plan.mtp
    assert sorted(plan.layers) == [1, 2]
    assert not [name for name in plan.dense if ".layers.3." in name]


def one_by_one(tensors: dict[str, Array]) -> None:
    """As files were written until 2024."""
    for name in [n for n in tensors if "_exps" in n]:
        for e, matrix in enumerate(tensors.pop(name)):
            tensors[name.replace("_exps", f".{e}")] = matrix


def together(tensors: dict[str, Array]) -> None:
    """As files may be written since 2026: gate and up in one."""
    for name in [n for n in tensors if "gate_exps" in n]:
        up = tensors.pop(name.replace("gate", "up"))
        tensors[name.replace("gate", "gate_up")] = np.concatenate((tensors.pop(name), up), axis=1)


@pytest.mark.parametrize("change", [one_by_one, together])
def test_experts_stored_otherwise(
    change: Callable[[dict[str, Array]], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, config = saved("llama", tmp_path)
    write(tmp_path, config, tmp_path / "usual.gguf", "llama")
    original = gguf_model.converted

    def changed(*args: Any) -> dict[str, Array]:
        tensors = original(*args)
        change(tensors)
        return tensors

    monkeypatch.setattr(gguf_model, "converted", changed)
    write(tmp_path, config, tmp_path / "other.gguf", "llama")
    usual, other = open_source(tmp_path / "usual.gguf"), open_source(tmp_path / "other.gguf")
    assert other.form == usual.form
    assert set(other.entries) == set(usual.entries)
    for name in usual.entries:
        assert torch.equal(other.tensor(name), usual.tensor(name)), name
