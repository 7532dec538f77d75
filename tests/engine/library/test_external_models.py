"""Models of other apps: where they are looked for, what is said of them, and that they can then be imported."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import pytest

from engine.errors import UnderhillError
from engine.library import external_models, library
from engine.library.entries import FoundModel
from engine.library.external_models import FILES, HUGGING_FACE, OLLAMA, Place, places
from engine.library.home import checked_name
from engine.library.import_compatibility import library_name
from engine.translatable import translated
from tests.engine.formats.test_gguf_source import file, folder
from tests.engine.formats.tiny_checkpoint import write_checkpoint

__all__ = ["file", "folder"]


def quiet(phrase: str, done: int, total: int) -> None:
    pass


def found(*where: Place) -> dict[str, FoundModel]:
    return {model.title: model for model in external_models.find(quiet, where)}


def in_cache(cache: Path, repo: str, source: Path, leave_out: str = "") -> Path:
    """Put a checkpoint into a Hugging Face cache as its tools do: links to blobs. Returns the snapshot."""
    top = cache / f"models--{repo.replace('/', '--')}"
    snapshot = top / "snapshots" / ("a" * 40)
    snapshot.mkdir(parents=True)
    (top / "blobs").mkdir()
    for n, path in enumerate(sorted(source.iterdir())):
        if path.name != leave_out:
            shutil.copy(path, top / "blobs" / f"{n:064x}")
            (snapshot / path.name).symlink_to(Path("../../blobs") / f"{n:064x}")
    return snapshot


def in_ollama(models: Path, title: str, blob: Path, digest: str) -> Path:
    """Put a GGUF file into Ollama's folder. Returns the blob."""
    name, tag = title.split(":")
    manifest = models / "manifests" / "registry.ollama.ai" / "library" / name / tag
    manifest.parent.mkdir(parents=True, exist_ok=True)
    kinds = {"model": digest, "template": "sha256:" + "t" * 64}
    layers = [{"mediaType": f"application/vnd.ollama.image.{k}", "digest": d} for k, d in kinds.items()]
    manifest.write_text(json.dumps({"schemaVersion": 2, "layers": layers}), encoding="utf-8")
    (models / "blobs").mkdir(exist_ok=True)
    return Path(shutil.copy(blob, models / "blobs" / digest.replace(":", "-")))


def dense(path: Path, architecture: str = "llama", **keys: Any) -> Path:
    """A GGUF file with a header and one small tensor."""
    path.parent.mkdir(parents=True, exist_ok=True)
    writer = gguf.GGUFWriter(path, architecture)
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_Q4_K_M)
    writer.add_array("tokenizer.ggml.tokens", ["a", "b"])
    for key, value in keys.items():
        writer.add_uint32(f"{architecture}.{key}", value)
    writer.add_tensor("token_embd.weight", np.zeros((2, 32), np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


# ---- where --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("system", "environment", "expected"),
    [
        (
            "linux",
            {},
            {
                "/h/.cache/huggingface/hub", "/h/.lmstudio/models", "/h/.cache/lm-studio/models", "/h/.ollama/models",
                "/usr/share/ollama/.ollama/models", "/h/.local/share/Jan/data/llamacpp/models",
                "/h/.config/Jan/data/models", "/h/.local/share/nomic.ai/GPT4All", "/h/.cache/llama.cpp",
            },
        ),
        (
            "darwin",
            {},
            {
                "/h/.cache/huggingface/hub", "/h/Library/Application Support/Jan/data/llamacpp/models",
                "/h/Library/Application Support/nomic.ai/GPT4All", "/h/Library/Caches/llama.cpp", "/h/.ollama/models",
            },
        ),
        (
            "win32",
            {"APPDATA": "/h/Roaming", "LOCALAPPDATA": "/h/Local"},
            {
                "/h/.cache/huggingface/hub", "/h/Roaming/Jan/data/llamacpp/models", "/h/Local/nomic.ai/GPT4All",
                "/h/Local/llama.cpp", "/h/.lmstudio/models", "/h/.ollama/models",
            },
        ),
        (
            "linux",
            {
                "HF_HOME": "/big/hf", "OLLAMA_MODELS": "~/o", "LLAMA_CACHE": "/l", "XDG_DATA_HOME": "/d",
                "XDG_CACHE_HOME": "/c",
            },
            {"/big/hf/hub", "/h/o", "/l", "/d/nomic.ai/GPT4All", "/c/llama.cpp"},
        ),
        ("linux", {"HF_HUB_CACHE": "/hub", "HF_HOME": "/unused"}, {"/hub"}),
    ],
)  # fmt: skip
def test_places_of_every_system(system: str, environment: dict[str, str], expected: set[str]) -> None:
    there = [place.path.as_posix() for place in places(system, environment, Path("/h"))]
    assert expected <= set(there)
    assert len(there) == len(set(there))
    assert "/unused/hub" not in there


def test_lm_studio_says_where_it_is(tmp_path: Path) -> None:
    (tmp_path / ".lmstudio-home-pointer").write_text(f"{tmp_path / 'studio'}\n", encoding="utf-8")
    (tmp_path / "studio").mkdir()
    (tmp_path / "studio" / "settings.json").write_text(json.dumps({"downloadsFolder": "/mnt/models"}), encoding="utf-8")
    there = {place.path for place in places("linux", {}, tmp_path) if place.app == "LM Studio"}
    assert {tmp_path / "studio" / "models", Path("/mnt/models")} <= there


# ---- what ---------------------------------------------------------------------------------------------------------


def test_the_cache_of_hugging_face(models: Path, tmp_path: Path) -> None:
    source = write_checkpoint(tmp_path / "source", layers=2, experts=4)
    whole = in_cache(tmp_path / "hub", "org/whole--x", source)
    in_cache(tmp_path / "hub", "org/half", source, leave_out="model-00001.safetensors")
    (tmp_path / "hub" / "models--org--only-config" / "snapshots" / "b").mkdir(parents=True)
    there = found(Place("Hugging Face", HUGGING_FACE, tmp_path / "hub"))
    assert set(there) == {"org/whole--x", "org/half"}
    model = there["org/whole--x"]
    assert (model.can_open, model.architecture, model.experts, model.format) == (True, "qwen3_moe", 4, "safetensors")
    assert (model.repo, model.revision, model.path) == ("org/whole--x", "a" * 40, str(whole))
    assert model.template
    assert model.nbytes == sum(p.stat().st_size for p in source.iterdir())
    assert not there["org/half"].can_open
    assert "model-00001.safetensors is missing" in there["org/half"].why_not
    card = library.card(library.add(Path(model.path), model.name))
    assert (card.name, card.source) == ("org-whole--x", "org/whole--x")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"model_type": "bert", "num_experts": 0}, "Dense model"),
        ({"model_type": "strange_moe"}, "strange_moe models aren't supported"),
        ({"num_experts": 9}, "not complete"),
        ({"quantization_config": {"quant_method": "made-up"}}, "quantization isn't supported"),
        (
            {"model_type": "afmoe", "quantization_config": {"quant_method": "made-up"}},
            "quantization isn't supported (made-up)",
        ),
        ({"model_type": "gpt_oss", "quantization": {"bits": 4, "group_size": 64}}, "quantized by MLX"),
        ({"model_type": "llama", "num_experts": 0, "quantization": {"bits": 4, "group_size": 64}}, "Dense model"),
    ],
)
def test_checkpoints_that_cannot_be_opened_say_why(tmp_path: Path, change: dict[str, Any], words: str) -> None:
    source = write_checkpoint(tmp_path / "models" / "m", layers=1, experts=2)
    config = json.loads((source / "config.json").read_text(encoding="utf-8"))
    (source / "config.json").write_text(json.dumps({**config, **change}), encoding="utf-8")
    model = found(Place("LM Studio", FILES, tmp_path / "models"))["m"]
    assert not model.can_open
    assert words in model.why_not


def test_ollamas_blobs_are_found_under_their_names_and_imported(models: Path, tmp_path: Path, file: Path) -> None:
    blob = in_ollama(tmp_path / "o", "tiny:30b", file, "sha256:" + "5" * 64)
    in_ollama(tmp_path / "o", "chat:latest", dense(tmp_path / "d.gguf"), "sha256:" + "6" * 64)
    in_ollama(tmp_path / "o", "damaged:1", dense(tmp_path / "d.gguf"), "sha256:" + "7" * 64).write_bytes(b"GGUF")
    (tmp_path / "o" / "manifests" / "registry.ollama.ai" / "library" / "tiny" / "bad").write_text("{", encoding="utf-8")
    there = found(Place("Ollama", OLLAMA, tmp_path / "o"))
    assert set(there) == {"tiny:30b", "chat:latest", "damaged:1"}
    tiny = there["tiny:30b"]
    assert (tiny.can_open, tiny.architecture, tiny.experts, tiny.template) == (True, "qwen3moe", 8, True)
    assert (tiny.path, tiny.name, tiny.revision) == (str(blob), "tiny-30b", "30b")
    assert (there["chat:latest"].quantization, there["chat:latest"].can_open) == ("Q4_K_M", False)
    assert "Dense model" in there["chat:latest"].why_not
    assert "damaged" in there["damaged:1"].why_not
    assert library.card(library.add(blob, tiny.name)).family == "qwen3_moe"


def test_trees_of_files(tmp_path: Path, file: Path) -> None:
    top = tmp_path / "models"
    (top / "org" / "repo").mkdir(parents=True)
    shutil.copy(file, top / "org" / "repo" / "tiny-Q8_0.gguf")
    dense(top / "org" / "repo" / "mmproj-tiny.gguf", "clip")
    dense(top / "jan" / "some-model" / "model.gguf", "bloom")
    dense(top / "new" / "moe.gguf", "brandnew", expert_count=8)
    dense(top / "split-00001-of-00003.gguf")
    dense(top / "split-00003-of-00003.gguf")
    (top / "junk.gguf").write_bytes(b"not a model")
    (top / ".hidden").mkdir()
    dense(top / ".hidden" / "x.gguf")
    (top / "gone.gguf").symlink_to(top / "nowhere")
    there = found(Place("LM Studio", FILES, top))
    assert [t for t, m in there.items() if m.can_open] == ["tiny-Q8_0"]
    assert next(iter(there)) == "tiny-Q8_0"
    assert {"tiny-Q8_0", "some-model", "moe", "split", "junk"} <= set(there)
    assert "mmproj-tiny" not in there
    assert "x" not in there
    assert "brandnew models aren't supported" in there["moe"].why_not
    assert "missing" in there["split"].why_not
    assert "damaged" in there["junk"].why_not


def test_one_file_reached_by_two_ways_is_one_model(tmp_path: Path) -> None:
    dense(tmp_path / "a" / "m.gguf")
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "m.gguf").symlink_to(tmp_path / "a" / "m.gguf")
    assert len(external_models.find(quiet, [Place("x", FILES, tmp_path / "a"), Place("y", FILES, tmp_path / "b")])) == 1


def test_nothing_is_read_of_the_weights(tmp_path: Path, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    top = tmp_path / "models"
    write_checkpoint(top / "m", layers=1, experts=2)
    shutil.copy(file, top / "tiny.gguf")
    for path in top.rglob("*.safetensors"):  # holes in place of the data
        length = 8 + int.from_bytes(path.read_bytes()[:8], "little")
        size = path.stat().st_size
        with path.open("r+b") as opened:
            opened.truncate(length)
            opened.truncate(size)
    assert all(model.can_open for model in found(Place("x", FILES, top)).values())


def test_looking_can_be_stopped_and_strange_places_do_no_harm(tmp_path: Path) -> None:
    dense(tmp_path / "m.gguf")

    def stop(phrase: str, done: int, total: int) -> None:
        raise UnderhillError(kind, translated("Stopped."))

    from engine.errors import Kind

    kind = Kind.CANCELLED
    with pytest.raises(UnderhillError):
        external_models.find(stop, [Place("x", FILES, tmp_path)])
    nowhere: list[Place] = [Place("x", layout, tmp_path / "nowhere") for layout in (FILES, OLLAMA, HUGGING_FACE)]
    assert external_models.find(quiet, [*nowhere, Place("x", FILES, tmp_path / "m.gguf")]) == ()


@pytest.mark.parametrize("title", [
    "qwen3:30b", "org/Model 7B", "..", "a.partial", "A.OLD", "", "x<y>", "CON.", "nul", "aux.v1", "aux.old", "é" * 300,
    "half\ud800", "a" * 179 + " b", "\u00a0",
])  # fmt: skip
def test_names_for_the_library_can_be_used(title: str) -> None:
    assert checked_name(library_name(title))


@pytest.mark.parametrize("name", ["qwen.OLD", "Qwen.Partial", "x.LOCK", "con", "NUL.txt", "é" * 101, "a\ud800"])
def test_a_name_that_some_system_takes_for_something_else_is_refused(name: str) -> None:
    with pytest.raises(UnderhillError, match="can't be named"):
        checked_name(name)


def test_the_usual_places_are_looked_into(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make: Callable[[], Path] = lambda: tmp_path  # noqa: E731
    monkeypatch.setattr(Path, "home", make)
    monkeypatch.setenv("OLLAMA_MODELS", str(tmp_path / "o"))
    for name in ("HF_HOME", "HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "LLAMA_CACHE"):
        monkeypatch.delenv(name, raising=False)
    in_ollama(tmp_path / "o", "m:1", dense(tmp_path / "x.gguf"), "sha256:" + "1" * 64)
    assert [m.title for m in external_models.find(quiet) if str(tmp_path) in m.path and os.sep in m.path] == ["m:1"]
