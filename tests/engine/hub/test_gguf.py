"""GGUF on a hub: which of several, what is read to look at one, and its import while it arrives."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gguf import GGMLQuantizationType as Type

from engine.convert.importer import import_checkpoint
from engine.errors import Kind, UnderhillError
from engine.formats.opening import open_source
from engine.hub import download, streaming
from engine.hub.client import Hub
from engine.hub.outline import read_outline
from engine.hub.revision import RemoteFile, Revision, choose, quantizations
from engine.store.reader import Store
from tests.engine.formats.gguf_blocks import decoded, random_blocks
from tests.engine.formats.gguf_model import K_TYPES, tiny, write
from tests.engine.formats.test_gguf_source import with_tokenizer
from tests.engine.hub.test_stream import data
from tests.engine.models.parity import hf_model
from tests.engine.quantization.reference import decode_expert
from tests.engine.store.tiny_store import read
from tests.hubserver import HubServer

pytestmark = pytest.mark.long

KINDS = {"Q8_0": Type.Q8_0, "Q4_0": Type.Q4_0, "F32": Type.F32}


def quantized(folder: Path, kind: str, architecture: str = "qwen3moe", split: int = 0) -> Path:
    """A model of 32 columns and more in `folder`, experts in this type."""
    hf_model(tiny(architecture)).save_pretrained(folder / "source")
    config = json.loads((folder / "source" / "config.json").read_text(encoding="utf-8"))
    served = folder / "gguf"
    served.mkdir(exist_ok=True)

    def type_of(name: str, array: Any) -> Type:
        return KINDS[kind] if "_exps" in name and array.shape[-1] % 32 == 0 else Type.F32

    write(folder / "source", config, served / f"model-{kind}.gguf", architecture, type_of, with_tokenizer, split)
    return served


def revision(*names: str) -> Revision:
    files = []
    for number, path in enumerate(names):
        folder, _, name = path.rpartition("/")
        files.append(RemoteFile(name, 1000 + number, "0" * 64, "", folder))
    return Revision(
        repo="a/b", commit="0" * 40, files={}, licence="", gated=False, ggufs={file.path: file for file in files}
    )


def test_which_of_several() -> None:
    found = revision("m-Q2_K.gguf", "m-Q4_K_M.gguf", "m-Q4_K.gguf", "Q8_0/m-Q8_0-00001-of-00002.gguf",
                     "Q8_0/m-Q8_0-00002-of-00002.gguf", "BF16/m-BF16-00001-of-00002.gguf")  # fmt: skip
    assert [q.name for q in quantizations(found)] == ["m-Q2_K", "m-Q4_K_M", "m-Q4_K", "m-Q8_0"]  # BF16 lacks a part
    assert choose(found, "", 8).name == "m-Q8_0"
    assert [f.path for f in choose(found, "", 8).files] == [f"Q8_0/m-Q8_0-0000{n}-of-00002.gguf" for n in (1, 2)]
    assert choose(found, "", 4).name == "m-Q4_K_M"
    assert choose(found, "q4_k", 8).name == "m-Q4_K"
    with pytest.raises(UnderhillError, match="no GGUF model called Q5") as error:
        choose(found, "Q5", 8)
    assert "m-Q8_0 (0 MB)" in error.value.action
    with pytest.raises(UnderhillError, match="4 GGUF models called m-"):
        choose(found, "m-", 8)
    assert choose(revision("m-odd.gguf"), "", 8).name == "m-odd"


@pytest.mark.parametrize("architecture", ["qwen3moe", "gpt-oss", "deepseek2"])
@pytest.mark.parametrize(("kind", "split"), [("Q8_0", 0), ("Q4_0", 5)])
def test_the_store_is_that_of_the_files(
    architecture: str, kind: str, split: int, hub: Hub, server: HubServer, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr(download, "CHUNK", 1 << 14)
    monkeypatch.setattr("engine.hub.outline.FIRST", 1 << 12)
    served = quantized(tmp_path, kind, architecture, split)
    server.add("tiny/gguf", served)
    outline = read_outline(hub, "tiny/gguf")
    local = open_source(next(iter(sorted(served.iterdir()))))
    assert (outline.config, len(outline.weights)) == (local.config, len(local.files))
    folder = tmp_path / "downloads" / "gguf"
    assert streaming.hindrance(outline, folder) == ""
    server.forget()
    with streaming.opened(hub, outline, folder, True) as incoming:
        store = import_checkpoint(incoming, tmp_path / "store")
    assert data(store) == data(import_checkpoint(local.path, tmp_path / "local"))
    server.settle()
    assert sum(server.sent.values()) == outline.download_bytes


@pytest.mark.parametrize("kind", K_TYPES, ids=lambda kind: kind.name)
def test_what_the_package_cannot_encode(
    kind: Type, hub: Hub, server: HubServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Experts that arrive in blocks of 256 are bit for bit what the package decodes, and those of the file."""
    monkeypatch.setattr(download, "CHUNK", 1 << 16)
    changes = {"hidden_size": 256, "moe_intermediate_size": 256, "num_hidden_layers": 2, "num_experts": 3}
    hf_model(tiny("qwen3moe", **changes)).save_pretrained(tmp_path / "source")
    config = json.loads((tmp_path / "source" / "config.json").read_text(encoding="utf-8"))
    (served := tmp_path / "gguf").mkdir()
    placed: list[tuple[str, tuple[int, ...]]] = []

    def type_of(name: str, array: Any) -> Type:
        placed.append((name, array.shape))
        return kind if "_exps" in name else Type.F32

    write(tmp_path / "source", config, served / "m.gguf", "qwen3moe", type_of, with_tokenizer)
    whole = {
        name: decoded(kind, random_blocks(kind, shape, seed), shape)
        for seed, (name, shape) in enumerate(placed)
        if "_exps" in name
    }
    server.add("tiny/gguf", served)
    outline = read_outline(hub, "tiny/gguf")
    for top in (32, 8):
        with streaming.opened(hub, outline, tmp_path / "downloads" / str(top), True) as incoming:
            store = import_checkpoint(incoming, tmp_path / f"store{top}", top)
        assert data(store) == data(import_checkpoint(served / "m.gguf", tmp_path / f"local{top}", top))
    with Store.open(tmp_path / "store32") as opened:
        for layer in opened.layers:
            spec = opened.spec(layer)
            for expert in range(opened.experts(layer)):
                matrices = decode_expert(read(opened, layer, expert, range(len(spec.layout.parts))), spec, 32)
                for part, matrix in matrices.items():
                    wanted = whole[f"blk.{layer}.ffn_{part}_exps.weight"][expert]
                    assert np.array_equal(matrix.numpy(), wanted), (layer, expert, part)


def test_one_that_is_named_where_there_are_none(hub: Hub, server: HubServer) -> None:
    with pytest.raises(UnderhillError, match="tiny/moe has no GGUF files") as error:
        read_outline(hub, "tiny/moe", gguf="Q4_K_M")
    assert error.value.kind is Kind.BAD_REQUEST


def test_a_look_reads_the_header_and_no_weights(hub: Hub, server: HubServer, tmp_path: Path,
                                                monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    monkeypatch.setattr("engine.hub.outline.FIRST", 1 << 12)
    server.add("tiny/gguf", quantized(tmp_path, "F32"))
    outline = read_outline(hub, "tiny/gguf", gguf="f32")
    (size,) = (file.size for file in outline.weights)
    server.settle()
    assert sum(server.sent.values()) == len(outline.heads["model-F32.gguf"]) < size / 2


def test_a_header_that_arrived_damaged_makes_no_model(
    hub: Hub, server: HubServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The hash of the file that arrives is right: it is the look at it that went wrong."""
    monkeypatch.setattr(download, "CHUNK", 1 << 14)
    server.add("tiny/gguf", quantized(tmp_path, "Q8_0"))
    outline = read_outline(hub, "tiny/gguf")
    head = bytearray(outline.heads["model-Q8_0.gguf"])
    head[40] ^= 1
    wrong = replace(outline, heads={"model-Q8_0.gguf": bytes(head)})
    folder = tmp_path / "downloads" / "gguf"
    with pytest.raises(UnderhillError) as error, streaming.opened(hub, wrong, folder, True) as incoming:
        import_checkpoint(incoming, tmp_path / "store")
    assert error.value.kind is Kind.BROKEN_FILE
    assert not (tmp_path / "store").exists()
