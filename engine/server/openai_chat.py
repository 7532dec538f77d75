"""OpenAI's /v1/chat/completions."""

from __future__ import annotations

import contextlib
import secrets
import time
from collections.abc import AsyncIterator
from typing import Any

from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response

from engine.errors import UnderhillError
from engine.protocol import AnswerOptions
from engine.server import http
from engine.server.asking import AnswerPiece, AnswerRequest, Asker, sampling_of
from engine.server.http import EventStream, body_of, primed, sse
from engine.server.openai_common import (
    AnswerBody,
    MessageBody,
    ToolBody,
    call_body,
    choice_of,
    error_body,
    finish_of,
    logprob_body,
    messages_of,
    schema_of,
    thinking_of,
    tools_of,
    usage_of,
)
from engine.server.parts import Text, Thought


class ChatBody(AnswerBody):
    """The body of a request."""

    messages: list[MessageBody]
    top_k: int | None = None
    min_p: float | None = None
    repetition_penalty: float | None = None
    max_completion_tokens: int | None = None
    logprobs: bool | None = None
    top_logprobs: int | None = Field(None, ge=0, le=20)
    tools: list[ToolBody] | None = None
    tool_choice: str | dict[str, Any] | None = None
    response_format: dict[str, Any] | None = None
    reasoning_effort: str | None = None

    def wanted(self) -> AnswerRequest:
        """As the engine is asked. Raises RequestRefused."""
        self.refuse_unsupported()
        options = AnswerOptions(
            tools=tools_of(self.tools), tool_choice=choice_of(self.tool_choice), json=schema_of(self.response_format),
            logprobs=(self.top_logprobs or 0) if self.logprobs else None, whole=True,
        )  # fmt: skip
        sampling = sampling_of(
            temperature=self.temperature, top_p=self.top_p, top_k=self.top_k, min_p=self.min_p,
            repetition_penalty=self.repetition_penalty, seed=self.seed,
            max_tokens=self.max_completion_tokens or self.max_tokens,
        )  # fmt: skip
        return AnswerRequest(
            model=self.model,
            messages=messages_of(self.messages),
            sampling=sampling,
            stop=self.stops,
            thinking=thinking_of(self.reasoning_effort),
            options=options,
        )


class ChatCompletions:
    """The endpoint."""

    def __init__(self, asker: Asker) -> None:
        self._asker = asker

    async def __call__(self, request: Request) -> Response:
        """Answer one request."""
        body = await body_of(request, ChatBody)
        wanted = body.wanted()
        head = {"id": f"chatcmpl-{secrets.token_hex(12)}", "created": int(time.time()), "model": body.model}
        if not body.stream:
            return await http.whole(request, self._whole(wanted, request, head))
        pieces = await primed(self._asker.pieces(wanted, request), request)
        chunk_head = {**head, "object": "chat.completion.chunk"}
        return EventStream(_chunks(pieces, chunk_head, body.usage_wanted, bool(body.logprobs)))

    async def _whole(self, wanted: AnswerRequest, request: Request, head: dict[str, Any]) -> dict[str, Any]:
        found = await self._asker.whole(wanted, request)
        calls = [call_body(call, _ident(head, n)) for n, call in enumerate(found.calls)]
        message: dict[str, Any] = {"role": "assistant", "content": found.text if found.text or not calls else None}
        if found.thought:
            message["reasoning_content"] = found.thought
        if calls:
            message["tool_calls"] = calls
        asked = wanted.options.logprobs is not None
        choice = {
            "index": 0,
            "message": message,
            "logprobs": {"content": [logprob_body(one) for one in found.logprobs]} if asked else None,
            "finish_reason": finish_of(found.stats, bool(calls)),
        }
        return {**head, "object": "chat.completion", "choices": [choice], "usage": usage_of(found.stats)}


def _ident(head: dict[str, Any], number: int) -> str:
    return f"call_{head['id'][9:]}{number}"


async def _chunks(
    pieces: AsyncIterator[AnswerPiece], head: dict[str, Any], usage: bool, logprobs: bool
) -> AsyncIterator[str]:
    def chunk(delta: dict[str, Any], finish: str | None = None, likely: Any = None) -> str:
        choice = {"index": 0, "delta": delta, "logprobs": likely, "finish_reason": finish}
        return sse({**head, "choices": [choice], **({"usage": None} if usage else {})})

    calls = 0
    yield chunk({"role": "assistant", "content": ""})
    try:
        async with contextlib.aclosing(pieces) as coming:  # type: ignore[type-var]
            async for piece in coming:
                for part in piece.parts:
                    if isinstance(part, Thought):
                        yield chunk({"reasoning_content": part.text})
                    elif isinstance(part, Text):
                        likely = {"content": [logprob_body(one) for one in piece.logprobs]} if logprobs else None
                        yield chunk({"content": part.text}, likely=likely)
                    else:
                        yield chunk({"tool_calls": [{"index": calls, **call_body(part, _ident(head, calls))}]})
                        calls += 1
                if piece.stats is not None:
                    yield chunk({}, finish_of(piece.stats, calls > 0))
                    if usage:
                        yield sse({**head, "choices": [], "usage": usage_of(piece.stats)})
    except UnderhillError as error:
        yield sse(error_body(error, http.status_of(error)))
    yield "data: [DONE]\n\n"
