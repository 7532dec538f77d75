"""What is known of a model before its weights are fetched, and what is refused then."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import load, save_file

from engine.convert.expert_plan import find_experts
from engine.convert.importer import import_checkpoint
from engine.errors import Kind, UnderhillError
from engine.formats.checkpoint import Checkpoint
from engine.hub import outline as outlines
from engine.hub.client import Hub
from engine.hub.outline import read_outline
from tests.engine.formats.test_packed import pack
from tests.engine.formats.tiny_checkpoint import write_checkpoint
from tests.hubserver import Fault, HubServer, handler


def test_it_knows_what_the_files_say(hub: Hub, server: HubServer, tmp_path: Path) -> None:
    repo = server.repos["tiny/moe"]
    (repo.folder / "original").mkdir()
    (repo.folder / "original" / "model.safetensors").write_bytes(b"the same once more")
    (repo.folder / "consolidated.safetensors").write_bytes(b"and again")
    (repo.folder / "train.py").write_text("print()", encoding="utf-8")
    found = read_outline(hub, "tiny/moe")
    local = Checkpoint.open(repo.folder)
    assert found.dense.keys() == set(find_experts(local).dense)
    assert found.parameters == sum(load(f.read_bytes())[k].numel() for f in local.files for k in load(f.read_bytes()))
    assert found.active_parameters == found.parameters - 2 * 2 * 3 * 64 * 64  # 2 of 4 experts rest, in 2 layers
    assert {f.name for f in found.files} == {
        "config.json", "tokenizer.json", "chat_template.jinja", "model.safetensors.index.json",
        "model-00000.safetensors", "model-00001.safetensors",
    }  # fmt: skip
    assert found.download_bytes == sum((repo.folder / f.name).stat().st_size for f in found.files)
    assert (found.model_type, found.licence, found.gated, found.commit) == (
        "qwen3_moe", "apache-2.0", False, repo.commit
    )  # fmt: skip


def test_it_says_how_large_the_store_will_be(hub: Hub, server: HubServer, tmp_path: Path) -> None:
    server.add("larger/moe", larger := write_checkpoint(tmp_path / "larger", hidden=256, inner=256))
    found = read_outline(hub, "larger/moe")
    for top in (4, 8):
        store = import_checkpoint(larger, tmp_path / f"store{top}", top)
        size = sum(p.stat().st_size for p in store.iterdir() if p.suffix == ".safetensors")
        assert found.store_bytes(top) <= size <= found.store_bytes(top) * 1.15


@pytest.mark.parametrize("name", ["config.json", "model-00000.safetensors"])
def test_what_arrives_damaged_is_looked_at_once_more(
    name: str, hub: Hub, server: HubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handler, "BLOCK", 16)  # of each the last byte is damaged
    right = read_outline(hub, "tiny/moe")
    server.faults = [Fault(name, corrupt=True, times=1)]
    assert read_outline(hub, "tiny/moe") == right
    server.faults = [Fault(name, corrupt=True)]
    with pytest.raises(UnderhillError, match=name) as error:
        read_outline(hub, "tiny/moe")
    assert (error.value.kind, "another network" in error.value.action) == (Kind.BROKEN_FILE, True)


PAGE = "<html>Welcome to our hotel"


@pytest.mark.parametrize(
    ("name", "page", "page_type"),
    [
        ("model-00000.safetensors", PAGE, "text/html; charset=utf-8"),
        ("model-00000.safetensors", PAGE * 100_000, "text/html"),
        ("model-00000.safetensors", '{"error": "not here"}', "application/json"),
        ("model-00000.safetensors", "Sign in first.", "text/plain"),
        ("config.json", PAGE, "text/html"),
        ("model.safetensors.index.json", PAGE, "text/html"),
    ],
    ids=["page", "long page", "message", "text", "config", "index"],
)
def test_a_page_in_a_files_place_is_neither_a_cut_connection_nor_a_damaged_file(
    name: str, page: str, page_type: str, hub: Hub, server: HubServer
) -> None:
    server.faults = [Fault(name, page=page, page_type=page_type)]
    error = refused(hub)
    assert error.kind is Kind.SERVER_ERROR
    assert f"returned a web page instead of {name}" in error.sentence
    assert "sign-in" in error.action
    assert sum(name in request.path for request in server.requests) <= 2  # the hub, and where it sends us on to


def test_a_header_that_ends_early_is_a_cut_connection(hub: Hub, server: HubServer) -> None:
    server.faults = [Fault("model-00000.safetensors", cut=10)]
    assert "was lost" in refused(hub).sentence


def test_what_is_packed_counts_as_the_weights_it_means(hub: Hub, server: HubServer, tmp_path: Path) -> None:
    pack(tmp_path / "packed", "gptq")
    server.add("tiny/gptq", tmp_path / "packed")
    before = read_outline(hub, "tiny/gptq")
    assert before.download_bytes < before.parameters * 2
    tensors = load((tmp_path / "packed" / "model.safetensors").read_bytes())
    for name in [n for n in tensors if n.endswith(".qweight")]:  # as some packers do
        tensors[name.replace(".qweight", ".bias")] = torch.zeros(tensors[name].shape[1])
    save_file(tensors, tmp_path / "packed" / "model.safetensors")
    with_biases = read_outline(hub, "tiny/gptq")
    assert with_biases.experts == before.experts
    assert with_biases.commit != before.commit


def test_no_weights_are_fetched(hub: Hub, server: HubServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outlines, "FIRST_LOOK", 1024)  # less than a header, more than nothing
    shards = [n for n in server.repos["tiny/moe"].files if n.endswith(".safetensors")]
    found = read_outline(hub, "tiny/moe")
    assert found.parameters == 112960
    server.settle()
    for name in shards:
        header = int.from_bytes((server.repos["tiny/moe"].folder / name).read_bytes()[:8], "little")
        assert server.sent[name] == 8 + header


def refused(hub: Hub, repo: str = "tiny/moe", revision: str = "main") -> UnderhillError:
    with pytest.raises(UnderhillError) as error:
        read_outline(hub, repo, revision)
    assert error.value.action
    return error.value


def test_what_is_not_there(hub: Hub, server: HubServer) -> None:
    assert "No model a/b" in refused(hub, "a/b").sentence
    assert "no such revision" in refused(hub, revision="nowhere").sentence
    for name in ("a/b/c", "../b", "a b", ""):
        assert refused(hub, name).kind is Kind.BAD_REQUEST
    for page in ("https://huggingface.co/a/b", f"{server.url}/a/b/tree/main"):
        assert refused(hub, page).action == "The model of that address is called a/b."


def test_a_private_model_looks_like_none(hub: Hub, server: HubServer) -> None:
    server.repos["tiny/moe"].private = True
    assert "or it is private" in refused(hub).sentence


def test_a_licence_that_must_be_accepted_first(server: HubServer) -> None:
    from engine.hub.tokens import HubToken

    server.repos["tiny/moe"].gated = "auto"
    server.tokens = {"known", "member"}
    server.repos["tiny/moe"].people = {"member"}
    with Hub(server.url, token=HubToken()) as hub:
        error = refused(hub)
        assert (error.kind, f"{server.url}/tiny/moe" in error.action) == (Kind.NO_ACCESS, True)
    with Hub(server.url, token=HubToken("known")) as hub:
        error = refused(hub)
        assert "no access to tiny/moe yet" in error.sentence
        assert f"{server.url}/tiny/moe" in error.action
    with Hub(server.url, token=HubToken("wrong")) as hub:
        assert "rejected the token" in refused(hub).sentence
    with Hub(server.url, token=HubToken("member")) as hub:
        assert read_outline(hub, "tiny/moe").gated


def test_the_token_goes_to_the_hub_alone(server: HubServer) -> None:
    from engine.hub.tokens import HubToken

    server.tokens = {"secret"}
    with Hub(server.url, token=HubToken("secret")) as hub:
        read_outline(hub, "tiny/moe")
    asked = [("secret" in r.headers.get("authorization", ""), r.storage) for r in server.requests]
    assert set(asked) == {(True, False), (False, True)}


def test_models_that_could_not_be_imported(hub: Hub, server: HubServer) -> None:
    folder = server.repos["tiny/moe"].folder
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    whole = (folder / "model-00001.safetensors").read_bytes()

    (folder / "model-00001.safetensors").write_bytes(whole[:-1])
    assert refused(hub).kind is Kind.BROKEN_FILE
    (folder / "model-00001.safetensors").unlink()
    assert "lacks its file model-00001.safetensors" in refused(hub).sentence
    (folder / "model-00001.safetensors").write_bytes(whole)
    for written, kind in (
        (config | {"num_experts": 5}, Kind.MISSING_FILE),
        ([], Kind.BROKEN_FILE),
        ({}, Kind.BROKEN_FILE),
    ):
        (folder / "config.json").write_text(json.dumps(written), encoding="utf-8")
        if isinstance(written, dict):
            assert refused(hub).kind is kind
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    (folder / "model.safetensors.index.json").unlink()
    for shard in folder.glob("*.safetensors"):
        shard.unlink()
    assert refused(hub).kind is Kind.NOT_A_MODEL
    save_file({"model.layers.0.mlp.gate_proj.weight": torch.zeros(8, 8)}, folder / "model.safetensors")
    assert "dense" in refused(hub).sentence
