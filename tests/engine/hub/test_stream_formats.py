"""Every family and every form of weights becomes the same store while it arrives as out of a folder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from safetensors.torch import load, save_file

from engine.convert.importer import import_checkpoint
from engine.hub import download, streaming
from engine.hub.client import Hub
from engine.hub.outline import read_outline
from tests.engine.formats.forms import in_blocks
from tests.engine.formats.test_packed import WAYS, pack
from tests.engine.hub.test_stream import same
from tests.engine.models.compat.tiny import tiny_config
from tests.engine.models.parity import hf_model
from tests.hubserver import HubServer

pytestmark = pytest.mark.long


def in_two(folder: Path) -> Path:
    """The same weights in two files, cut wherever it falls."""
    tensors = load((folder / "model.safetensors").read_bytes())
    names = sorted(tensors)
    (folder / "model.safetensors").unlink()
    for number, part in enumerate((names[: len(names) // 2], names[len(names) // 2 :])):
        save_file({n: tensors[n].clone() for n in part}, folder / f"model-{number}.safetensors")
    return folder


def mxfp4(folder: Path) -> Path:
    """A gpt-oss whose experts are random blocks."""
    hf_model(tiny_config("gpt_oss", intermediate_size=32)).bfloat16().save_pretrained(folder)
    save_file(in_blocks(folder / "model.safetensors"), folder / "model.safetensors")
    return folder


def family(model_type: str) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        hf_model(tiny_config(model_type)).bfloat16().save_pretrained(folder)
        return folder

    return make


def packed(way: str) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        pack(folder, way)
        return folder

    return make


MADE = {
    **{name: family(name) for name in ("mixtral", "qwen3_moe", "deepseek_v3", "granitemoe", "gpt_oss", "olmoe")},
    "gpt_oss in mxfp4": mxfp4,
    **{way: packed(way) for way in WAYS},
}


@pytest.mark.parametrize("what", MADE)
def test_it_becomes_what_it_would_have_been(
    what: str, hub: Hub, server: HubServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(download, "CHUNK", 1 << 14)
    served = in_two(MADE[what](tmp_path / "made"))
    server.add("tiny/one", served)
    outline = read_outline(hub, "tiny/one")
    folder = tmp_path / "downloads" / "one"
    assert streaming.hindrance(outline, folder) == ""
    server.forget()
    with streaming.opened(hub, outline, folder, True) as incoming:
        store = import_checkpoint(incoming, tmp_path / "store")
    assert same(store, import_checkpoint(served, tmp_path / "local"))
    server.settle()
    assert sum(server.sent.values()) == outline.download_bytes
