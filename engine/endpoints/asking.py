"""Asks an endpoint: its answer as it comes, its list of models. Stops within a moment, whatever the server does."""

from __future__ import annotations

import asyncio
import json
import ssl
import time
from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import Any

import httpx2

from engine import limits
from engine.endpoints import errors
from engine.endpoints.definition import Endpoint, EndpointCheck
from engine.endpoints.request import ChatRequest, body
from engine.endpoints.stream import AnswerBuilder, EventReader
from engine.errors import Kind, UnderhillError
from engine.generation.messages import Stats
from engine.translatable import msg

CONNECT = 10.0  # seconds to wait for a connection
TEST = 30.0  # seconds that a test waits for a word of the server
_LOOK = 0.05  # seconds between two looks at whether it was stopped
_ERROR_BYTES = 64 << 10  # of what comes with an error
_LIST_BYTES = 4 << 20  # of a list of models


class Stopped(Exception):
    """It was stopped; `stats` is what there is of the answer."""

    def __init__(self, stats: Stats) -> None:
        super().__init__("stopped")
        self.stats = stats


def ask(
    endpoint: Endpoint, key: str, request: ChatRequest, on_text: Callable[[str], None], cancelled: Callable[[], bool]
) -> Stats:
    """Have a chat answered. on_text: told of more text, on this thread.

    Raises Stopped once `cancelled` is true; UnderhillError. What was told until then is no part of the error.
    """
    answer = _Answer(endpoint, on_text)
    if not _run(answer.receive(key, body(endpoint, request)), cancelled):
        raise Stopped(answer.stats("cancelled"))
    return answer.stats(answer.builder.finish)


def test(endpoint: Endpoint, key: str, cancelled: Callable[[], bool]) -> EndpointCheck | None:
    """List the models; where one is named, also have it say a word. None: it was stopped. Raises UnderhillError."""
    found: list[EndpointCheck] = []
    return found[0] if _run(_test(endpoint, key, found), cancelled) else None


async def _test(endpoint: Endpoint, key: str, found: list[EndpointCheck]) -> None:
    begun = time.monotonic()
    async with _client(endpoint, key, TEST) as client:
        models = await _models(client, endpoint, bool(key))
        if endpoint.model:
            if models and endpoint.model not in models:
                raise UnderhillError(
                    Kind.NOT_FOUND, msg("{host} has no model {model}.", host=endpoint.host, model=endpoint.model),
                    msg("It has: {names}", names=", ".join(models[:20])),
                )  # fmt: skip
            asked = {"model": endpoint.model, "messages": [{"role": "user", "content": "Hi"}], "max_tokens": 1}
            await _whole(client.stream("POST", _url(endpoint, "chat/completions"), json=asked), endpoint, bool(key))
    found.append(EndpointCheck(models=models, seconds=time.monotonic() - begun))


async def _models(client: httpx2.AsyncClient, endpoint: Endpoint, has_key: bool) -> tuple[str, ...]:
    """Names of the models that a server lists; () where it has no such list, as long as a model is named."""
    try:
        said = await _whole(client.stream("GET", _url(endpoint, "models")), endpoint, has_key)
    except UnderhillError as error:
        if error.kind is Kind.NOT_FOUND and endpoint.model:
            return ()
        raise
    try:
        names = [str(each["id"]) for each in json.loads(said)["data"]]
    except (ValueError, LookupError, TypeError, RecursionError) as cause:
        raise errors.nonsense(endpoint, msg("something that is not a list of models")) from cause
    return tuple(names[: limits.ENDPOINT_MODELS])


class _Answer:
    """One answer as it comes."""

    def __init__(self, endpoint: Endpoint, on_text: Callable[[str], None]) -> None:
        self._endpoint, self._on_text = endpoint, on_text
        self.builder = AnswerBuilder()
        self._begun = self._last = time.monotonic()
        self._first = self._spoke = 0.0  # when the first piece came; when the first behind a thought did

    async def receive(self, key: str, asked: dict[str, Any]) -> None:
        """All of it. Raises UnderhillError."""
        endpoint, reader, size = self._endpoint, EventReader(), 0
        try:
            async with (
                _client(endpoint, key, limits.ENDPOINT_SILENCE) as client,
                client.stream("POST", _url(endpoint, "chat/completions"), json=asked) as response,
            ):
                if response.status_code != 200:
                    raise await _refusal(response, endpoint, bool(key))
                if not response.headers.get("Content-Type", "").startswith("text/event-stream"):
                    raise errors.nonsense(endpoint, msg("something that is not a stream of events"))
                async for piece in response.aiter_bytes():
                    size += len(piece)
                    if size > limits.ENDPOINT_BYTES:
                        raise errors.nonsense(endpoint, msg("an answer without end"))
                    for data in reader.feed(piece):
                        if data.strip() == "[DONE]":
                            self._end()
                            return
                        self._take(data)
        except httpx2.TransportError as cause:
            if self.builder.finish:  # all was said; some servers just leave
                return self._end()
            raise errors.unreachable(cause, endpoint) from cause
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as cause:
            raise errors.nonsense(endpoint, msg("something that is not an answer of a model")) from cause
        if not self.builder.finish:
            raise errors.cut(endpoint)
        self._end()

    def _take(self, data: str) -> None:
        chunk = json.loads(data)
        if isinstance(chunk, dict) and chunk.get("error"):
            raise errors.failed(self._endpoint, errors.message_of(data.encode()))
        self._tell(self.builder.take(chunk))

    def _end(self) -> None:
        self.builder.finish = self.builder.finish or "stop"
        self._tell(self.builder.end())

    def _tell(self, text: str) -> None:
        if not text:
            return
        self._last = time.monotonic()
        self._first = self._first or self._last
        if self.builder.spoken:
            self._spoke = self._spoke or self._last
        self._on_text(text)

    def stats(self, finish: str) -> Stats:
        """What it took so far."""
        built, first = self.builder, self._first or time.monotonic()
        thought = (self._spoke or self._last) - first if built.thought else 0.0
        return replace(
            _NOTHING, text=built.text, finish=finish, prompt_tokens=built.prompt_tokens,
            reused_tokens=built.cached_tokens, prompt_seconds=first - self._begun,
            decode_seconds=max(0.0, self._last - first), thinking_seconds=thought, calls=built.calls,
            endpoint=self._endpoint.host, answer_tokens=built.answer_tokens,
        )  # fmt: skip


_NOTHING = Stats(
    text="", token_ids=(), finish="stop", prompt_tokens=0, reused_tokens=0, dropped_turns=0, prompt_seconds=0.0,
    decode_seconds=0.0, hits=0, misses=0, bytes_read=0, precision={}, peak_rss=0,
)  # fmt: skip


def _run(work: Coroutine[Any, Any, None], cancelled: Callable[[], bool]) -> bool:
    """Do it on this thread; False where it was stopped."""
    loop = asyncio.new_event_loop()
    try:
        return loop.run_until_complete(_watched(work, cancelled))
    finally:
        loop.close()  # without its threads: a name that is being looked up is not waited for


async def _watched(work: Coroutine[Any, Any, None], cancelled: Callable[[], bool]) -> bool:
    task = asyncio.ensure_future(work)
    while not task.done():
        await asyncio.wait({task}, timeout=_LOOK)
        if cancelled() and not task.done():
            task.cancel()
            await asyncio.wait({task}, timeout=1.0)
            return False
    await task
    return True


def _client(endpoint: Endpoint, key: str, silence: float) -> httpx2.AsyncClient:
    """Follows no redirection, which would take the chat elsewhere. Raises UnderhillError for a file of certificates."""
    context = httpx2.create_ssl_context() if endpoint.encrypted else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    if endpoint.encrypted and endpoint.ca_file:
        try:
            context.load_verify_locations(cafile=endpoint.ca_file)
        except (OSError, ValueError) as cause:  # ssl.SSLError is an OSError
            raise UnderhillError(
                Kind.BROKEN_FILE, msg("{file} holds no certificates that can be read.", file=endpoint.ca_file),
                msg("Choose a file in PEM form in the endpoint, or none."),
            ) from cause  # fmt: skip
    headers = {"Accept-Encoding": "identity", "User-Agent": "underhill"}
    if key:
        headers["Authorization"] = f"Bearer {key}"
    return httpx2.AsyncClient(verify=context, headers=headers, timeout=httpx2.Timeout(silence, connect=CONNECT))


async def _whole(opening: Any, endpoint: Endpoint, has_key: bool) -> bytes:
    """The body of an answer of 200. Raises UnderhillError."""
    try:
        async with opening as response:
            if response.status_code != 200:
                raise await _refusal(response, endpoint, has_key)
            return await _bounded(response, _LIST_BYTES)
    except httpx2.TransportError as cause:
        raise errors.unreachable(cause, endpoint) from cause


async def _refusal(response: httpx2.Response, endpoint: Endpoint, has_key: bool) -> UnderhillError:
    said = await _bounded(response, _ERROR_BYTES)
    return errors.refused(endpoint, response.status_code, response.headers, said, has_key)


async def _bounded(response: httpx2.Response, most: int) -> bytes:
    data = bytearray()
    async for piece in response.aiter_bytes():
        data += piece
        if len(data) > most:
            break
    return bytes(data[:most])


def _url(endpoint: Endpoint, path: str) -> str:
    return f"{endpoint.url}/{path}"
