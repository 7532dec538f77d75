"""Whatever a network can do to a download: its own sentence each, and nothing damaged is ever kept as whole."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from engine import limits
from engine.errors import Kind, UnderhillError
from engine.hub.client import Hub, connect
from engine.hub.control import RetryPolicy
from engine.hub.download import download
from engine.hub.outline import read_outline
from engine.hub.search import search
from tests.engine.hub.conftest import QUICK
from tests.engine.hub.fetching import contents
from tests.hubserver import Fault, HubServer

pytestmark = pytest.mark.long

SHARD = "model-00001.safetensors"
SILENCE = limits.SILENCE_SECONDS

REFUSALS = {
    "cut": (Fault(SHARD, cut=0), Kind.NO_NETWORK, "was lost"),
    "silence": (Fault(SHARD, stall=600), Kind.NO_NETWORK, "isn't responding"),
    "silence in the middle": (Fault(SHARD, cut=0, stall=600), Kind.NO_NETWORK, "isn't responding"),
    "401": (Fault(SHARD, status=401), Kind.NO_ACCESS, "needs a token"),
    "403": (Fault(SHARD, status=403), Kind.SERVER_ERROR, "refused the request .403."),
    "gated": (Fault(SHARD, status=403, headers={"X-Error-Code": "GatedRepo"}), Kind.NO_ACCESS, "license to accept"),
    "404": (Fault(SHARD, status=404, headers={"X-Error-Code": "EntryNotFound"}), Kind.NOT_FOUND, f"no file {SHARD}"),
    "429": (Fault(SHARD, status=429), Kind.SERVER_ERROR, "Too many requests"),
    "500": (Fault(SHARD, status=500), Kind.SERVER_ERROR, "Server error"),
    "damaged": (Fault(SHARD, corrupt=True), Kind.BROKEN_FILE, "is damaged"),
    "longer": (Fault(SHARD, extra=9), Kind.SERVER_ERROR, "wrong size"),
    "changed": (Fault(SHARD, etag="0" * 64), Kind.CHANGED, "changed on the hub"),
    "a page": (Fault(SHARD, page="<html>Welcome to our hotel"), Kind.SERVER_ERROR, f"a web page instead of {SHARD}"),
    "a message": (Fault(SHARD, page="{}", page_type="application/json"), Kind.SERVER_ERROR, "a web page instead of"),
    "other bytes": (Fault(SHARD, page="Welcome", page_type="text/plain"), Kind.SERVER_ERROR, "wrong size"),
    "511": (Fault(SHARD, status=511), Kind.NO_NETWORK, "needs a sign-in"),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_each_has_its_own_error(name: str, server: HubServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fault, kind, sentence = REFUSALS[name]
    folder = tmp_path / "downloads" / "moe"
    with connect({"endpoint": server.url}) as hub:
        outline = read_outline(hub, "tiny/moe")
    if fault.stall:  # a busy computer is silent for a while, too
        monkeypatch.setattr(limits, "SILENCE_SECONDS", 0.5)
    with connect({"endpoint": server.url}) as hub:
        server.faults = [fault]
        with pytest.raises(UnderhillError, match=sentence) as error:
            download(hub, outline, folder, retry_policy=QUICK)
        assert error.value.kind is kind
        assert error.value.action
        assert not (folder / SHARD).exists()
    monkeypatch.setattr(limits, "SILENCE_SECONDS", SILENCE)
    server.faults = []
    with connect({"endpoint": server.url}) as hub:
        download(hub, outline, folder)
    assert contents(folder) == contents(server.repos["tiny/moe"].folder)


def test_the_sentences_differ() -> None:
    sentences = [sentence for _, _, sentence in REFUSALS.values()]
    assert len(set(sentences)) >= len(sentences) - 2  # of silence, and of a wrong size


@pytest.mark.parametrize(
    "fault",
    [
        Fault(SHARD, status=503, times=2),
        Fault(SHARD, cut=100, times=20),
        Fault(SHARD, stall=600, times=1),
        Fault(SHARD, corrupt=True, times=1),
        Fault(SHARD, status=429, times=1, headers={"Retry-After": "0"}),
        Fault(SHARD, whole=True),
        Fault(SHARD, whole=True, cut=4000, times=2),
    ],
    ids=["busy", "cut", "silent", "damaged once", "Too many requests", "no ranges", "no ranges and cut"],
)
def test_what_passes_is_waited_out(
    fault: Fault, server: HubServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if fault.stall:
        monkeypatch.setattr(limits, "SILENCE_SECONDS", 1.0)
    with connect({"endpoint": server.url}) as hub:
        outline = read_outline(hub, "tiny/moe")
        server.faults = [fault]
        download(hub, outline, tmp_path / "d" / "moe", retry_policy=QUICK)
    assert contents(tmp_path / "d" / "moe") == contents(server.repos["tiny/moe"].folder)


def test_it_waits_as_long_as_the_hub_asks_and_not_for_hours(hub: Hub, server: HubServer, tmp_path: Path) -> None:
    outline = read_outline(hub, "tiny/moe")
    server.faults = [Fault(SHARD, status=429, headers={"Retry-After": "7200"})]
    before = len(server.requests)
    with pytest.raises(UnderhillError, match="Wait 120 min"):
        download(hub, outline, tmp_path / "d" / "moe", retry_policy=RetryPolicy())
    assert sum(SHARD in r.path for r in server.requests[before:]) == 1
    said: list[str] = []
    server.faults = [Fault(SHARD, status=429, headers={"Retry-After": "1"}, times=1)]
    download(hub, outline, tmp_path / "d" / "moe", report=lambda p: said.append(str(p.waiting)), retry_policy=QUICK)
    assert any("Too many requests" in text and "in 1 s" in text for text in said)


def test_an_address_lent_by_the_hub_is_asked_for_again(
    hub: Hub, server: HubServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.hub.download.CHUNK", 20_000)
    outline = read_outline(hub, "tiny/moe")
    server.requests.clear()
    download(hub, outline, tmp_path / "a" / "moe", retry_policy=QUICK)
    of_shard = [r.storage for r in server.requests if SHARD in r.path]
    assert of_shard.count(False) == 1  # the hub itself is asked once, however many ranges there are
    assert of_shard.count(True) > 3
    real = server.fault
    asked = iter(range(100))

    def expired(
        path: str, sends_on: bool
    ) -> Fault:  # the hub, its storage, twice the lent address; then that has ended
        return Fault(status=403) if SHARD in path and next(asked) == 4 else real(path, sends_on)

    monkeypatch.setattr(server, "fault", expired)
    download(hub, outline, tmp_path / "b" / "moe", retry_policy=RetryPolicy(tries=1))
    assert contents(tmp_path / "b" / "moe") == contents(server.repos["tiny/moe"].folder)


def test_an_address_that_is_good_for_one_range_is_not_used_again(
    hub: Hub, server: HubServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.hub.download.CHUNK", 20_000)
    outline = read_outline(hub, "tiny/moe")
    server.requests.clear()
    real = server.fault

    def once(path: str, sends_on: bool) -> Fault:
        again = [r.storage for r in server.requests if SHARD in r.path][-2:] == [True, True]
        return Fault(status=403) if SHARD in path and again else real(path, sends_on)

    monkeypatch.setattr(server, "fault", once)
    download(hub, outline, tmp_path / "d" / "moe", retry_policy=RetryPolicy(tries=1))
    assert contents(tmp_path / "d" / "moe") == contents(server.repos["tiny/moe"].folder)
    of_shard = [r.storage for r in server.requests if SHARD in r.path]
    assert of_shard.count(True) == of_shard.count(False) + 1  # one was refused, and that was enough


# ---- before there is any answer


def free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return int(s.getsockname()[1])


def refusal(**chosen: object) -> UnderhillError:
    with connect(chosen) as hub, pytest.raises(UnderhillError) as error:
        search(hub, "moe")
    with connect(chosen) as hub, pytest.raises(UnderhillError) as same:
        read_outline(hub, "tiny/moe")
    assert same.value.sentence == error.value.sentence
    return error.value


def test_nobody_there() -> None:
    error = refusal(endpoint=f"http://127.0.0.1:{free_port()}")
    assert (error.kind, "refused the connection" in error.sentence) == (Kind.NO_NETWORK, True)


def test_no_such_name() -> None:
    error = refusal(endpoint="http://hub.invalid")
    assert (error.kind, "Can't find the address" in error.sentence) == (Kind.NO_NETWORK, True)


def test_a_proxy_that_is_not_there(server: HubServer) -> None:
    error = refusal(endpoint=server.url, proxy=f"http://127.0.0.1:{free_port()}")
    assert error.kind is Kind.NO_NETWORK
    assert error.sentence.startswith("Proxy 127.0.0.1")
    assert not server.requests


def test_the_proxy_of_the_environment(server: HubServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """The hub server itself can stand in for a proxy: what reaches it names another host."""
    monkeypatch.setenv("HTTP_PROXY", server.url)
    monkeypatch.setenv("NO_PROXY", "")
    with connect({"endpoint": "http://hub.invalid"}) as hub:
        assert search(hub, "moe")
    assert server.requests[0].path.startswith("http://hub.invalid/api/models")


def test_offline_means_no_request(server: HubServer, monkeypatch: pytest.MonkeyPatch) -> None:
    assert refusal(endpoint=server.url, offline=True).kind is Kind.OFFLINE
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    assert refusal(endpoint=server.url).kind is Kind.OFFLINE
    assert not server.requests


def test_a_page_in_the_way(server: HubServer) -> None:
    server.faults = [Fault(page="<html>Welcome to our hotel")]
    error = refusal(endpoint=server.url)
    assert (error.kind, "not a hub's answer" in error.sentence) == (Kind.SERVER_ERROR, True)


@pytest.mark.parametrize(("status", "words"), [(429, "Too many requests"), (502, "Server error")])
def test_a_search_is_not_repeated_for_half_a_minute(server: HubServer, status: int, words: str) -> None:
    server.faults = [Fault(status=status)]
    assert words in refusal(endpoint=server.url).sentence
    assert len(server.requests) == 2


def test_a_silent_hub(server: HubServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "SILENCE_SECONDS", 0.2)
    server.faults = [Fault(stall=2.0)]
    assert "isn't responding" in refusal(endpoint=server.url).sentence


@pytest.mark.parametrize("chosen", [{"endpoint": "not an address"}, {"proxy": "::"}])
def test_settings_that_make_no_sense(chosen: dict[str, str], server: HubServer) -> None:
    with pytest.raises(UnderhillError) as error, connect({"endpoint": server.url, **chosen}) as hub:
        search(hub, "moe")
    assert error.value.kind is Kind.BAD_REQUEST
