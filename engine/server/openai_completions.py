"""OpenAI's /v1/completions: text goes on, without a chat template."""

from __future__ import annotations

import contextlib
import secrets
import time
from collections.abc import AsyncIterator, Sequence
from typing import Any

from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response

from engine.errors import UnderhillError
from engine.protocol import AnswerOptions, Message, TokenLogprob
from engine.server import http
from engine.server.asking import AnswerPiece, AnswerRequest, Asker, sampling_of
from engine.server.http import EventStream, RequestRefused, body_of, primed, sse
from engine.server.openai_common import AnswerBody, error_body, finish_of, usage_of
from engine.server.parts import Text

_USUAL = 16  # tokens, where a request names no length, as OpenAI has it


class CompletionBody(AnswerBody):
    """The body of a request."""

    prompt: str | list[str]
    logprobs: int | None = Field(None, ge=0, le=20)
    echo: bool = False
    best_of: int | None = Field(None, ge=1)
    suffix: str | None = None

    def wanted(self) -> AnswerRequest:
        """As the engine is asked. Raises RequestRefused."""
        self.refuse_unsupported(best_of=(self.best_of or 1) - 1, suffix=self.suffix, echo=self.echo)
        prompts = [self.prompt] if isinstance(self.prompt, str) else self.prompt
        if len(prompts) != 1:
            raise RequestRefused(400, "One prompt can be sent at a time.", "prompt")
        sampling = sampling_of(
            temperature=self.temperature, top_p=self.top_p, seed=self.seed, max_tokens=self.max_tokens or _USUAL
        )
        options = AnswerOptions(logprobs=self.logprobs, raw=True, whole=True)
        return AnswerRequest(
            model=self.model,
            messages=(Message("user", prompts[0]),),
            sampling=sampling,
            stop=self.stops,
            options=options,
        )


class Completions:
    """The endpoint."""

    def __init__(self, asker: Asker) -> None:
        self._asker = asker

    async def __call__(self, request: Request) -> Response:
        """Answer one request."""
        body = await body_of(request, CompletionBody)
        wanted = body.wanted()
        head = {
            "id": f"cmpl-{secrets.token_hex(12)}", "object": "text_completion", "created": int(time.time()),
            "model": body.model,
        }  # fmt: skip
        if not body.stream:
            return await http.whole(request, self._whole(wanted, request, head))
        pieces = await primed(self._asker.pieces(wanted, request), request)
        return EventStream(_chunks(pieces, head, body.usage_wanted))

    async def _whole(self, wanted: AnswerRequest, request: Request, head: dict[str, Any]) -> dict[str, Any]:
        found = await self._asker.whole(wanted, request)
        choice = {
            "index": 0, "text": found.text, "finish_reason": finish_of(found.stats, False),
            "logprobs": _logprobs(found.logprobs) if wanted.options.logprobs is not None else None,
        }  # fmt: skip
        return {**head, "choices": [choice], "usage": usage_of(found.stats)}


def _logprobs(tokens: Sequence[TokenLogprob]) -> dict[str, Any]:
    at, offsets = 0, []
    for one in tokens:
        offsets.append(at)
        at += len(one.text)
    return {
        "tokens": [one.text for one in tokens], "token_logprobs": [one.logprob for one in tokens],
        "top_logprobs": [dict(one.top) for one in tokens], "text_offset": offsets,
    }  # fmt: skip


async def _chunks(pieces: AsyncIterator[AnswerPiece], head: dict[str, Any], usage: bool) -> AsyncIterator[str]:
    def chunk(text: str, finish: str | None = None, tokens: Sequence[TokenLogprob] = ()) -> str:
        likely = _logprobs(tokens) if tokens else None
        return sse({**head, "choices": [{"index": 0, "text": text, "logprobs": likely, "finish_reason": finish}]})

    try:
        async with contextlib.aclosing(pieces) as coming:  # type: ignore[type-var]
            async for piece in coming:
                for part in piece.parts:
                    if isinstance(part, Text):
                        yield chunk(part.text, tokens=piece.logprobs)
                if piece.stats is not None:
                    yield chunk("", finish_of(piece.stats, False))
                    if usage:
                        yield sse({**head, "choices": [], "usage": usage_of(piece.stats)})
    except UnderhillError as error:
        yield sse(error_body(error, http.status_of(error)))
    yield "data: [DONE]\n\n"
