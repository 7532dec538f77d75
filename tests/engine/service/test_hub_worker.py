"""A hub through the engine's commands: searches, details, settings that are kept and the token that is never shown."""

from __future__ import annotations

import json
import logging
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import huggingface_hub.constants
import keyring
import pytest

from engine import log, protocol
from engine.library import catalogue, settings_file
from engine.library.home import home
from engine.service import hub_worker
from tests.engine.formats.tiny_checkpoint import write_checkpoint
from tests.engine.hub.test_tokens import Memory
from tests.engine.service.test_service import TERMINAL, Desk, desk
from tests.hubserver import Fault, HubServer
from tests.waiting import until

__all__ = ["desk", "server"]


@pytest.fixture
def server(mine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, root: Path) -> Iterator[HubServer]:
    """A hub that the settings name, with the built-in model and a tiny one."""
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)
    monkeypatch.delenv("HF_TOKEN", raising=False)
    with HubServer() as running:
        running.add("owner/small-moe", root / "resources" / "builtin" / "model", downloads=10)
        running.add("owner/tiny-moe", write_checkpoint(tmp_path / "served"), downloads=5)
        settings_file.change({"endpoint": running.url})
        yield running


def failed(desk: Desk, kind: type[protocol.Command], *values: Any, **fields: Any) -> protocol.Failed:
    event = desk.wait(desk.send(kind, *values, **fields))
    assert isinstance(event, protocol.Failed), event
    return event


def test_a_search_is_listed_first_and_judged_then(server: HubServer, desk: Desk, monkeypatch: Any) -> None:
    monkeypatch.setattr(hub_worker, "PER_PAGE", 1)
    command = desk.send(protocol.SearchModels, " moe ")
    page = desk.wait(command).result  # type: ignore[attr-defined]
    listed, done = desk.of(command)
    assert isinstance(listed, protocol.Listed)
    assert [m.repo for m in listed.page.models] == [m.repo for m in page.models] == ["owner/small-moe"]
    assert (listed.page.models[0].fit, page.models[0].fit.pill) == (None, "fits")
    assert (page.page, page.pages, page.found) == (0, 2, 2)
    asked = sum("/api/models" in r.path for r in server.requests)
    second = desk.result(protocol.SearchModels, "moe", 1)
    assert ([m.repo for m in second.models], second.page) == (["owner/tiny-moe"], 1)
    assert sum("/api/models" in r.path for r in server.requests) == asked  # of the same search
    assert desk.result(protocol.SearchModels, "moe", 7).page == 1
    nothing = desk.result(protocol.SearchModels, "no such thing")
    assert (nothing.models, nothing.page, nothing.pages) == ((), 0, 0)
    assert isinstance(done, TERMINAL)


def test_what_fits_follows_the_settings_of_the_engine(server: HubServer, desk: Desk) -> None:
    found = desk.result(protocol.SearchModels, "small", settings={"memory_gb": 0.25})
    assert found.models[0].fit.pill == "too_big"
    assert (
        failed(desk, protocol.SearchModels, "small", settings={"memory_gb": "much"}).kind is protocol.Kind.BAD_REQUEST
    )


def test_the_catalogue_needs_no_hub_and_waits_for_none(server: HubServer, desk: Desk) -> None:
    server.faults = [Fault("/api/models", stall=600)]
    slow = desk.send(protocol.SearchModels, "moe")
    models = desk.result(protocol.ListCatalogue)
    assert all(m.fit is not None and m.about for m in models)
    assert not any(e.id == slow and isinstance(e, TERMINAL) for e in desk.events)
    server.speaking.set()
    settings_file.change({"offline": True})
    assert len(desk.result(protocol.ListCatalogue)) == len(models)


def test_a_model_in_detail_and_one_that_cannot_be_opened(server: HubServer, desk: Desk) -> None:
    told = desk.result(protocol.DescribeModel, "owner/small-moe")
    assert isinstance(told, protocol.ModelDetails)
    assert told.model.fit.pill == "fits"
    assert ("model.safetensors" in dict(told.files), told.experts > 1) == (True, True)
    config = server.repos["owner/tiny-moe"].folder / "config.json"
    config.write_text(
        json.dumps(json.loads(config.read_text(encoding="utf-8")) | {"model_type": "llama"}), encoding="utf-8"
    )
    assert failed(desk, protocol.DescribeModel, "owner/tiny-moe").kind is protocol.Kind.UNSUPPORTED_MODEL
    assert failed(desk, protocol.DescribeModel, "owner/nothing").kind is protocol.Kind.NOT_FOUND
    assert failed(desk, protocol.DescribeModel, "../x").kind is protocol.Kind.BAD_REQUEST


def test_the_offline_switch_is_honoured_at_once_and_kept(server: HubServer, desk: Desk) -> None:
    server.faults = [Fault("/api/models", stall=600, times=1)]
    searching = desk.send(protocol.SearchModels, "moe")
    until(lambda: server.requests)
    assert desk.result(protocol.KeepSettings, {"offline": True})["offline"] is True
    server.speaking.set()
    event = desk.wait(searching)
    assert isinstance(event, protocol.Done)  # what was asked before has its answer, and nothing more is sent for it
    assert len(server.requests) == 1
    assert [m.fit for m in event.result.models] == [None, None]
    assert failed(desk, protocol.SearchModels, "moe").kind is protocol.Kind.OFFLINE
    assert failed(desk, protocol.DescribeModel, "owner/small-moe").kind is protocol.Kind.OFFLINE
    assert failed(desk, protocol.PullModel, "owner/small-moe").kind is protocol.Kind.OFFLINE
    assert len(server.requests) == 1
    assert json.loads((home() / "settings.json").read_text(encoding="utf-8"))["offline"] is True
    assert desk.result(protocol.KeepSettings, {"offline": False}) == desk.result(protocol.ReadSettings)
    assert desk.result(protocol.SearchModels, "moe").models[0].fit is not None


def test_a_bundled_model_has_details_without_a_network(server: HubServer, desk: Desk) -> None:
    entry = next(entry for entry in catalogue.load() if entry.sources)
    assert failed(desk, protocol.DescribeModel, entry.repo).kind is protocol.Kind.NOT_FOUND  # its hub has the last word
    desk.result(protocol.KeepSettings, {"offline": True})
    asked = len(server.requests)
    for repo, download in (
        (entry.repo, entry.download_bytes),
        (entry.sources[0].repo, entry.four_bit_bytes(entry.sources[0])),
    ):
        told = desk.result(protocol.DescribeModel, repo)
        assert (told.model.repo, told.model.title, told.model.download_bytes) == (repo, entry.name, download)
        assert (told.experts, told.files, told.page) == (entry.shape.experts, (), f"{server.url}/{repo}")
        assert [bits for bits, _ in told.stores] == ([8, 4] if repo == entry.repo else [4])
        assert all(nbytes > 1e9 for _, nbytes in told.stores)
    assert len(server.requests) == asked


def test_settings_of_hub_and_library_are_checked_and_kept(
    server: HubServer, mine: Path, tmp_path: Path, desk: Desk
) -> None:
    for wrong in ({"offline": "perhaps"}, {"nothing": 1}, {"model_folders": "relative"}):
        assert failed(desk, protocol.KeepSettings, wrong).kind is protocol.Kind.BAD_REQUEST
    disk = tmp_path / "disk"
    now = desk.result(protocol.KeepSettings, {"model_folders": f"{disk}\ndefault", "import_battery": 0})
    assert (now["import_battery"], now["endpoint"]) == (0, server.url)
    assert [(f.path, f.first) for f in desk.result(protocol.ListFolders)] == [(str(disk), True), (str(mine), False)]
    desk.result(protocol.KeepSettings, {"model_folders": ""})
    assert [f.path for f in desk.result(protocol.ListFolders)] == [str(mine)]
    desk.result(protocol.KeepSettings, {"endpoint": "nonsense"})
    assert failed(desk, protocol.SearchModels, "moe").kind is protocol.Kind.BAD_REQUEST


@pytest.fixture
def memory() -> Iterator[Memory]:
    before = keyring.get_keyring()
    keyring.set_keyring(own := Memory())
    yield own
    keyring.set_keyring(before)


def test_a_token_is_tried_kept_and_forgotten_and_never_shown(
    server: HubServer, desk: Desk, memory: Memory, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "engine")
    server.tokens = {"hf_right"}
    assert desk.result(protocol.AskToken) == protocol.TokenState(server.url, "")
    refused = failed(desk, protocol.KeepToken, "hf_wrong")
    assert (refused.kind, memory.kept) == (protocol.Kind.NO_ACCESS, {})
    assert desk.result(protocol.KeepToken, " hf_right\n") == "somebody"
    assert desk.result(protocol.AskToken) == protocol.TokenState(server.url, "keyring")
    assert desk.result(protocol.ForgetToken) is True
    assert desk.result(protocol.ForgetToken) is False
    assert failed(desk, protocol.KeepToken, " ").kind is protocol.Kind.BAD_REQUEST
    assert failed(desk, protocol.KeepToken, "two words").kind is protocol.Kind.BAD_REQUEST
    assert not any(token in repr(desk.events) for token in ("hf_right", "hf_wrong"))
    assert "KeepToken" in caplog.text
    logged = "".join(log.body(record) for record in caplog.records)
    assert not any(token in logged for token in ("hf_right", "hf_wrong"))
    assert "hf_right" not in repr(pickle.loads(pickle.dumps(protocol.KeepToken("1", "hf_right"))))
    assert not [f for f in home().rglob("*") if f.is_file() and b"hf_right" in f.read_bytes()]


def test_where_no_keyring_works_that_is_said(server: HubServer, desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    from keyring.backends import fail

    before = keyring.get_keyring()
    keyring.set_keyring(fail.Keyring())
    try:
        server.tokens = {"hf_right"}
        event = failed(desk, protocol.KeepToken, "hf_right")
        assert (event.kind, "HF_TOKEN" in event.action) == (protocol.Kind.DISK_ERROR, True)
        assert "No system keyring" in desk.result(protocol.AskToken).note
        monkeypatch.setenv("HF_TOKEN", "hf_right")
        assert desk.result(protocol.AskToken) == protocol.TokenState(server.url, "HF_TOKEN")
    finally:
        keyring.set_keyring(before)
