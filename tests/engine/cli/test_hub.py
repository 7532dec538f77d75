"""From a search to an answer: the commands that use a network, against a hub on loopback."""

from __future__ import annotations

import io
import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import huggingface_hub.constants
import keyring
import pytest

from engine.calibration.calibrator import open_calibrated
from engine.hub import control, download, tokens
from engine.hub.client import connect
from engine.hub.control import DownloadProgress
from engine.hub.pull import look, pull
from engine.library import library, settings_file
from engine.library.folders import location
from engine.library.home import home
from engine.store.reader import load_manifest
from tests.engine.cli.test_cli import MODEL, found, run
from tests.engine.hub.test_tokens import Memory
from tests.hubserver import Fault, HubServer

pytestmark = pytest.mark.long


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[HubServer]:
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setenv("UNDERHILL_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("HF_TOKEN", raising=False)
    with HubServer() as running:
        running.add("owner/small-moe", Path(shutil.copytree(MODEL, tmp_path / "served")))
        monkeypatch.setenv("HF_ENDPOINT", running.url)
        yield running


def test_from_a_search_to_an_answer(server: HubServer, capsys: pytest.CaptureFixture[str]) -> None:
    (one,) = found(capsys, "search", "small", "--limit", "5")["models"]
    assert (one["repo"], one["fit"]["pill"]) == ("owner/small-moe", "fits")
    code, out, _ = run(capsys, "search", "small")
    assert (code, "owner/small-moe  In memory " in out, "apache-2.0" in out) == (0, True, True)

    server.faults = [Fault("model.safetensors", cut=20_000_000, times=1)]
    card = found(capsys, "pull", one["repo"], "--top", "4")
    repo = server.repos[one["repo"]]
    assert card["source"] == {"repo": "owner/small-moe", "commit": repo.commit}
    assert not (home() / "downloads" / "owner--small-moe").exists()
    manifest = load_manifest(location("small-moe"))
    assert (manifest.source.repo, manifest.source.revision) == ("owner/small-moe", repo.commit)

    with open_calibrated("small-moe", {"threads": 1}) as session:
        assert session.card.parameters == one["parameters"]
    asked = {r.path.split("?")[0].split("/resolve/")[0] for r in server.requests}
    assert asked == {"/api/models", "/api/models/owner/small-moe/revision/main", "/owner/small-moe"}
    assert all(r.headers["user-agent"].startswith("underhill/") for r in server.requests)

    code, _, err = run(capsys, "pull", one["repo"])
    assert (code, "A model named small-moe already exists" in err) == (2, True)


def test_a_busy_hub_is_waited_for_and_one_that_sends_whole_files_will_do(
    server: HubServer, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(control.RetryPolicy.__init__, "__defaults__", (0.01, 0.05, 2, 600.0))
    server.faults = [Fault("config.json", status=503, times=2), Fault("model.safetensors", whole=True)]
    code, out, err = run(capsys, "pull", "owner/small-moe", "--top", "4")
    assert (code, err.count("Retrying in"), "on disk" in out) == (0, 2, True), err
    assert not (home() / "downloads" / "owner--small-moe").exists()
    server.faults = [Fault("config.json", status=503)]
    server.requests.clear()
    code, _, err = run(capsys, "pull", "owner/small-moe", "--name", "other")
    assert (code, "Try again later" in err, "kept" in err) == (1, True, False)  # nothing has arrived
    assert sum("config.json" in r.path for r in server.requests) == 4


def test_torn_away_before_the_first_expert_it_says_what_to_pull(server: HubServer) -> None:
    def torn(progress: DownloadProgress) -> None:
        if location("small-moe").with_name("small-moe.partial").is_dir():  # the small files are here
            raise KeyboardInterrupt

    with connect({"endpoint": server.url}) as hub:
        outline = look(hub, "owner/small-moe")
        server.faults = [Fault("model.safetensors", stall=600)]
        with pytest.raises(KeyboardInterrupt):
            pull(hub, outline, arriving=torn)
    (card,) = library.listing()
    assert (card.state, card.source) == ("unfinished", "owner/small-moe")
    assert card.action.startswith("Download owner/small-moe again")


def test_a_search_that_finds_nothing_and_one_that_may_not(
    server: HubServer, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = run(capsys, "search", "nothing-like-it")
    assert (code, out, "No matching model" in err) == (0, "", True)
    server.requests.clear()
    for command in (["search", "small"], ["pull", "owner/small-moe"]):
        code, out, err = run(capsys, *command, "--offline", "on", "--json")
        assert (code, json.loads(out)["error"]["kind"]) == (1, "offline")
    assert not server.requests
    settings_file.change({"offline": True})
    assert json.loads(run(capsys, "search", "small", "--json")[1])["error"]["kind"] == "offline"
    assert not server.requests
    assert found(capsys, "search", "small", "--offline", "off")["models"]


def test_without_words_the_choice_that_is_shipped_is_listed(
    server: HubServer, capsys: pytest.CaptureFixture[str]
) -> None:
    models = found(capsys, "search", "--offline", "on")["models"]
    assert [m["parameters"] for m in models] == sorted(m["parameters"] for m in models)
    assert all(0 < m["active_parameters"] < m["parameters"] for m in models)
    assert all(m["fit"]["sentence"] for m in models)
    code, out, _ = run(capsys, "search")
    assert (code, out.count("\n")) == (0, len(models) + 1)
    assert not server.requests


def test_a_download_is_kept_where_somebody_asks_for_it(server: HubServer, capsys: pytest.CaptureFixture[str]) -> None:
    server.faults = [Fault("model.safetensors", status=403, headers={"X-Error-Code": "GatedRepo"})]
    code, _, err = run(capsys, "pull", "owner/small-moe")
    assert (code, "Accept it at" in err) == (1, True)
    assert not library.models()
    server.faults = []
    found(capsys, "pull", "owner/small-moe", "--name", "mine", "--top", "4", "--keep-source")
    settings_file = home() / "downloads" / "owner--small-moe"
    assert (settings_file / "model.safetensors").read_bytes() == (MODEL / "model.safetensors").read_bytes()
    assert [p.name for p in library.models()] == ["mine"]
    assert run(capsys, "pull", "owner/small-moe", "--name", "mine", "--top", "4")[0] == 2
    assert (settings_file / "model.safetensors").is_file()  # nobody asked to have it removed


def test_what_has_arrived_for_another_name_stays(
    server: HubServer, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(control.RetryPolicy.__init__, "__defaults__", (0.01, 0.05, 2, 600.0))
    monkeypatch.setattr(download, "CHUNK", 1 << 20)
    found(capsys, "pull", "owner/small-moe", "--top", "4")
    server.faults = [Fault("model.safetensors", cut=300_000, times=6), Fault("model.safetensors", cut=0)]
    assert run(capsys, "pull", "owner/small-moe", "--top", "4", "--name", "second")[0] == 1
    arrived = {p.name for p in (home() / "downloads").glob("*/arriving/*")}
    assert arrived
    server.faults = []
    assert run(capsys, "pull", "owner/small-moe", "--top", "4")[0] == 2
    assert {p.name for p in (home() / "downloads").glob("*/arriving/*")} == arrived


def test_names_that_cannot_be_taken_bring_nothing(server: HubServer, capsys: pytest.CaptureFixture[str]) -> None:
    for name, words in (("builtin", "A model named builtin already exists"), ("a/b", "A model can't be named 'a/b'")):
        code, _, err = run(capsys, "pull", "owner/small-moe", "--name", name)
        assert (code, words in err) == (2, True)
    assert not (home() / "downloads").exists()


def test_a_token_is_tried_before_it_is_kept(
    server: HubServer, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = keyring.get_keyring()
    keyring.set_keyring(Memory())
    try:
        server.tokens = {"right"}
        monkeypatch.setattr("sys.stdin", io.StringIO("wrong\n"))
        code, _, err = run(capsys, "token")
        assert (code, "rejected the token" in err) == (1, True)
        assert tokens.read(server.url).value == ""
        monkeypatch.setattr("sys.stdin", io.StringIO("right\n"))
        assert found(capsys, "token") == {"endpoint": server.url, "kept": True, "account": "somebody"}
        assert tokens.read(server.url).value == "right"
        found(capsys, "token", "--forget")
        assert tokens.read(server.url).value == ""
        monkeypatch.setattr("sys.stdin", io.StringIO("\n"))
        assert run(capsys, "token")[0] == 2
    finally:
        keyring.set_keyring(before)
