"""The servers that are on: each is connected on one thread, and calls of their tools are made there."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
from collections.abc import Callable
from concurrent.futures import CancelledError
from dataclasses import replace
from typing import Any

import httpx2
import mcp_types
from mcp import ClientSession, MCPError
from mcp.client.streamable_http import streamable_http_client

from engine import limits
from engine.errors import Kind, UnderhillError
from engine.generation.messages import Tool
from engine.toolservers.definition import FAILED, OFF, READY, STARTING, ToolResult, ToolServerCard
from engine.toolservers.program import Talk, running
from engine.translatable import NO_TEXT, Translatable, msg

_OFFLINE = msg("Offline mode is on, and this server is on another computer.")
_LOOK = 0.05  # seconds between two looks at whether a call was stopped
_log = logging.getLogger(__name__)


class Connections:
    """changed: told, on the thread here, of the cards whenever one is another. variables_of: with secrets."""

    def __init__(
        self, changed: Callable[[tuple[ToolServerCard, ...]], object],
        variables_of: Callable[[ToolServerCard], dict[str, str]], offline: Callable[[], bool],
    ) -> None:  # fmt: skip
        """offline: whether addresses may not be asked."""
        self._changed, self._variables_of, self._offline = changed, variables_of, offline
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="underhill-tools", daemon=True)
        self._thread.start()
        # All of these belong to the thread of the loop.
        self._cards: dict[str, ToolServerCard] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._sessions: dict[str, ClientSession] = {}
        self._told: tuple[ToolServerCard, ...] = ()

    @property
    def cards(self) -> tuple[ToolServerCard, ...]:
        """As they are now, from any thread."""
        return self._told

    def follow(self, kept: tuple[ToolServerCard, ...]) -> None:
        """Have these: new ones that are on are connected, others ended; one that is as it was stays as it is."""
        self._wait(self._follow(kept))

    def look_again(self) -> None:
        """Connect and end what offline mode, which may be another now, allows and bars. It does not wait."""
        asyncio.run_coroutine_threadsafe(self._follow(tuple(self._cards.values())), self._loop)

    def restart(self, name: str) -> None:
        """Connect a server anew."""
        self._wait(self._restart(name))

    def call(self, name: str, tool: str, arguments: dict[str, Any], cancelled: Callable[[], bool]) -> ToolResult | None:
        """What a tool answers; None where it was stopped. Raises UnderhillError."""
        future = asyncio.run_coroutine_threadsafe(self._call(name, tool, arguments), self._loop)
        while True:
            try:
                return future.result(_LOOK)
            except CancelledError:
                return None
            except TimeoutError:
                if future.done():
                    raise
                if cancelled():
                    future.cancel()
                    return None

    def close(self) -> None:
        """End all servers, and the thread."""
        self._wait(self._follow(()))
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _wait(self, work: Any) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result()

    async def _follow(self, kept: tuple[ToolServerCard, ...]) -> None:
        before, self._cards = self._cards, {}
        ending = []
        for card in kept:
            known = before.get(card.id)
            if known is not None and known.server == card.server and not self._barred(card):
                self._cards[card.id] = replace(known, allowed=card.allowed)
            else:
                self._cards[card.id] = card
                ending.append(self._end(card.id))
        ending += [self._end(name) for name in before if name not in self._cards]
        await asyncio.gather(*ending)
        for name, card in list(self._cards.items()):
            held_off = card.problem == _OFFLINE and not self._barred(card)
            if card.server.enabled and (name not in self._tasks or held_off):
                self._begin(name)
        self._tell()

    async def _restart(self, name: str) -> None:
        await self._end(name)
        if name in self._cards and self._cards[name].server.enabled:
            self._begin(name)
        self._tell()

    def _begin(self, name: str) -> None:
        self._cards[name] = replace(self._cards[name], state=STARTING, problem=NO_TEXT, said="", tools=())
        self._tasks[name] = self._loop.create_task(self._serve(name))

    async def _end(self, name: str) -> None:
        task = self._tasks.pop(name, None)
        if task is not None:
            task.cancel()
            await asyncio.wait({task})

    async def _serve(self, name: str) -> None:
        """Connect, and stay so until it ends by itself or is ended."""
        card, talk = self._cards[name], Talk()
        problem = NO_TEXT
        try:
            async with asyncio.timeout(None) as patience:
                await self._connected(card, talk, patience)
            problem = msg("The server has ended.")
        except asyncio.CancelledError:
            self._sessions.pop(name, None)
            self._set(name, state=OFF, tools=())
            raise
        except BaseException as error:  # an ExceptionGroup of what a library raises, too
            _log.warning("A tool server failed: %s", type(_first(error)).__name__)
            problem = _problem(_first(error), card)
        self._sessions.pop(name, None)
        if talk.flooded:
            problem = msg("The server sent a message without end.")
        self._set(name, state=FAILED, tools=(), problem=problem, said=talk.said)

    async def _connected(self, card: ToolServerCard, talk: Talk, patience: asyncio.Timeout) -> None:
        patience.reschedule(self._loop.time() + limits.TOOL_STARTING)
        if self._barred(card):
            raise UnderhillError(Kind.OFFLINE, _OFFLINE)
        variables = await asyncio.to_thread(self._variables_of, card)
        if card.server.command:
            async with running(card.server, variables, talk) as streams:
                await self._session(card, streams, patience)
            return
        timeout = httpx2.Timeout(limits.TOOL_CALLING, connect=10.0)
        async with (
            httpx2.AsyncClient(headers=variables, timeout=timeout, trust_env=bool(card.server.host)) as client,
            streamable_http_client(card.server.url, http_client=client) as streams,
        ):
            await self._session(card, streams, patience)

    async def _session(self, card: ToolServerCard, streams: Any, patience: asyncio.Timeout) -> None:
        closed = asyncio.Event()
        async with ClientSession(_watched(streams[0], closed), streams[1]) as session:
            await session.initialize()
            tools, unusable = await _tools(session)
            patience.reschedule(None)
            self._sessions[card.id] = session
            problem = msg("Tools that can't be used: {count}.", count=unusable) if unusable else NO_TEXT
            self._set(card.id, state=READY, tools=tools, problem=problem)
            await closed.wait()

    def _barred(self, card: ToolServerCard) -> bool:
        return bool(card.server.host) and self._offline()

    async def _call(self, name: str, tool: str, arguments: dict[str, Any]) -> ToolResult:
        session, card = self._sessions.get(name), self._cards.get(name)
        if session is None or card is None:
            raise UnderhillError(
                Kind.NOT_FOUND,
                msg("The tool server {name} isn't running.", name=card.server.name if card is not None else name),
                msg("The settings say what is wrong."),
            )  # fmt: skip
        if self._barred(card):
            raise UnderhillError(Kind.OFFLINE, _OFFLINE)
        task = self._tasks.get(name)
        work = asyncio.ensure_future(session.call_tool(tool, arguments, read_timeout_seconds=limits.TOOL_CALLING))
        try:
            await asyncio.wait({work, *([task] if task is not None else ())}, return_when=asyncio.FIRST_COMPLETED)
            if not work.done():
                raise _ended(card)
            return _result(work.result())
        except MCPError as error:
            if error.code == mcp_types.CONNECTION_CLOSED:
                raise _ended(card) from error
            if error.code == mcp_types.REQUEST_TIMEOUT:
                raise UnderhillError(Kind.SERVER_ERROR, msg("The tool didn't answer in time.")) from error
            return ToolResult(error.message[: limits.TOOL_RESULT], failed=True)
        finally:
            work.cancel()

    def _set(self, name: str, **fields: Any) -> None:
        if name in self._cards:
            self._cards[name] = replace(self._cards[name], **fields)
            self._tell()

    def _tell(self) -> None:
        now = tuple(self._cards.values())
        if now != self._told:
            self._told = now
            self._changed(now)


class _watched:
    """A stream that says when it has come to its end."""

    def __init__(self, stream: Any, closed: asyncio.Event) -> None:
        self._stream, self._closed = stream, closed

    async def receive(self) -> Any:
        return await self._told(self._stream.receive)

    async def __anext__(self) -> Any:
        return await self._told(self._stream.__anext__)

    def __aiter__(self) -> Any:
        return self

    async def __aenter__(self) -> Any:
        await self._stream.__aenter__()
        return self

    async def __aexit__(self, *error: Any) -> Any:
        return await self._stream.__aexit__(*error)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    async def _told(self, receive: Callable[[], Any]) -> Any:
        try:
            return await receive()
        except asyncio.CancelledError:
            raise
        except BaseException:
            self._closed.set()
            raise


async def _tools(session: ClientSession) -> tuple[tuple[Tool, ...], int]:
    """The tools of a server, and how many there are besides that no model can be told of, or beyond the limit."""
    found: list[Tool] = []
    cursor: str | None = None
    while len(found) <= limits.TOOLS:
        params = mcp_types.PaginatedRequestParams(cursor=cursor) if cursor else None
        page = await session.list_tools(params=params)
        found += (Tool(each.name, each.description or "", dict(each.input_schema)) for each in page.tools)
        cursor = page.next_cursor
        if not cursor or not page.tools:
            break
    usable = tuple({tool.name: tool for tool in found if _usable(tool)}.values())[: limits.TOOLS]
    return usable, len(found) - len(usable)


def _usable(tool: Tool) -> bool:
    try:
        limits.check_schema(tool.parameters)
    except UnderhillError:
        return False
    return 0 < len(tool.name) <= limits.ENDPOINT_NAME and len(tool.description) <= limits.TOOL_DESCRIPTION


def _result(result: Any) -> ToolResult:
    """What the model reads of a result: its texts; of anything else, what it is."""
    parts = []
    for block in getattr(result, "content", ()):
        text = getattr(block, "text", None)
        parts.append(text if isinstance(text, str) else f"[{getattr(block, 'type', 'content')}]")
    structured = getattr(result, "structured_content", None)
    if not parts and structured is not None:
        parts.append(json.dumps(structured, ensure_ascii=False))
    text = "\n".join(parts)
    if len(text) > limits.TOOL_RESULT:
        text = f"{text[: limits.TOOL_RESULT]}\n[cut: {len(text):,} characters]"
    return ToolResult(text, bool(getattr(result, "is_error", False)))


def _ended(card: ToolServerCard) -> UnderhillError:
    return UnderhillError(
        Kind.SERVER_ERROR, msg("The tool server {name} ended during the call.", name=card.server.name)
    )  # fmt: skip


def _first(error: BaseException) -> BaseException:
    """What is inside a group of errors."""
    while isinstance(error, BaseExceptionGroup) and error.exceptions:
        error = error.exceptions[0]
    return error


def _problem(error: BaseException, card: ToolServerCard) -> Translatable:
    if isinstance(error, UnderhillError):
        return error.message
    if isinstance(error, TimeoutError):
        return msg("The server didn't answer within {seconds} s.", seconds=round(limits.TOOL_STARTING))
    if isinstance(error, FileNotFoundError):
        return msg("There is no program {command}.", command=card.server.command)
    if isinstance(error, httpx2.TransportError):
        return msg("Can't reach {url}.", url=card.server.url)
    return msg("The server failed: {why}", why=limits.shown(str(error) or type(error).__name__))
