"""Ollama's API: /api/chat, /api/generate, /api/tags, /api/show and /api/version."""

from __future__ import annotations

import contextlib
import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any, Literal

from pydantic import Field
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from engine.errors import UnderhillError
from engine.protocol import AnswerOptions, Message, ModelCard, Stats, ToolCall
from engine.server import http
from engine.server.asking import AnswerPiece, AnswerRequest, Asker, assistant, sampling_of
from engine.server.http import EventStream, RequestRefused, body_of, primed
from engine.server.images import IMAGES, from_base64
from engine.server.openai_common import OpenRequest, ToolBody, called, refuse_unknown, tools_of
from engine.server.openapi import object_of, own_version
from engine.server.parts import AnswerPart, Text, Thought

LINES = "application/x-ndjson"


class OllamaBody(OpenRequest):
    """What both ways to ask have in common."""

    model: str
    stream: bool = True
    format: Literal["", "json"] | dict[str, Any] | None = None
    options: dict[str, Any] = Field(default_factory=dict)
    think: bool | str | None = None

    def sampling(self) -> tuple[dict[str, Any], tuple[str, ...]]:
        """Sampling, and stop texts. Raises RequestRefused."""
        given = self.options
        refuse_unknown({name: given.get(name) for name in ("mirostat", "frequency_penalty", "presence_penalty")})
        most = given.get("num_predict")
        stop = given.get("stop") or ()
        stop = (stop,) if isinstance(stop, str) else tuple(stop)
        if not all(isinstance(text, str) for text in stop):
            raise RequestRefused(400, "stop is a list of texts.", "options.stop")
        sampling = sampling_of(
            temperature=given.get("temperature"), top_p=given.get("top_p"), top_k=given.get("top_k"),
            min_p=given.get("min_p"), repetition_penalty=given.get("repeat_penalty"), seed=given.get("seed"),
            max_tokens=most if isinstance(most, int) and most > 0 else None,
        )  # fmt: skip
        return sampling, stop

    def wanted_schema(self) -> dict[str, Any] | None:
        """As AnswerOptions.json."""
        return {} if self.format == "json" else self.format or None


class OllamaMessage(OpenRequest):
    """One message of a chat."""

    role: Literal["system", "user", "assistant", "tool"]
    content: str = ""
    thinking: str | None = None
    images: list[str] | None = Field(None, description=IMAGES)
    tool_calls: list[dict[str, Any]] | None = None
    tool_name: str | None = None


class OllamaChatBody(OllamaBody):
    """The body of /api/chat."""

    messages: list[OllamaMessage] = Field(default_factory=list)
    tools: list[ToolBody] | None = None

    def wanted(self) -> AnswerRequest:
        """As the engine is asked. Raises RequestRefused."""
        sampling, stop = self.sampling()
        options = AnswerOptions(tools=tools_of(self.tools), json=self.wanted_schema(), whole=True)
        messages = tuple(_message(each) for each in self.messages)
        return AnswerRequest(
            model=self.model, messages=messages, sampling=sampling, stop=stop, thinking=self.think, options=options
        )


class OllamaGenerateBody(OllamaBody):
    """The body of /api/generate."""

    prompt: str = ""
    system: str = ""
    suffix: str = ""
    images: list[str] | None = Field(None, description=IMAGES)
    raw: bool = False

    def wanted(self) -> AnswerRequest:
        """As the engine is asked. Raises RequestRefused."""
        refuse_unknown({"suffix": self.suffix})
        if self.raw and self.images:
            raise RequestRefused(400, "A raw prompt has no place for images.", "images")
        sampling, stop = self.sampling()
        options = AnswerOptions(json=self.wanted_schema(), raw=self.raw, whole=True)
        system = (Message("system", self.system),) if self.system and not self.raw else ()
        return AnswerRequest(
            model=self.model,
            messages=(*system, Message("user", self.prompt, images=_images(self.images, "images"))),
            sampling=sampling,
            stop=stop,
            thinking=self.think,
            options=options,
        )


class Ollama:
    """The endpoints."""

    def __init__(self, asker: Asker) -> None:
        self._asker = asker

    async def chat(self, request: Request) -> Response:
        """/api/chat."""
        body = await body_of(request, OllamaChatBody)
        return await self._answer(request, body, body.wanted(), _chat_part)

    async def generate(self, request: Request) -> Response:
        """/api/generate."""
        body = await body_of(request, OllamaGenerateBody)
        return await self._answer(request, body, body.wanted(), _generated_part)

    async def tags(self, request: Request) -> Response:
        """/api/tags: the models of the library."""
        return JSONResponse({"models": [_listed(card) for card in await self._asker.models()]})

    async def show(self, request: Request) -> Response:
        """/api/show: one of them."""
        given = await body_of(request, ShowBody)
        card = await self._asker.model(given.model or given.name)
        known = {f"{card.family}.context_length": card.context_length, f"{card.family}.expert_count": card.experts}
        return JSONResponse({
            "details": _details(card),
            "capabilities": [
                "completion", "tools", *(["thinking"] if card.thinking else []),
                *(["vision"] if card.reads_images else []),
            ],
            "model_info": {"general.architecture": card.family, "general.parameter_count": card.parameters, **known},
        })  # fmt: skip

    async def version(self, request: Request) -> Response:
        """/api/version: Underhill's own."""
        return JSONResponse({"version": own_version()})

    async def _answer(self, request: Request, body: OllamaBody, wanted: AnswerRequest, part_body: Any) -> Response:
        lines = _objects(self._asker.pieces(wanted, request), body.model, part_body)
        if body.stream:
            return EventStream(_lines(await primed(lines, request)), LINES)
        return await http.whole(request, _together(lines))


class ShowBody(OpenRequest):
    """The body of /api/show; older clients say name."""

    model: str = ""
    name: str = ""


def _message(body: OllamaMessage) -> Message:
    if body.images and body.role != "user":
        raise RequestRefused(400, "Only messages of the user can have images.", "messages")
    if body.role == "assistant":
        calls = [called("", call.get("function", {})) for call in body.tool_calls or []]
        return assistant(body.content, body.thinking or "", calls)
    images = _images(body.images, "messages")
    return Message(body.role, body.content, answers=body.tool_name or "", images=images)


def _images(given: list[str] | None, param: str) -> tuple[bytes, ...]:
    return tuple(from_base64(data, param) for data in given or ())


def _call(call: ToolCall) -> dict[str, Any]:
    return {"function": {"name": call.name, "arguments": call.arguments}}


def _chat_part(part: AnswerPart | None) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": part.text if isinstance(part, Text) else ""}
    if isinstance(part, Thought):
        message["thinking"] = part.text
    elif isinstance(part, ToolCall):
        message["tool_calls"] = [_call(part)]
    return {"message": message}


def _generated_part(part: AnswerPart | None) -> dict[str, Any]:
    said = {"response": part.text if isinstance(part, Text) else ""}
    return said | ({"thinking": part.text} if isinstance(part, Thought) else {})


async def _objects(pieces: AsyncIterator[AnswerPiece], model: str, part_body: Any) -> AsyncIterator[dict[str, Any]]:
    """One object a part, and one that ends it; an empty one at first, once the prompt is being read."""

    def head() -> dict[str, Any]:
        return {"model": model, "created_at": datetime.now(UTC).isoformat(), "done": False}

    async with contextlib.aclosing(pieces) as coming:  # type: ignore[type-var]
        async for piece in coming:
            if not piece.parts and piece.stats is None:
                yield {}
            for part in piece.parts:
                yield {**head(), **part_body(part)}
            if piece.stats is not None:
                yield {**head(), **part_body(None), **_ended(piece.stats)}


def _ended(stats: Stats) -> dict[str, Any]:
    prompt, answer = int(stats.prompt_seconds * 1e9), int(stats.decode_seconds * 1e9)
    return {
        "done": True, "done_reason": "length" if stats.finish in ("length", "context") else "stop",
        "total_duration": prompt + answer, "load_duration": 0, "prompt_eval_count": stats.prompt_tokens,
        "prompt_eval_duration": prompt, "eval_count": len(stats.token_ids), "eval_duration": answer,
    }  # fmt: skip


async def _lines(objects: AsyncIterator[dict[str, Any]]) -> AsyncIterator[str]:
    try:
        async with contextlib.aclosing(objects) as coming:  # type: ignore[type-var]
            async for each in coming:
                if each:
                    yield json.dumps(each, ensure_ascii=False) + "\n"
    except UnderhillError as error:
        yield json.dumps({"error": str(error.message)}, ensure_ascii=False) + "\n"


async def _together(objects: AsyncIterator[dict[str, Any]]) -> dict[str, Any]:
    """All parts in the one that ends it."""
    found: dict[str, Any] = {}
    texts: dict[str, str] = {}
    calls: list[Any] = []
    async with contextlib.aclosing(objects) as coming:  # type: ignore[type-var]
        async for each in coming:
            said = each.get("message", each)
            for name in ("content", "thinking", "response"):
                if said.get(name):
                    texts[name] = texts.get(name, "") + said[name]
            calls += said.get("tool_calls", [])
            found = each or found
    target = found.get("message", found)
    target.update(texts)
    if calls:
        target["tool_calls"] = calls
    return found


def _details(card: ModelCard) -> dict[str, Any]:
    return {
        "format": "underhill", "family": card.family, "families": [card.family],
        "parameter_size": f"{card.parameters / 1e9:.1f}B", "quantization_level": f"{max(card.tiers, default=0)}-bit",
    }  # fmt: skip


def _listed(card: ModelCard) -> dict[str, Any]:
    return {
        "name": card.name, "model": card.name, "modified_at": datetime.fromtimestamp(0, UTC).isoformat(),
        "size": card.disk_bytes, "digest": "", "details": _details(card),
    }  # fmt: skip


ERROR_SCHEMA = object_of(error={"type": "string"})


def error_body(error: UnderhillError, status: int) -> dict[str, Any]:
    """An error in Ollama's form."""
    return {"error": str(error.message)}
