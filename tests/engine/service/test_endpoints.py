"""Endpoints through the engine: kept, tested, asked, and every way in which a server can fail. No model is open."""

from __future__ import annotations

import datetime
import json
import os
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import keyring
import pytest

from engine import resources
from engine.endpoints import folder
from engine.hub import errors
from engine.protocol import (
    AnswerOptions,
    Cancelled,
    CheckEndpoint,
    DeleteEndpoint,
    Done,
    Endpoint,
    EndpointCard,
    Failed,
    Generate,
    GenerateApart,
    KeepSettings,
    Kind,
    ListEndpoints,
    Message,
    QuestionApart,
    SaveEndpoint,
    SaveTeam,
    Stats,
    Stop,
    Team,
    TeamChanged,
    TeamStep,
    TextDelta,
    Tool,
    ToolCall,
)
from tests.endpointserver import Body, EndpointServer, Handler, call, end, text, thought
from tests.engine.service.test_service import Desk
from tests.waiting import LONGEST

CHAT = (Message("system", "Be brief."), Message("user", "Hello"))


@pytest.fixture
def secrets(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """What the keyring holds."""
    held: dict[str, str] = {}
    monkeypatch.setattr(keyring, "get_password", lambda service, account: held.get(account))
    monkeypatch.setattr(keyring, "set_password", lambda service, account, value: held.update({account: value}))
    monkeypatch.setattr(keyring, "delete_password", lambda service, account: held.pop(account))
    return held


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, secrets: dict[str, str]) -> Iterator[Desk]:
    monkeypatch.setenv("UNDERHILL_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(errors, "is_offline_mode", lambda: False)  # whatever the environment of the tests says
    made = Desk()
    yield made
    made.engine.close()


@pytest.fixture
def server() -> Iterator[EndpointServer]:
    with EndpointServer() as running:
        yield running


def added(desk: Desk, server: EndpointServer, key: str | None = None, **more: Any) -> EndpointCard:
    """An endpoint of this server, which is kept."""
    return desk.result(SaveEndpoint, Endpoint(name="Big One", url=server.url, model="big", **more), "", key)


def asked(desk: Desk, **more: Any) -> str:
    """The id of a question to it."""
    return desk.send(Generate, CHAT, **{"model": "endpoint:big-one", **more})


def said(desk: Desk, command: str) -> str:
    """All text that was told of an answer."""
    return "".join(event.text for event in desk.of(command) if isinstance(event, TextDelta))


def test_an_answer_with_thought_calls_and_figures(
    desk: Desk, server: EndpointServer, secrets: dict[str, str], tmp_path: Path
) -> None:
    card = added(desk, server, "s3cret")
    server.key = "s3cret"
    server.answer = lambda body, handler: [
        thought("Let me "), thought("see."), text("It is "), text("sunny."),
        call("weather", '{"city":'), call("", ' "Bree"}', ""), *end("tool_calls"),
    ]  # fmt: skip
    tool = Tool("weather", "What the sky does", {"type": "object", "properties": {"city": {"type": "string"}}})
    before = (
        *CHAT,
        Message(
            "assistant", '<think>\nHm\n</think>\n\nWait.\n``````tool_call\n{"name": "weather", "arguments": {}}\n``````'
        ),
        Message("tool", "rain"),
    )
    sampling = {"temperature": 0.0, "seed": 7, "repetition_penalty": 1.1, "max_tokens": 50}
    options = AnswerOptions(tools=(tool,), json={"type": "object"})
    command = desk.send(
        Generate, before, sampling, ("END",), model=card.key, options=options
    )  # fmt: skip
    done = desk.wait(command)
    assert isinstance(done, Done), done
    stats: Stats = done.result
    assert stats.text == said(desk, command)
    assert stats.text.startswith("<think>\nLet me see.\n</think>\n\nIt is sunny.\n``````tool_call\n")
    assert stats.calls == (ToolCall("weather", {"city": "Bree"}, "call_1"),)
    assert (stats.prompt_tokens, stats.reused_tokens, stats.answer_tokens, stats.token_ids) == (12, 4, 5, ())
    assert stats.endpoint == card.endpoint.host
    assert stats.finish == "stop"
    (body,) = server.asked
    assert body["messages"][:2] == [{"role": m.role, "content": m.content} for m in CHAT]
    assert body["messages"][2]["content"] == "Wait."  # no thought goes back
    assert body["messages"][2]["tool_calls"][0]["function"]["name"] == "weather"
    assert body["messages"][3]["tool_call_id"] == body["messages"][2]["tool_calls"][0]["id"]
    assert (body["temperature"], body["seed"], body["max_tokens"], body["stop"]) == (0.0, 7, 50, ["END"])
    assert body["repetition_penalty"] == body["repeat_penalty"] == 1.1
    assert "top_k" not in body
    assert body["tools"][0]["function"]["parameters"] == tool.parameters
    assert body["response_format"]["json_schema"]["schema"] == {"type": "object"}
    assert server.heads[-1]["authorization"] == "Bearer s3cret"
    assert list(secrets.values()) == ["s3cret"]
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and b"s3cret" in path.read_bytes()]


def test_it_is_kept_changed_and_deleted_with_its_key(
    desk: Desk, server: EndpointServer, secrets: dict[str, str]
) -> None:
    first = added(desk, server, "s3cret")
    same = desk.result(SaveEndpoint, Endpoint(name="Larger", url=server.url + "/", model="big"), first.id, None)
    assert (same.id, same.has_key, same.endpoint.url) == ("big-one", True, server.url)
    moved = desk.result(SaveEndpoint, Endpoint(name="Larger", url="https://other/v1", model="big"), first.id, None)
    assert not moved.has_key  # another server never gets it
    assert not secrets
    second = added(desk, server, "k")
    assert [card.key for card in desk.result(ListEndpoints)] == ["endpoint:big-one", "endpoint:big-one-2"]
    for wrong in (
        Endpoint(name="Big One", url=server.url, model="big"), Endpoint(name="A", url="ftp://x", model="m"),
        Endpoint(name="A", url="http://me:pw@x/v1", model="m"), Endpoint(name="A", url=server.url, model=""),
    ):  # fmt: skip
        failed = desk.wait(desk.send(SaveEndpoint, wrong))
        assert isinstance(failed, Failed)
        assert failed.kind is Kind.BAD_REQUEST
    assert desk.result(DeleteEndpoint, second.id) == second.endpoint
    assert not secrets
    gone = desk.wait(asked(desk, model=second.key))
    assert isinstance(gone, Failed)
    assert gone.kind is Kind.NOT_FOUND


def test_a_test_lists_the_models_and_finds_what_is_wrong(desk: Desk, server: EndpointServer) -> None:
    server.models, server.key = ["big", "small"], "right"
    endpoint = Endpoint(name="A", url=server.url, model="")
    assert desk.result(CheckEndpoint, endpoint, "", "right").models == ("big", "small")
    wrong = desk.wait(desk.send(CheckEndpoint, endpoint, "", "wrong"))
    assert isinstance(wrong, Failed)
    assert (wrong.kind, "rejected the key" in wrong.sentence) == (Kind.NO_ACCESS, True)
    other = desk.wait(desk.send(CheckEndpoint, Endpoint(name="A", url=server.url, model="huge"), "", "right"))
    assert isinstance(other, Failed)
    assert "big, small" in other.action
    card = added(desk, server, "right")
    assert desk.result(CheckEndpoint, card.endpoint, card.id).models == ("big", "small")  # with the key that is kept
    stolen = desk.wait(desk.send(CheckEndpoint, Endpoint(name="A", url="http://127.0.0.1:1/v1", model=""), card.id))
    assert isinstance(stolen, Failed)
    assert stolen.kind is Kind.NO_NETWORK


IN_A_MINUTE = "in a minute"  # is to be said when the test runs, long after it was collected


def in_a_minute() -> str:
    """A moment as headers have it."""
    now = datetime.datetime.now(datetime.UTC) + datetime.timedelta(seconds=60)
    return now.strftime("%a, %d %b %Y %H:%M:%S GMT")


@pytest.mark.parametrize(
    ("status", "headers", "kind", "words"),
    [
        (401, {}, Kind.NO_ACCESS, "needs a key"),
        (404, {}, Kind.NOT_FOUND, "no model big"),
        (429, {"Retry-After": "17"}, Kind.SERVER_ERROR, "Wait 17 s"),
        (429, {"Retry-After": IN_A_MINUTE}, Kind.SERVER_ERROR, "Wait"),
        (429, {"Retry-After": "99999999999999"}, Kind.SERVER_ERROR, "later"),
        (503, {"Retry-After": "600"}, Kind.SERVER_ERROR, "Wait 10 min"),
        (400, {}, Kind.BAD_REQUEST, "It says: No."),
        (307, {"Location": "http://elsewhere/v1"}, Kind.SERVER_ERROR, "http://elsewhere/v1"),
    ],
)
def test_a_refusal_says_what_to_do(
    desk: Desk, server: EndpointServer, status: int, headers: dict[str, str], kind: Kind, words: str
) -> None:
    added(desk, server)
    server.status = status
    server.headers = {name: in_a_minute() if text == IN_A_MINUTE else text for name, text in headers.items()}
    failed = desk.wait(asked(desk))
    assert isinstance(failed, Failed)
    assert failed.kind is kind
    assert words in f"{failed.sentence} {failed.action}"
    assert "No." in failed.action


def raw(data: bytes) -> Callable[[Body, Handler], None]:
    """An answer that says `data`, and leaves."""

    def answer(body: Body, handler: Handler) -> None:
        handler.begin()
        handler.send(text("Half"))
        handler.wfile.write(data)

    return answer


def page(body: Body, handler: Handler) -> None:
    """A web page in the place of an answer."""
    handler.reply(200, "<html>", {"Content-Type": "text/html"})


@pytest.mark.parametrize(
    ("answer", "kind", "words", "kept"),
    [
        (raw(b""), Kind.NO_NETWORK, "before its answer ended", "Half"),
        (raw(b"data: {]\n\n"), Kind.SERVER_ERROR, "not an answer of a model", "Half"),
        (raw(b'data: {"choices": [{"delta": "x"}]}\n\n'), Kind.SERVER_ERROR, "not an answer of a model", "Half"),
        (raw(b"data: \xff\xfe\n\n"), Kind.SERVER_ERROR, "not an answer of a model", "Half"),
        (raw(b'data: {"error": {"message": "No memory"}}\n\n'), Kind.SERVER_ERROR, "No memory", "Half"),
        (raw(b"data: " + b"x" * (3 << 20)), Kind.SERVER_ERROR, "not an answer of a model", "Half"),
        (page, Kind.SERVER_ERROR, "not a stream of events", ""),
    ],
)  # fmt: skip
def test_a_bad_answer_ends_with_an_error_and_keeps_what_was_said(
    desk: Desk, server: EndpointServer, answer: Any, kind: Kind, words: str, kept: str
) -> None:
    added(desk, server)
    server.answer = answer
    command = asked(desk)
    failed = desk.wait(command)
    assert isinstance(failed, Failed)
    assert (failed.kind, words in f"{failed.sentence} {failed.action}") == (kind, True), failed
    assert said(desk, command) == kept
    server.answer = lambda body, handler: [text("Whole."), *end()]
    assert desk.result(Generate, CHAT, model="endpoint:big-one").text == "Whole."  # it can be sent again


def test_silence_ends_an_answer(desk: Desk, server: EndpointServer, monkeypatch: pytest.MonkeyPatch) -> None:
    from engine import limits

    monkeypatch.setattr(limits, "ENDPOINT_SILENCE", 0.2)
    added(desk, server)
    server.answer = lambda body, handler: server.held.wait() and None
    failed = desk.wait(asked(desk))
    assert isinstance(failed, Failed)
    assert "sent nothing" in failed.sentence


def test_stop_ends_it_at_once_and_the_server_hears_of_it(desk: Desk, server: EndpointServer) -> None:
    added(desk, server)

    def endless(body: Body, handler: Handler) -> None:
        handler.begin()
        while not server.held.wait(0.01):
            handler.send(text("word "))

    server.answer = endless
    command = asked(desk)
    desk.first(lambda event: event.id == command and isinstance(event, TextDelta))
    assert desk.result(Stop, command)
    stopped = desk.wait(command)
    assert isinstance(stopped, Cancelled)
    assert stopped.result.finish == "cancelled"
    assert stopped.result.text == said(desk, command) != ""
    assert server.gone.wait(LONGEST)
    mute = EndpointServer()
    with mute:
        mute.answer = lambda body, handler: mute.held.wait() and None
        desk.result(SaveEndpoint, Endpoint(name="Mute", url=mute.url, model="big"))
        waits = asked(desk, model="endpoint:mute")
        server.answer = lambda body, handler: [text("Hello."), *end()]
        assert desk.result(Generate, CHAT, model="endpoint:big-one").text == "Hello."  # which does not wait for it
        desk.result(Stop, waits)
        assert isinstance(desk.wait(waits), Cancelled)


def test_offline_nothing_is_sent_and_what_runs_ends(desk: Desk, server: EndpointServer) -> None:
    added(desk, server)

    def slow(body: Body, handler: Handler) -> None:
        handler.begin()
        handler.send(text("Half"))
        server.held.wait()

    server.answer = slow
    command = asked(desk)
    desk.first(lambda event: event.id == command and isinstance(event, TextDelta))
    desk.result(KeepSettings, {"offline": True})
    requests = len(server.heads)
    for failed in (desk.wait(command), desk.wait(asked(desk))):
        assert isinstance(failed, Failed)
        assert failed.kind is Kind.OFFLINE
        assert "another computer" in failed.sentence
    refused = desk.wait(desk.send(CheckEndpoint, Endpoint(name="A", url=server.url, model="")))
    assert isinstance(refused, Failed)
    assert refused.kind is Kind.OFFLINE
    assert len(server.heads) == requests
    desk.result(KeepSettings, {"offline": False})
    server.answer = lambda body, handler: [text("Hello."), *end()]
    assert desk.result(Generate, CHAT, model="endpoint:big-one").text == "Hello."


def certificate(path: Path) -> tuple[str, str]:
    """A certificate of 127.0.0.1 that nobody but itself vouches for."""
    import ipaddress

    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "Underhill tests")])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
        .serial_number(x509.random_serial_number()).not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=2))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), True).sign(key, hashes.SHA256())
    )  # fmt: skip
    (path / "cert.pem").write_bytes(made.public_bytes(serialization.Encoding.PEM))
    kind = serialization.PrivateFormat.PKCS8
    (path / "key.pem").write_bytes(
        key.private_bytes(serialization.Encoding.PEM, kind, serialization.NoEncryption())
    )  # fmt: skip
    return str(path / "cert.pem"), str(path / "key.pem")


def test_a_certificate_is_checked_and_one_of_their_own_can_be_named(desk: Desk, tmp_path: Path) -> None:
    files = certificate(tmp_path)
    with EndpointServer(files) as server:
        added(desk, server)
        failed = desk.wait(asked(desk))
        assert isinstance(failed, Failed)
        assert "certificate" in failed.sentence
        assert not server.asked
        broken = tmp_path / "broken.pem"
        broken.write_text("no certificate")
        for file, kind in ((str(broken), Failed), (files[0], Done)):
            endpoint = Endpoint(name="Big One", url=server.url, model="big", ca_file=file)
            desk.result(SaveEndpoint, endpoint, "big-one")
            assert isinstance(desk.wait(asked(desk)), kind)
        plain = Endpoint(name="Plain", url=server.url.replace("https", "http"), model="big")
        desk.result(SaveEndpoint, plain)
        assert isinstance(desk.wait(asked(desk, model="endpoint:plain")), Failed)


@pytest.mark.parametrize("background", [False, True])
def test_a_team_and_a_comparison_ask_it(desk: Desk, server: EndpointServer, background: bool) -> None:
    card = added(desk, server)
    server.answer = lambda body, handler: [text(f"{len(server.asked)}"), *end()]
    steps = (TeamStep(name="One", model=card.key), TeamStep(name="Two", model=card.key, tell="{message} {One}"))
    desk.result(SaveTeam, Team("Both", steps))
    command = asked(desk, model="team:both", background=background)
    done = desk.wait(command)
    assert isinstance(done, Done), done
    assert (done.result.text, done.result.endpoint) == ("2", card.endpoint.host)
    assert [step.tokens for step in done.result.steps] == [5, 5]
    assert any(isinstance(event, TeamChanged) for event in desk.of(command))
    assert server.asked[1]["messages"][-1]["content"] == "Hello 1"
    apart = desk.result(GenerateApart, QuestionApart(CHAT), card.key)
    assert (apart.text, apart.endpoint) == ("3", card.endpoint.host)


def test_a_damaged_file_is_named(desk: Desk) -> None:
    folder.file().parent.mkdir(parents=True, exist_ok=True)
    folder.file().write_text(json.dumps([{"id": 3}]))
    failed = desk.wait(desk.send(ListEndpoints))
    assert isinstance(failed, Failed)
    assert failed.kind is Kind.BROKEN_FILE


def test_a_name_that_is_being_looked_up_is_not_waited_for(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    looking, over = threading.Event(), threading.Event()

    def lookup(*_: object, **__: object) -> list[object]:
        looking.set()
        over.wait()
        return []

    desk.result(SaveEndpoint, Endpoint(name="Big One", url="http://workstation:1/v1", model="big"))
    monkeypatch.setattr(socket, "getaddrinfo", lookup)
    command = asked(desk)
    assert looking.wait(LONGEST)
    desk.result(Stop, command)
    assert isinstance(desk.wait(command), Cancelled)
    over.set()


PEER = os.environ.get("UNDERHILL_PEER", "")  # of tests.benchmarks.peer.client, with llama-cpp-python[server]


@pytest.mark.skipif(not PEER, reason="UNDERHILL_PEER names no environment with llama.cpp's server")
def test_the_server_of_llama_cpp_with_the_built_in_model(desk: Desk, tmp_path: Path) -> None:
    from tests.engine.formats.gguf_model import write
    from tests.engine.formats.test_gguf_source import with_tokenizer

    folder, file = resources.path("builtin", "model"), tmp_path / "builtin.gguf"
    write(folder, json.loads((folder / "config.json").read_text()), file, "qwen3moe", extra=with_tokenizer)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    options = {"model": file, "port": port, "n_ctx": 2048, "api_key": "right", "model_alias": "hill"}
    command = [f"{PEER}/bin/python", "-m", "llama_cpp.server"]
    command += [str(part) for name, value in options.items() for part in (f"--{name}", value)]
    endpoint = Endpoint(name="Big One", url=f"http://127.0.0.1:{port}/v1", model="hill")
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as running:
        try:
            while isinstance(found := desk.wait(desk.send(CheckEndpoint, endpoint, "", "right")), Failed):
                assert running.poll() is None, "it has ended"
                assert found.kind is Kind.NO_NETWORK, found  # it is starting
            assert found.result.models == ("hill",)
            assert desk.wait(desk.send(CheckEndpoint, endpoint, "", "wrong")).kind is Kind.NO_ACCESS
            desk.result(SaveEndpoint, endpoint, "", "right")
            command_id = asked(desk, sampling={"temperature": 0.0, "max_tokens": 30, "top_k": 5})
            stats = desk.wait(command_id).result
            assert len(stats.text) > 20
            assert stats.text == said(desk, command_id)
            assert stats.finish in ("length", "stop")
            long = asked(desk, sampling={"max_tokens": 1500})
            desk.first(lambda event: event.id == long and isinstance(event, TextDelta))
            desk.result(Stop, long)
            assert isinstance(desk.wait(long), Cancelled | Done)
        finally:
            running.kill()


def test_pictures_are_sent_before_the_text_as_data_urls(desk: Desk, server: EndpointServer) -> None:
    added(desk, server)
    images = (b"\x89PNG hill", b"\xff\xd8 lamp", b"RIFF\0\0\0\0WEBP")
    first, second = Message("user", "What is this?", images=images), Message("user", "", images=images[:1])
    chat = (first, Message("assistant", "Hills."), second)
    desk.wait(desk.send(Generate, chat, model="endpoint:big-one"))
    one, _, two = server.asked[-1]["messages"]
    assert [part["type"] for part in one["content"]] == ["image_url"] * 3 + ["text"]
    urls = [part["image_url"]["url"] for part in one["content"][:3]]
    assert urls == [
        "data:image/png;base64,iVBORyBoaWxs", "data:image/jpeg;base64,/9ggbGFtcA==",
        "data:image/webp;base64,UklGRgAAAABXRUJQ",
    ]  # fmt: skip
    assert one["content"][3] == {"type": "text", "text": "What is this?"}
    assert two["content"] == [{"type": "image_url", "image_url": {"url": urls[0]}}]
