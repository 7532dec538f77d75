"""A hub that answers without end, by drops, with nonsense in its headers: a sentence each, and little memory."""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Iterator

import pytest

from engine import limits
from engine.errors import Kind, UnderhillError
from engine.hub.client import connect
from engine.hub.search import search
from tests.hubserver.hostile import HostileHub, Script, endless, head

JSON = {"Content_Type": "application/json"}
ZIPPED = gzip.compress(b" " * (64 << 20))


def always(*pieces: bytes) -> Script:
    return lambda asked: pieces


def drops(asked: bytes) -> Iterable[bytes]:
    yield head(**JSON)
    for _ in range(1000):
        hubs[0].pause(0.05)
        yield b" "


def pages(asked: bytes) -> Iterable[bytes]:
    """Lists without a model, each of which names the next."""
    yield head(**JSON, Link=f'<{hubs[0].url}/api/models?cursor=1>; rel="next"', Content_Length="2")
    yield b"[]"


hubs: list[HostileHub] = []


def asked_of(script: Script) -> tuple[UnderhillError, HostileHub]:
    with HostileHub(script) as hostile, connect({"endpoint": hostile.url}) as hub:
        hubs[:] = [hostile]
        with pytest.raises(UnderhillError) as refused:
            search(hub, "qwen")
    return refused.value, hostile


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "SILENCE_SECONDS", 0.5)


def test_an_answer_without_end_is_hung_up_on() -> None:
    error, hostile = asked_of(lambda asked: _then_endless(head(**JSON)))
    assert error.kind is Kind.SERVER_ERROR
    assert "without end" in error.sentence
    assert hostile.sent < 2 * limits.ANSWER_BYTES


def test_a_redirection_that_goes_on_for_ever_is_hung_up_on() -> None:
    moved = head("302 Found", Location="/elsewhere")
    error, hostile = asked_of(lambda asked: _then_endless(moved))
    assert error.kind is Kind.SERVER_ERROR
    assert hostile.sent < 2 * limits.ANSWER_BYTES


def test_a_small_answer_that_unpacks_to_a_large_one_is_refused() -> None:
    error, _ = asked_of(always(head(**JSON, Content_Encoding="gzip", Content_Length=str(len(ZIPPED))), ZIPPED))
    assert "without end" in error.sentence


def test_bytes_that_cannot_be_unpacked_are_no_defect_of_ours() -> None:
    error, _ = asked_of(always(head(**JSON, Content_Encoding="gzip", Content_Length="4"), b"none"))
    assert "cannot be unpacked" in error.sentence


def test_an_answer_by_drops_is_not_waited_for() -> None:
    error, _ = asked_of(drops)
    assert error.kind is Kind.NO_NETWORK
    assert "too slow" in error.sentence


def test_a_list_without_an_end_is_refused() -> None:
    error, _ = asked_of(pages)
    assert "without end" in error.sentence


@pytest.mark.parametrize("after", ["²", "9" * 400, "-1", "1e9", "soon", ""])
def test_whatever_a_busy_hub_asks_to_wait(after: str) -> None:
    error, _ = asked_of(always(head("429 Too Many", Retry_After=after, Content_Length="0")))
    assert error.kind is Kind.SERVER_ERROR
    assert "Too many requests" in error.sentence


@pytest.mark.parametrize(
    "text",
    ["[" * 100_000, '{"a":' * 100_000, "9" * 5000, "[1e999]", "[null]", "[[]]", '"\ud800"'],
)
def test_json_that_is_no_answer(text: str) -> None:
    data = text.encode("utf-8", "surrogatepass")
    error, _ = asked_of(always(head(**JSON, Content_Length=str(len(data))), data))
    assert error.kind is not Kind.INTERNAL


def test_a_small_file_without_end_is_hung_up_on() -> None:
    with (
        HostileHub(lambda asked: _then_endless(head())) as hostile,
        connect({"endpoint": hostile.url}) as hub,
        pytest.raises(UnderhillError, match="impossibly long"),
    ):
        hub.read("a/b", "0" * 40, "config.json", most=1 << 20)
    assert hostile.sent < 32 << 20


def _then_endless(beginning: bytes) -> Iterator[bytes]:
    yield beginning
    yield from endless(b" " * 65536)
