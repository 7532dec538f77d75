"""A model of the catalogue, got as it is offered: its four bits are fetched, streamed in, and kept as they are."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import huggingface_hub.constants
import numpy as np
import pytest
import torch

from engine.convert.expert_plan import find_experts
from engine.convert.pieces import read_piece
from engine.formats.opening import open_source
from engine.hub import listings
from engine.hub.client import Hub, connect
from engine.hub.pull import look, pull
from engine.library import catalogue
from engine.library.catalogue import FourBit
from engine.library.fit_estimates import FitEstimates
from engine.store.reader import Store
from tests.engine.formats.forms import FORMS
from tests.engine.quantization.reference import decode_expert
from tests.engine.store.tiny_store import read
from tests.hubserver import HubServer

ENTRY = "Qwen/Qwen3-30B-A3B-Instruct-2507"


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[HubServer]:
    """A hub with the model in its original precision, and in two forms of GGUF."""
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setenv("UNDERHILL_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("HF_TOKEN", raising=False)
    for kind in ("Q4_K", "Q8_0"):
        FORMS[f"GGUF {kind}"](tmp_path / kind)
    served = tmp_path / "Q4_K"
    (served / "model-Q4_K.gguf").rename(served / "model-Q4_K_M.gguf")
    (tmp_path / "Q8_0" / "model-Q8_0.gguf").rename(served / "model-Q8_0.gguf")
    with HubServer() as running:
        running.add(ENTRY, tmp_path / "Q4_K-source")
        running.add(offered().repo, served)
        yield running


@pytest.fixture
def hub(server: HubServer) -> Iterator[Hub]:
    with connect({"endpoint": server.url}) as opened:
        yield opened


def offered() -> listings.HubModel:
    return next(m for m in listings.of_catalogue(FitEstimates()) if m.original == ENTRY)


def test_what_is_offered_names_both_sizes_and_what_is_lost() -> None:
    for model in listings.of_catalogue(FitEstimates()):
        entry = catalogue.find(model.repo)
        assert entry is not None
        if entry.sources:
            assert model.repo == entry.sources[0].repo
            assert model.download_bytes < 0.7 * model.original_bytes or entry.bits == 8
            assert model.original == entry.repo
        assert bool(model.lost) == bool(entry.sources or entry.native)
        if model.lost:
            assert model.fit is not None
            assert model.fit.tier in (0, 2, 4)  # more than four would be made of nothing


def test_it_is_got_as_it_is_offered(hub: Hub, server: HubServer, tmp_path: Path) -> None:
    model = offered()
    told = listings.details(hub, model.repo, "main", FitEstimates(), model.gguf_name)
    assert (told.model.original, told.model.form, told.model.title) == (ENTRY, "GGUF Q4_K_M", model.title)
    assert [top for top, _ in told.stores] == [4]
    server.forget()
    outline = look(hub, model.repo, gguf=model.gguf_name, top=4)
    store = pull(hub, outline, "mine", 4)
    server.settle()
    fetched = {name for name, nbytes in server.sent.items() if nbytes > 100_000}
    assert fetched == {"model-Q4_K_M.gguf"}  # neither the original nor the finer one
    assert sum(server.sent.values()) < 1.3 * told.model.download_bytes
    assert not (tmp_path / "home" / "downloads").exists() or not any((tmp_path / "home" / "downloads").glob("*/*.gguf"))
    (listed,) = [m for m in listings.of_catalogue(FitEstimates()) if m.original == ENTRY]
    assert listed.here == "mine"
    source = open_source(tmp_path / "Q4_K" / "model-Q4_K_M.gguf")
    plan = find_experts(source)
    with Store.open(store) as opened:
        spec = opened.spec(0, 1)
        got = decode_expert(read(opened, 0, 1, range(len(spec.layout.parts))), spec, 4)
        for part in ("gate", "up", "down"):
            meant = read_piece(source, plan.layers[0][1].matrices[part]).float()
            error = (torch.as_tensor(np.asarray(got[part])) - meant).norm() / meant.norm()
            assert error < 1e-3


def test_a_card_of_the_original_leaves_nothing_to_get(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listings, "_owned", lambda: {ENTRY: "whole"})
    assert offered().here == "whole"


def test_sources_are_complete() -> None:
    entry = catalogue.find(ENTRY)
    assert entry is not None
    assert entry.sources[0] == FourBit("unsloth/Qwen3-30B-A3B-Instruct-2507-GGUF", "GGUF Q4_K_M", "Q4_K_M")
