"""Models that could be had, with their pills: nothing but configs and headers is fetched, and each once."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import huggingface_hub.constants
import pytest

from engine.errors import UnderhillError
from engine.hardware.machine import Memory
from engine.hub import listings, search
from engine.hub.client import Hub, connect
from engine.hub.outline import read_outline
from engine.library import catalogue, computer, library
from engine.library.fit_estimates import FitEstimates, Known
from engine.library.home import home
from tests.engine.formats.test_packed import pack
from tests.engine.formats.tiny_checkpoint import write_checkpoint
from tests.engine.hub.test_gguf import quantized
from tests.hubserver import Fault, HubServer

pytestmark = pytest.mark.long


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, root: Path) -> Iterator[HubServer]:
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setenv("UNDERHILL_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("HF_TOKEN", raising=False)
    with HubServer() as running:
        running.add("owner/small-moe", root / "resources" / "builtin" / "model", downloads=10)
        running.add("owner/other-moe", write_checkpoint(tmp_path / "served"), downloads=5)
        yield running


@pytest.fixture
def hub(server: HubServer) -> Iterator[Hub]:
    with connect({"endpoint": server.url}) as opened:
        yield opened


def found(hub: Hub, words: str = "moe") -> dict[str, listings.HubModel]:
    return {model.repo: model for model in listings.judged(hub, listings.listed(hub, words), FitEstimates())}


def needs(model: listings.HubModel) -> tuple[int, int, int]:
    """What does not depend on how fast memory is at this moment."""
    assert model.fit is not None
    return model.fit.needed, model.fit.wanted, model.fit.disk


def test_what_a_search_finds_has_its_pill_and_configs_are_fetched_once(hub: Hub, server: HubServer) -> None:
    one = found(hub)["owner/small-moe"]
    assert one.fit is not None
    assert (one.fit.pill, one.fit.tier) == ("fits", 8)
    assert one.context_length == 2048
    assert one.active_parameters == pytest.approx(4.63e6, rel=1e-2)
    fetched = [r.path.rpartition("/")[2] for r in server.requests if "/resolve/" in r.path]
    assert sorted(fetched) == ["config.json", "config.json"]
    server.requests.clear()
    assert needs(found(hub)["owner/small-moe"]) == needs(one)
    assert not [r for r in server.requests if "/resolve/" in r.path]
    config = server.repos["owner/other-moe"].folder / "config.json"
    config.write_text(config.read_text(encoding="utf-8") + "\n", encoding="utf-8")  # another revision
    found(hub)
    assert [r.path.split("/resolve/")[0] for r in server.requests if "/resolve/" in r.path] == ["/owner/other-moe"]


def test_packed_weights_count_as_those_they_mean(hub: Hub, server: HubServer, tmp_path: Path) -> None:
    pack(tmp_path / "packed", "gptq")
    server.add("owner/packed", tmp_path / "packed")
    one = found(hub, "packed")["owner/packed"]
    assert listings.listed(hub, "packed")[0].parameters < one.active_parameters < one.parameters
    assert one.parameters == pytest.approx(read_outline(hub, "owner/packed").parameters, rel=0.05)


def test_kept_configs_that_are_damaged_are_fetched_again(hub: Hub, server: HubServer) -> None:
    one = found(hub)["owner/small-moe"]
    for file in (home() / "configs").iterdir():
        file.write_text("{", encoding="utf-8")
    server.requests.clear()
    assert needs(found(hub)["owner/small-moe"]) == needs(one)
    assert len([r for r in server.requests if "/resolve/" in r.path]) == 2


def test_a_model_that_is_gguf_alone_is_judged_by_a_files_first_bytes_once(
    hub: Hub, server: HubServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "GLANCE", 4096)
    served = quantized(tmp_path, "Q8_0")
    server.add("owner/moe-GGUF", served, downloads=20)
    one = found(hub)["owner/moe-GGUF"]
    assert one.fit is not None
    assert (one.fit.pill, one.model_type, one.context_length) == ("fits", "qwen3_moe", 512)
    assert server.sent["model-Q8_0.gguf"] == 4096
    assert needs(found(hub)["owner/moe-GGUF"]) == needs(one)
    assert server.sent["model-Q8_0.gguf"] == 4096
    with next(served.iterdir()).open("ab") as file:
        file.write(b"\0")  # another revision
    server.faults = [Fault("model-Q8_0.gguf", status=403, headers={"X-Error-Code": "GatedRepo"})]
    again = found(hub)["owner/moe-GGUF"]
    assert (again.fit, again.model_type) == (None, "qwen3moe")


def test_where_a_config_cannot_be_had_there_is_no_pill_and_the_others_have_theirs(hub: Hub, server: HubServer) -> None:
    server.repos["owner/other-moe"].gated = "auto"
    models = found(hub)
    assert models["owner/other-moe"].fit is None
    assert models["owner/other-moe"].gated
    assert models["owner/small-moe"].fit is not None


def test_what_the_catalogue_knows_is_said_and_judged_without_a_config(hub: Hub, server: HubServer, root: Path) -> None:
    repo = "Qwen/Qwen3-30B-A3B-Instruct-2507"
    server.add(repo, root / "resources" / "builtin" / "model", gated="auto")
    model = found(hub, "qwen3-30b")[repo]
    assert (model.title, model.fit is not None) == ("Qwen3 30B Instruct", True)
    assert model.about
    server.requests.clear()
    entries = {m.repo: m for m in listings.of_catalogue(FitEstimates())}
    assert not server.requests
    assert all(m.fit is not None for m in entries.values())


def test_what_a_model_is_good_at_is_what_it_can_as_it_is_offered(hub: Hub) -> None:
    offered = {m.original or m.repo: m for m in listings.of_catalogue(FitEstimates())}
    assert offered["Qwen/Qwen3.6-35B-A3B"].good_at == ("thinking", "code")  # its GGUF reads no images
    assert offered["Qwen/Qwen3.5-122B-A10B"].good_at == ("thinking", "vision", "code")
    assert offered["Qwen/Qwen3-30B-A3B-Instruct-2507"].good_at == ()
    entry = catalogue.find("Qwen/Qwen3.6-35B-A3B")
    assert entry is not None
    whole = listings.bundled_details(hub, entry, entry.repo, FitEstimates())
    assert whole.model.good_at == ("thinking", "vision", "code")


def test_what_a_search_finds_is_good_at_what_page_and_config_say(hub: Hub, server: HubServer, tmp_path: Path) -> None:
    file = write_checkpoint(tmp_path / "sees") / "config.json"
    sees = {"model_type": "qwen3_vl_moe", "vision_config": {}, "image_token_id": 1}
    file.write_text(json.dumps(json.loads(file.read_text(encoding="utf-8")) | sees), encoding="utf-8")
    server.add("owner/seeing-moe-coder", file.parent, tags=("reasoning",))
    assert {m.repo: m.good_at for m in listings.listed(hub, "moe")}["owner/seeing-moe-coder"] == ("thinking", "code")
    models = found(hub)
    assert models["owner/seeing-moe-coder"].good_at == ("thinking", "vision", "code")
    assert models["owner/other-moe"].good_at == ()
    server.repos["owner/small-moe"].tags = ("code",)
    assert listings.details(hub, "owner/small-moe", "main", FitEstimates()).model.good_at == ("code",)


def test_details_are_those_of_the_model_once_it_is_here(hub: Hub, server: HubServer, mine: Path) -> None:
    told = listings.details(hub, "owner/small-moe", "main", FitEstimates())
    assert all("model.safetensors" not in name or size > 0 for name, size in told.files)
    assert sum(server.sent.values()) < 2_000_000  # no weights
    card = library.card(library.prepare("builtin"))
    assert (told.moe_layers, told.experts, told.experts_per_token) == (
        card.moe_layers,
        card.experts,
        card.experts_per_token,
    )
    assert told.model.parameters == card.parameters
    assert dict(told.stores)[8] == pytest.approx(card.expert_bytes, rel=0.6)
    assert dict(told.fits).keys() == {8, 4}
    assert dict(told.fits)[8].disk == pytest.approx(card.disk_bytes, rel=0.3)
    assert told.page == f"{server.url}/owner/small-moe"


def test_details_of_what_cannot_be_opened_say_why(hub: Hub, server: HubServer) -> None:
    config = server.repos["owner/other-moe"].folder / "config.json"
    config.write_text(
        json.dumps(json.loads(config.read_text(encoding="utf-8")) | {"model_type": "llama"}), encoding="utf-8"
    )
    with pytest.raises(UnderhillError, match="llama"):
        listings.details(hub, "owner/other-moe", "main", FitEstimates())
    server.faults = [Fault("config.json", status=404, headers={"X-Error-Code": "EntryNotFound"})]
    with pytest.raises(UnderhillError, match=r"no file config\.json"):
        listings.details(hub, "owner/small-moe", "main", FitEstimates())


def test_a_model_of_the_library_has_its_pill_and_its_repository_is_known_to_be_here(mine: Path) -> None:
    for name in ("builtin", "m"):  # not written just now
        os.utime(mine / name / "manifest.json", (1e9, 1e9))
    known = Known()
    cards = FitEstimates(known=known).library(library.listing())
    assert {card.name: card.fit.pill for card in cards if card.fit} == {"builtin": "fits", "m": "fits"}
    assert len(known) == 2
    again = FitEstimates(known=known).library(cards)
    assert {card.name for card in again if card.fit} == {"builtin", "m"}
    (mine / "m" / "manifest.json").write_text("{", encoding="utf-8")
    (broken,) = [card for card in FitEstimates().library(library.listing()) if card.name == "m"]
    assert broken.fit is None


def test_memory_is_measured_once_for_many_lists(mine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While an answer is made, every look would slow it down, and find memory slower than it is."""
    monkeypatch.setattr(computer, "looks", {})
    rates = iter([4e10])
    monkeypatch.setattr("engine.hardware.compute_speed.quickly", lambda threads: next(rates))
    speeds = {card.fit.speed for _ in range(3) for card in FitEstimates().library(library.listing()) if card.fit}
    assert len(speeds) == 1
    for key, look in computer.looks.items():  # the disk is looked at again
        computer.looks[key] = look._replace(when=look.when - computer.HOLDS)
    found = {card.fit.speed for card in FitEstimates().library(library.listing()) if card.fit}
    assert found == speeds


def test_fewer_bits_are_taken_where_more_are_too_slow(monkeypatch: pytest.MonkeyPatch, mine: Path) -> None:
    """A computer in whose memory it fits with 4 bits alone, and whose disk is slow."""
    judge = FitEstimates()
    machine = replace(
        judge._machine(mine), memory=Memory(32 * 10**9, 22 * 10**9), disk_rate=2e8, disk_points=(), disk_free=10**12,
        memory_rate=3e10,
    )  # fmt: skip
    monkeypatch.setattr(judge, "_machine", lambda folder: machine)
    entries = {m.repo: m.fit for m in listings.of_catalogue(judge)}
    gpt = entries["openai/gpt-oss-20b"]
    assert gpt is not None
    assert (gpt.pill, gpt.tier) == ("fits", 4)
    small = entries["ibm-granite/granite-3.1-1b-a400m-instruct"]
    assert small is not None
    assert (small.pill, small.tier) == ("fits", 8)
    machine = replace(machine, disk_free=10**10)
    large = {m.repo: m.fit for m in listings.of_catalogue(judge)}["openai/gpt-oss-120b"]
    assert large is not None
    assert (large.pill, large.tier) == ("too_big", 4)  # what it says to be missing would be enough
