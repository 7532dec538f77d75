"""Bodies in, answers out: bounded reading, streams that end with their listener, and errors as each API words them."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

from engine import limits
from engine.errors import Kind, UnderhillError
from engine.server.bridge import Overloaded
from engine.translatable import msg, translated

B = TypeVar("B", bound=BaseModel)
T = TypeVar("T")
_STATUS = {
    Kind.BAD_REQUEST: 400, Kind.CONTEXT_FULL: 400, Kind.NOT_FOUND: 404, Kind.NOT_A_MODEL: 404, Kind.BUSY: 503,
    Kind.OUT_OF_MEMORY: 503, Kind.STOPPED: 503, Kind.HELD: 503, Kind.CANCELLED: 503,
}  # fmt: skip
TOO_LARGE, TOO_SLOW = 413, 408
_GONE = 499  # as nginx has it: nobody reads the answer any more


class RequestRefused(UnderhillError):
    """What was sent cannot be taken. status: of HTTP. param: what of it."""

    def __init__(self, status: int, sentence: str, param: str | None = None) -> None:
        super().__init__(Kind.BAD_REQUEST, translated(sentence))
        self.status, self.param = status, param


def status_of(error: UnderhillError) -> int:
    """The status of HTTP that says it."""
    if isinstance(error, RequestRefused):
        return error.status
    return 429 if isinstance(error, Overloaded) else _STATUS.get(error.kind, 500)


def headers_of(error: UnderhillError) -> dict[str, str]:
    """When to try again, where that is of use."""
    if isinstance(error, Overloaded):
        return {"Retry-After": str(error.seconds)}
    return {"Retry-After": "5"} if error.kind is Kind.BUSY else {}


async def body_of(request: Request, kind: type[B]) -> B:
    """The body, checked. Raises RequestRefused for one that is too long, too slow, or not what is wanted."""
    try:
        async with asyncio.timeout(limits.BODY_SECONDS):
            packed = await _bytes_of(request)
    except TimeoutError:
        raise RequestRefused(TOO_SLOW, "The request did not come to its end in time.") from None
    try:
        found = json.loads(packed.decode("utf-8"))
    except (ValueError, RecursionError):
        raise RequestRefused(400, "The body is not JSON in UTF-8.") from None
    if not isinstance(found, dict):
        raise RequestRefused(400, "The body is not a JSON object.")
    try:
        return kind.model_validate(found)
    except (ValidationError, RecursionError) as cause:
        raise _invalid(cause) from None


def _invalid(cause: ValidationError | RecursionError) -> RequestRefused:
    if isinstance(cause, RecursionError):
        return RequestRefused(400, "The body is nested too deep.")
    first = cause.errors(include_url=False, include_context=False, include_input=False)[0]
    param = ".".join(str(part) for part in first["loc"])[:200]
    return RequestRefused(400, f"{param}: {first['msg']}"[:400], param)


async def _bytes_of(request: Request) -> bytes:
    with contextlib.suppress(ValueError):
        if int(request.headers.get("content-length", "0")) > limits.BODY_BYTES:
            raise RequestRefused(TOO_LARGE, f"The body is longer than {limits.BODY_BYTES} bytes.")
    parts, length = [], 0
    async for part in request.stream():
        length += len(part)
        if length > limits.BODY_BYTES:
            raise RequestRefused(TOO_LARGE, f"The body is longer than {limits.BODY_BYTES} bytes.")
        parts.append(part)
    return b"".join(parts)


class EventStream(Response):
    """Sends what a generator makes until it ends, or its listener leaves: then it is closed at once."""

    def __init__(self, chunks: AsyncIterator[str], media_type: str = "text/event-stream") -> None:
        super().__init__(None, 200, {"Cache-Control": "no-cache"}, media_type)
        del self.headers["content-length"]
        self._chunks = chunks

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """As ASGI has it."""

        async def produce() -> None:
            await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
            async with contextlib.aclosing(self._chunks) as chunks:  # type: ignore[type-var]
                async for chunk in chunks:
                    await send({"type": "http.response.body", "body": chunk.encode(), "more_body": True})
            await send({"type": "http.response.body", "body": b"", "more_body": False})

        with contextlib.suppress(ClientDisconnect):  # programs leave as they like: nothing to log
            await _unless_gone(produce(), receive)


async def _unless_gone(work: Awaitable[T], receive: Receive) -> T:
    """What the work returns. Raises ClientDisconnect, and ends the work, as soon as nobody reads it any more."""

    async def gone() -> None:
        while (await receive())["type"] != "http.disconnect":
            pass

    running, leaving = asyncio.ensure_future(work), asyncio.ensure_future(gone())
    try:
        async with asyncio.timeout(limits.ANSWER_SECONDS_AT_MOST):
            await asyncio.wait({running, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if running.done():
            return running.result()
        raise ClientDisconnect
    except TimeoutError:
        raise UnderhillError(Kind.BUSY, msg("The answer took longer than a request may.")) from None
    finally:
        for task in (running, leaving):
            if not task.done():
                task.cancel()
        await asyncio.gather(running, leaving, return_exceptions=True)


async def whole(request: Request, work: Awaitable[dict[str, Any]]) -> Response:
    """An answer in one piece; the work ends where its listener leaves."""
    return JSONResponse(await _unless_gone(work, request.receive))


async def primed(stream: AsyncIterator[T], request: Request) -> AsyncIterator[T]:
    """The same stream, once its first item is there: what fails before that is told as an error of HTTP."""
    first = await _unless_gone(anext(stream), request.receive)

    async def rest() -> AsyncIterator[T]:
        async with contextlib.aclosing(stream) as items:  # type: ignore[type-var]
            yield first
            async for item in items:
                yield item

    return rest()


Endpoint = Callable[[Request], Awaitable[Response]]


def answered(error_body: Callable[[UnderhillError, int], dict[str, Any]], endpoint: Endpoint) -> Endpoint:
    """The endpoint, what it raises told in its API's own form."""

    async def run(request: Request) -> Response:
        try:
            return await endpoint(request)
        except ClientDisconnect:
            return Response(status_code=_GONE)
        except UnderhillError as error:
            status = status_of(error)
            return JSONResponse(error_body(error, status), status, headers_of(error))

    return run


def sse(data: object, event: str = "") -> str:
    """One event of a stream."""
    name = f"event: {event}\n" if event else ""
    return f"{name}data: {json.dumps(data, ensure_ascii=False)}\n\n"
