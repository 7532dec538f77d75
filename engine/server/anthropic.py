"""Anthropic's /v1/messages."""

from __future__ import annotations

import contextlib
import json
import secrets
from collections.abc import AsyncIterator
from typing import Any, Literal

from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response

from engine.errors import UnderhillError
from engine.protocol import AnswerOptions, Message, Stats, ToolCall
from engine.server import http
from engine.server.asking import AnswerPiece, AnswerRequest, Asker, assistant, sampling_of, tool
from engine.server.http import EventStream, RequestRefused, body_of, primed, sse
from engine.server.images import CONTENT, content_of, text_of
from engine.server.openai_common import OpenRequest, called
from engine.server.openapi import object_of
from engine.server.parts import AnswerPart, Text, Thought

_TYPES = {401: "authentication_error", 404: "not_found_error", 413: "request_too_large", 429: "rate_limit_error"}


class AnthropicMessage(OpenRequest):
    """One message of a chat."""

    role: Literal["user", "assistant"]
    content: str | list[dict[str, Any]] = Field(description=CONTENT)


class AnthropicTool(OpenRequest):
    """A tool that is offered."""

    name: str
    description: str | None = None
    input_schema: dict[str, Any]


class MessagesBody(OpenRequest):
    """The body of a request."""

    model: str
    messages: list[AnthropicMessage]
    max_tokens: int = Field(ge=1)
    system: str | list[dict[str, Any]] | None = None
    stream: bool = False
    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    stop_sequences: list[str] | None = None
    tools: list[AnthropicTool] | None = None
    tool_choice: dict[str, Any] | None = None
    thinking: dict[str, Any] | None = None

    def wanted(self) -> AnswerRequest:
        """As the engine is asked. Raises RequestRefused."""
        system = text_of(self.system, "system")
        messages = [Message("system", system)] if system else []
        for each in self.messages:
            messages += _messages(each)
        tools = tuple(tool(t.name, t.description, t.input_schema) for t in self.tools or ())
        options = AnswerOptions(tools=tools, tool_choice=_choice(self.tool_choice), whole=True)
        sampling = sampling_of(
            temperature=self.temperature, top_p=self.top_p, top_k=self.top_k, max_tokens=self.max_tokens
        )
        thinking = {"enabled": True, "adaptive": True, "disabled": False}.get((self.thinking or {}).get("type", ""))
        goes_on = bool(messages) and messages[-1].role == "assistant"  # its beginning was written for it
        return AnswerRequest(
            model=self.model,
            messages=tuple(messages),
            sampling=sampling,
            stop=tuple(self.stop_sequences or ()),
            thinking=thinking,
            options=options,
            continue_last=goes_on,
        )


class AnthropicMessages:
    """The endpoint."""

    def __init__(self, asker: Asker) -> None:
        self._asker = asker

    async def __call__(self, request: Request) -> Response:
        """Answer one request."""
        body = await body_of(request, MessagesBody)
        head = {"id": f"msg_{secrets.token_hex(12)}", "type": "message", "role": "assistant", "model": body.model}
        wanted = body.wanted()
        if not body.stream:
            return await http.whole(request, self._whole(wanted, request, head))
        pieces = await primed(self._asker.pieces(wanted, request), request)
        return EventStream(_events(pieces, head))

    async def _whole(self, wanted: AnswerRequest, request: Request, head: dict[str, Any]) -> dict[str, Any]:
        found = await self._asker.whole(wanted, request)
        content: list[dict[str, Any]] = []
        if found.thought:
            content.append({"type": "thinking", "thinking": found.thought, "signature": ""})
        if found.text:
            content.append({"type": "text", "text": found.text})
        content += [{**_block(call), "input": call.arguments} for call in found.calls]
        return {
            **head, "content": content, "stop_reason": _reason(found.stats, bool(found.calls)), "stop_sequence": None,
            "usage": _usage(found.stats),
        }  # fmt: skip


def _messages(body: AnthropicMessage) -> list[Message]:
    """A message of theirs may hold results of tools beside what the user says: those are messages of their own."""
    if isinstance(body.content, str):
        return [assistant(body.content) if body.role == "assistant" else Message("user", body.content)]
    plain = [part for part in body.content if part.get("type") not in _OWN]
    if body.role == "assistant":
        thoughts = [str(part.get("thinking", "")) for part in body.content if part.get("type") == "thinking"]
        calls = [
            called(str(part.get("id", "")), {"name": part.get("name"), "arguments": part.get("input", {})})
            for part in body.content
            if part.get("type") == "tool_use"
        ]
        return [assistant(text_of(plain), "\n\n".join(thoughts), calls)]
    results = [
        Message("tool", text_of(part.get("content")), answers=str(part.get("tool_use_id", "")))
        for part in body.content
        if part.get("type") == "tool_result"
    ]
    text, images = content_of(plain, "messages")
    return results + ([Message("user", text, images=images)] if text or images or not results else [])


_OWN = ("tool_use", "tool_result", "thinking", "redacted_thinking")


def _choice(given: dict[str, Any] | None) -> str:
    kind = (given or {}).get("type", "auto")
    if kind == "tool" and given is not None and isinstance(given.get("name"), str):
        return str(given["name"])
    known = {"auto": "auto", "any": "required", "none": "none"}
    if kind not in known:
        raise RequestRefused(400, "tool_choice is auto, any, none, or names a tool.", "tool_choice")
    return known[kind]


def _reason(stats: Stats, called_tools: bool) -> str:
    if called_tools:
        return "tool_use"
    return {"length": "max_tokens", "context": "max_tokens", "stop_text": "stop_sequence"}.get(stats.finish, "end_turn")


def _usage(stats: Stats) -> dict[str, Any]:
    return {
        "input_tokens": stats.prompt_tokens - stats.reused_tokens, "cache_read_input_tokens": stats.reused_tokens,
        "output_tokens": len(stats.token_ids),
    }  # fmt: skip


def _block(part: AnswerPart) -> dict[str, Any]:
    """What begins a block of that kind."""
    if isinstance(part, Thought):
        return {"type": "thinking", "thinking": "", "signature": ""}
    if isinstance(part, Text):
        return {"type": "text", "text": ""}
    return {"type": "tool_use", "id": part.ident or f"toolu_{secrets.token_hex(12)}", "name": part.name, "input": {}}


def _delta(part: AnswerPart) -> dict[str, Any]:
    if isinstance(part, Thought):
        return {"type": "thinking_delta", "thinking": part.text}
    if isinstance(part, Text):
        return {"type": "text_delta", "text": part.text}
    return {"type": "input_json_delta", "partial_json": json.dumps(part.arguments, ensure_ascii=False)}


async def _events(pieces: AsyncIterator[AnswerPiece], head: dict[str, Any]) -> AsyncIterator[str]:
    def event(kind: str, **fields: Any) -> str:
        return sse({"type": kind, **fields}, kind)

    empty = {"input_tokens": 0, "output_tokens": 0}
    yield event("message_start", message={**head, "content": [], "stop_reason": None, "stop_sequence": None,
                                          "usage": empty})  # fmt: skip
    at, open_kind, calls = -1, None, False
    try:
        async with contextlib.aclosing(pieces) as coming:  # type: ignore[type-var]
            async for piece in coming:
                for part in piece.parts:
                    if type(part) is not open_kind or isinstance(part, ToolCall):
                        if at >= 0:
                            yield event("content_block_stop", index=at)
                        at, open_kind = at + 1, type(part)
                        yield event("content_block_start", index=at, content_block=_block(part))
                    calls = calls or isinstance(part, ToolCall)
                    yield event("content_block_delta", index=at, delta=_delta(part))
                if piece.stats is not None:
                    if at >= 0:
                        yield event("content_block_stop", index=at)
                    delta = {"stop_reason": _reason(piece.stats, calls), "stop_sequence": None}
                    yield event("message_delta", delta=delta, usage=_usage(piece.stats))
                    yield event("message_stop")
    except UnderhillError as error:
        yield sse(error_body(error, http.status_of(error)), "error")


ERROR_SCHEMA = object_of(error=object_of(type={"type": "string"}, message={"type": "string"}))


def error_body(error: UnderhillError, status: int) -> dict[str, Any]:
    """An error in Anthropic's form."""
    kind = _TYPES.get(
        status, "invalid_request_error" if status < 500 else "overloaded_error" if status == 503 else "api_error"
    )
    return {"type": "error", "error": {"type": kind, "message": str(error.message)}}
