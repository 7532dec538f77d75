"""What is told of the server, and how models are opened that are asked for."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest
import uvicorn

from engine.protocol import Failed, Kind, ServerChanged, StartServer, StopServer, UpdateServer
from tests.engine.server.serving import SETTINGS, Serving
from tests.waiting import LONGEST

pytestmark = pytest.mark.long

ASK = {"model": "builtin", "messages": [{"role": "user", "content": "Tell me a story. " * 60}], "max_tokens": 4}


@pytest.fixture(scope="module")
def unopened(home: Path) -> Iterator[Serving]:
    """No model is open, until it is asked for."""
    with Serving() as started:
        yield started


def asked(serving: Serving, **other: Any) -> httpx.Response:
    return httpx.post(f"{serving.url}/v1/chat/completions", json={**ASK, **other}, timeout=LONGEST)


def test_models_are_opened_with_the_settings_of_the_moment(unopened: Serving) -> None:
    unopened.result(UpdateServer, SETTINGS, {"builtin": {"context_length": 128}})
    refused = asked(unopened)
    assert (refused.status_code, refused.json()["error"]["code"]) == (400, "context_length_exceeded")
    wrong = unopened.end(unopened.send(UpdateServer, SETTINGS, {"builtin": {"context_length": -1}}))
    assert isinstance(wrong, Failed)
    assert wrong.kind is Kind.BAD_REQUEST
    assert asked(unopened).status_code == 400  # as before
    unopened.result(UpdateServer, SETTINGS, {"other": {"context_length": 128}})
    assert asked(unopened).status_code == 200


def test_requests_that_are_over_are_told_with_how_they_ended(unopened: Serving) -> None:
    unopened.events.clear()
    assert asked(unopened, max_tokens=5, temperature=0).status_code == 200
    too_long = [{"role": "user", "content": "Tell me a story. " * 20_000}]
    assert asked(unopened, messages=too_long).status_code == 400

    def both(event: Any) -> bool:
        return isinstance(event, ServerChanged) and [one.state for one in event.state.recent[:2]] == [
            "failed",
            "answered",
        ]

    told = unopened.first(both)
    assert isinstance(told, ServerChanged)
    failed, answered = told.state.recent[:2]
    assert (answered.model, answered.way, answered.tokens) == ("builtin", "/v1/chat/completions", 5)
    assert answered.seconds > 0
    assert failed.why
    assert not answered.why


def test_a_port_in_use_is_told_by_its_number_and_ends_what_ran_before(unopened: Serving) -> None:
    with socket.socket() as taken, Serving() as other:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        refused = other.end(other.send(StartServer, port=port))
        assert isinstance(refused, Failed)
        assert (refused.kind, f"port {port}" in refused.sentence) == (Kind.BUSY, True)
        with pytest.raises(httpx.ConnectError):
            httpx.get(f"{other.url}/health", timeout=LONGEST)
        assert other.result(StopServer).address == ""  # it is off by now, which is no error


def test_a_server_that_breaks_off_is_told_and_can_be_started_again(
    unopened: Serving, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*_: Any, **__: Any) -> None:
        raise RuntimeError("a defect")

    monkeypatch.setattr(uvicorn.Server, "serve", broken)
    with Serving() as other:
        told = other.first(lambda event: isinstance(event, ServerChanged))
        assert isinstance(told, ServerChanged)
        assert told.state.address == ""
        monkeypatch.undo()
        again = other.result(StartServer, port=other.port)
        assert httpx.get(f"{again.address}/health", timeout=LONGEST).status_code == 200
