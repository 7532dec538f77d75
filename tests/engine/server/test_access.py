"""Who may ask the server, and what it does with requests that mean no good."""

from __future__ import annotations

import contextlib
import json
import socket
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx2 as httpx
import psutil
import pytest

from engine import limits
from engine.protocol import Done, Event, Failed, Kind, ServerChanged, StartServer, Stats
from engine.server.bridge import EngineBridge
from tests.engine.server.serving import Serving
from tests.waiting import LONGEST

if sys.platform != "win32":
    import resource

pytestmark = pytest.mark.long

KEY = "a-key-of-some-length"
PAGE = "https://chat.example"
ASK = {"model": "builtin", "messages": [{"role": "user", "content": "Tell me a story."}], "max_tokens": 4}
_MANY = {"type": "json_schema", "json_schema": {"name": "x", "schema": {"type": "string", "pattern": "^(no ){600}$"}}}
LONG = {**ASK, "max_tokens": 2000, "response_format": _MANY}  # takes seconds, whatever the model would say


@pytest.fixture(scope="module")
def keyed(home: Path) -> Iterator[Serving]:
    with Serving(key=KEY, origins=PAGE) as started:
        yield started


def get(serving: Serving, path: str = "/v1/models", **headers: str) -> httpx.Response:
    return httpx.get(serving.url + path, headers={k.replace("_", "-"): v for k, v in headers.items()}, timeout=LONGEST)


def test_without_the_key_nothing_is_answered_but_that_it_is_there(keyed: Serving) -> None:
    assert get(keyed, "/health").json() == {"status": "ok"}
    for path in ("/v1/models", "/metrics", "/nowhere"):
        assert get(keyed, path).status_code == 401
        assert get(keyed, path, Authorization=f"Bearer {KEY}x").status_code == 401
    assert get(keyed, Authorization=f"Bearer {KEY}").status_code == 200
    assert get(keyed, x_api_key=KEY).status_code == 200
    assert httpx.post(f"{keyed.url}/v1/chat/completions", content=b"x" * 100).status_code == 401


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "", "192.168.1.7"])
def test_a_name_that_is_not_its_own_is_refused(serving: Serving, host: str) -> None:
    assert get(serving, Host=host).status_code == 403


@pytest.mark.parametrize("host", ["localhost", "localhost:1", "127.0.0.1", "127.0.0.1:80", "[::1]:80"])
def test_its_own_names_are_known(serving: Serving, host: str) -> None:
    assert get(serving, Host=host).status_code == 200


def test_web_pages_may_ask_only_where_they_are_allowed(serving: Serving, keyed: Serving) -> None:
    assert get(serving, Origin=PAGE).status_code == 403
    known = get(keyed, Origin=PAGE, Authorization=f"Bearer {KEY}")
    assert known.headers["access-control-allow-origin"] == PAGE
    assert get(keyed, Origin="https://evil.example", Authorization=f"Bearer {KEY}").status_code == 403
    ahead = httpx.options(
        f"{keyed.url}/v1/chat/completions", headers={"Origin": PAGE, "Access-Control-Request-Method": "POST"}
    )
    assert (ahead.status_code, ahead.headers["access-control-allow-origin"]) == (200, PAGE)
    # what only looks like a question of a browser's beforehand gets no further than the key
    assert get(keyed, Access_Control_Request_Method="GET").status_code == 401


@pytest.mark.parametrize("start", [{"host": "0.0.0.0"}, {"host": "no.such.name.invalid", "key": KEY}, {"key": "short"}])
def test_it_does_not_listen_for_other_computers_without_a_key(home: Path, start: dict[str, str]) -> None:
    with Serving() as other:
        refused = other.end(other.send(StartServer, **start))
    assert isinstance(refused, Failed)
    assert refused.kind is Kind.BAD_REQUEST


def test_a_port_that_is_taken_is_told(home: Path) -> None:
    with socket.socket() as taken, Serving() as other:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        refused = other.end(other.send(StartServer, port=taken.getsockname()[1]))
        assert isinstance(refused, Failed)
        assert refused.kind is Kind.BUSY


def test_bodies_that_nobody_needs_are_refused_in_bounded_memory(serving: Serving) -> None:
    serving.chat("Hello.")
    before, process = psutil.Process().memory_info().rss, psutil.Process()
    url = f"{serving.url}/v1/chat/completions"
    large = b'{"model": "builtin", "messages": [{"role": "user", "content": "' + b"a" * (10 << 20) + b'"}]}'
    bad: list[tuple[Any, int]] = [
        (large, 413),
        ((large[n : n + 65536] for n in range(0, len(large), 65536)), 413),  # without a length
        (b"\xff\xfe{}", 400),
        (b'{"model": "\xc3\x28"}', 400),
        (b"[" * 100_000, 400),
        (b'{"a":' * 50_000 + b"1" + b"}" * 50_000, 400),
        (b"null", 400),
        (json.dumps({**ASK, "messages": [{"role": "user", "content": "\ud800"}]}).encode(), 200),
        (json.dumps({**ASK, "response_format": _deep(40)}).encode(), 400),
        (json.dumps({**ASK, "response_format": _wide(20_000)}).encode(), 400),
        (json.dumps({**ASK, "messages": [{"role": "user", "content": "x"}] * 5000}).encode(), 400),
        (json.dumps({**ASK, "tools": [_tool(f"t{n}") for n in range(300)]}).encode(), 400),
    ]
    for content, status in bad:
        try:
            answered = httpx.post(url, content=content, timeout=LONGEST)
        except httpx.TransportError:  # the server answered and closed while the rest was still being sent
            assert status == 413
            continue
        assert answered.status_code == status, answered.text[:300]
    assert process.memory_info().rss - before < 150 << 20
    assert serving.chat("Hello.").text


def _deep(levels: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(levels):
        schema = {"type": "object", "properties": {"a": schema}}
    return {"type": "json_schema", "json_schema": {"name": "deep", "schema": schema}}


def _wide(fields: int) -> dict[str, Any]:
    schema = {"type": "object", "properties": {f"k{n}": {"type": "string"} for n in range(fields)}}
    return {"type": "json_schema", "json_schema": {"name": "wide", "schema": schema}}


def _tool(name: str) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "parameters": {"type": "object"}}}


def test_a_sender_that_is_slow_is_not_waited_for(serving: Serving, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "REQUEST_HEAD_SECONDS", 0.3)
    monkeypatch.setattr(limits, "BODY_SECONDS", 0.3)
    heads = (b"", b"GET /v1/models HTTP/1.1\r\nHost: local", b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\nGET /he")
    for head in heads:
        with socket.create_connection(("127.0.0.1", serving.port), LONGEST) as slow:
            slow.sendall(head)
            while slow.recv(4096):  # ends where the server closes
                pass
    with socket.create_connection(("127.0.0.1", serving.port), LONGEST) as slow:
        slow.sendall(b"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99\r\n\r\n{")
        assert b" 408 " in slow.recv(4096)


def test_no_more_connections_are_open_than_are_counted_on(serving: Serving) -> None:
    held = []
    try:
        for _ in range(limits.CONNECTIONS * 2):
            held.append(socket.create_connection(("127.0.0.1", serving.port), LONGEST))
        open_ones = 0
        for one in held:
            one.settimeout(0.02)
            try:
                open_ones += one.recv(1) != b""
            except TimeoutError:
                open_ones += 1
            except OSError:
                pass
        assert open_ones <= limits.CONNECTIONS
        assert serving.chat("Hello.").text
    finally:
        for one in held:
            one.close()


@pytest.fixture
def many_files() -> Iterator[None]:
    """A process may open more than the usual 1,024 files."""
    if sys.platform == "win32":
        yield
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard if hard != resource.RLIM_INFINITY else 65536, hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_a_thousand_connections_that_say_nothing_whole_take_no_memory_and_delay_no_chat(
    serving: Serving, many_files: None
) -> None:
    alone = serving.chat("Tell me a story about a cat.")
    process = psutil.Process()
    before = process.memory_info().rss
    held: list[socket.socket] = []
    try:
        with ThreadPoolExecutor(1) as pool:
            chat = pool.submit(serving.chat, "Tell me a story about a cat.", max_tokens=200)
            for n in range(1000):
                held.append(socket.create_connection(("127.0.0.1", serving.port), LONGEST))
                with contextlib.suppress(OSError):  # one too many is closed at once
                    held[-1].sendall(f"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nX-{n}: ".encode())
            assert chat.result(LONGEST).text.startswith(alone.text)
        assert process.memory_info().rss - before < 60 << 20
        assert serving.chat("Tell me a story about a cat.").text == alone.text
    finally:
        for one in held:
            one.close()
    end = time.monotonic() + LONGEST
    while time.monotonic() < end:  # once those have gone there is room for others
        with contextlib.suppress(httpx.TransportError):
            assert get(serving, "/health").status_code == 200
            return
    pytest.fail("Nobody was let in any more.")


def test_more_requests_than_may_wait_are_told_when_to_come_again(
    serving: Serving, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answers that are under way come to their end only once all others have been told."""
    monkeypatch.setattr(limits, "WAITING_REQUESTS", 2)
    held: list[tuple[EngineBridge, Event]] = []
    turn, told, deliver = threading.Lock(), threading.Event(), EngineBridge.deliver

    def hold(bridge: EngineBridge, event: Event) -> None:
        with turn:
            if isinstance(event, Done) and isinstance(event.result, Stats) and not told.is_set():
                held.append((bridge, event))
            else:
                deliver(bridge, event)

    monkeypatch.setattr(EngineBridge, "deliver", hold)
    serving.events.clear()
    url = f"{serving.url}/v1/chat/completions"
    with ThreadPoolExecutor(2) as pool:
        try:
            under_way = [pool.submit(httpx.post, url, json=ASK, timeout=LONGEST) for _ in range(2)]
            serving.first(lambda e: isinstance(e, ServerChanged) and len(e.state.requests) == 2)
            refused = [httpx.post(url, json=ASK, timeout=LONGEST) for _ in range(3)]
        finally:
            with turn:
                told.set()
                for bridge, event in held:
                    deliver(bridge, event)
        assert [one.result().status_code for one in under_way] == [200, 200]
    for one in refused:
        assert one.status_code == 429
        assert int(one.headers["retry-after"]) >= 1
    assert 'outcome="overload"} 3' in get(serving, "/metrics").text


@pytest.mark.parametrize("stream", [True, False])
def test_an_answer_whose_listener_leaves_is_stopped(serving: Serving, stream: bool) -> None:
    asked = json.dumps({**LONG, "stream": stream}).encode()
    serving.events.clear()
    with socket.create_connection(("127.0.0.1", serving.port), LONGEST) as one:
        head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(asked)}\r\n\r\n"
        one.sendall(head.encode() + asked)
        serving.first(lambda e: type(e).__name__ == "ServerChanged" and any(r.tokens > 2 for r in e.state.requests))
    serving.quiet()
    assert serving.chat("Hello.").text  # the model is free again
    assert 'outcome="cancelled"} 0' not in get(serving, "/metrics").text


def test_metrics_count_what_was_answered(serving: Serving) -> None:
    def answered() -> float:
        lines = get(serving, "/metrics").text.splitlines()
        return next(float(line.split()[-1]) for line in lines if 'outcome="answered"' in line)

    before = answered()
    assert httpx.post(f"{serving.url}/v1/chat/completions", json=ASK, timeout=LONGEST).status_code == 200
    assert answered() == before + 1


def test_what_it_has_under_way_is_told_without_a_word_of_it(serving: Serving) -> None:
    serving.events.clear()
    asked = {**LONG, "messages": [{"role": "user", "content": "A secret word: xyzzy."}], "stream": True}

    def ours(event: Any) -> list[Any]:  # what an earlier test asked may still be on its way out
        requests = event.state.requests if type(event).__name__ == "ServerChanged" else ()
        return [(r.client, r.way, r.model) for r in requests if "Editor" in r.client]

    url, agent = f"{serving.url}/v1/chat/completions", {"User-Agent": "Editor/7 x"}
    with httpx.stream("POST", url, json=asked, headers=agent, timeout=LONGEST):
        assert ours(serving.first(ours)) == [("127.0.0.1 Editor/7", "/v1/chat/completions", "builtin")]
    serving.quiet()
    assert not any("xyzzy" in repr(event) for event in serving.events)


def test_no_chat_waits_behind_requests(serving: Serving) -> None:
    """A person's question is answered between two tokens of a request's answer, which goes on behind it."""
    alone = serving.chat("Tell me a story about a cat.")
    asked, url = {**LONG, "temperature": 0}, f"{serving.url}/v1/chat/completions"
    usual = httpx.post(url, json=asked, timeout=LONGEST).json()["choices"]
    serving.events.clear()
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(lambda: httpx.post(url, json=asked, timeout=LONGEST).json())
        serving.first(lambda e: type(e).__name__ == "ServerChanged" and any(r.tokens > 2 for r in e.state.requests))
        assert serving.chat("Tell me a story about a cat.").text == alone.text
        assert not running.done()
        assert running.result()["choices"] == usual
