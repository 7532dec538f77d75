"""OpenAI's /v1/responses. Nothing is kept between two requests: each brings all of its conversation."""

from __future__ import annotations

import contextlib
import secrets
import time
from collections.abc import AsyncIterator, Sequence
from typing import Any, TypeGuard

from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response

from engine.errors import UnderhillError
from engine.protocol import AnswerOptions, Message, Tool, ToolCall
from engine.server import http
from engine.server.asking import AnswerPiece, AnswerRequest, Asker, assistant, sampling_of, tool
from engine.server.http import EventStream, RequestRefused, body_of, primed, sse
from engine.server.images import CONTENT, content_of, text_of
from engine.server.openai_common import OpenRequest, called, choice_of, refuse_unknown, schema_of, thinking_of
from engine.server.response_items import Event, ResponseBuilder

_LOGPROBS = "message.output_text.logprobs"


class ResponseTextBody(OpenRequest):
    """What form the text is to have."""

    format: dict[str, Any] | None = None


class ReasoningBody(OpenRequest):
    """How much to think."""

    effort: str | None = None


class ResponseTool(OpenRequest):
    """A tool that is offered."""

    type: str
    name: str = ""
    description: str | None = None
    parameters: dict[str, Any] | None = None

    def offered(self) -> Tool:
        """As the engine has it. Raises RequestRefused for what only OpenAI itself could run."""
        if self.type != "function":
            raise RequestRefused(400, f"Tools of type {self.type[:60]} are not supported by this server.", "tools")
        return tool(self.name, self.description, self.parameters)


class ResponsesBody(OpenRequest):
    """The body of a request."""

    model: str
    input: str | list[dict[str, Any]] = Field(description=f"A text, or items. Content of a message: {CONTENT}")
    instructions: str | None = None
    stream: bool = False
    temperature: float | None = None
    top_p: float | None = None
    max_output_tokens: int | None = Field(None, ge=1)
    tools: list[ResponseTool] | None = None
    tool_choice: str | dict[str, Any] | None = None
    text: ResponseTextBody | None = None
    reasoning: ReasoningBody | None = None
    include: list[str] | None = None
    top_logprobs: int | None = Field(None, ge=0, le=20)
    metadata: dict[str, Any] | None = None
    previous_response_id: str | None = None
    conversation: str | dict[str, Any] | None = None
    prompt: dict[str, Any] | None = None
    background: bool | None = None

    @property
    def logprobs(self) -> bool:
        """Whether those of the text's tokens are wanted."""
        return _LOGPROBS in (self.include or ()) or bool(self.top_logprobs)

    def wanted(self) -> AnswerRequest:
        """As the engine is asked. Raises RequestRefused."""
        refuse_unknown({
            "previous_response_id": self.previous_response_id, "conversation": self.conversation,
            "prompt": self.prompt, "background": self.background,
        })  # fmt: skip
        tools = tuple(each.offered() for each in self.tools or ())
        schema = schema_of(self.text.format if self.text is not None else None)
        logprobs = (self.top_logprobs or 0) if self.logprobs else None
        options = AnswerOptions(
            tools=tools, tool_choice=choice_of(self.tool_choice), json=schema, logprobs=logprobs, whole=True
        )  # fmt: skip
        sampling = sampling_of(temperature=self.temperature, top_p=self.top_p, max_tokens=self.max_output_tokens)
        thinking = thinking_of(self.reasoning.effort if self.reasoning is not None else None)
        return AnswerRequest(
            model=self.model,
            messages=messages_of(self.instructions, self.input),
            sampling=sampling,
            stop=(),
            thinking=thinking,
            options=options,
        )

    def head(self) -> dict[str, Any]:
        """What of a response is known before the answer."""
        chosen = self.text.format if self.text is not None and self.text.format is not None else {"type": "text"}
        return {
            "id": f"resp_{secrets.token_hex(12)}", "object": "response", "created_at": int(time.time()),
            "model": self.model, "instructions": self.instructions, "temperature": self.temperature,
            "top_p": self.top_p, "max_output_tokens": self.max_output_tokens, "metadata": self.metadata or {},
            "tools": [{"strict": None, **each.model_dump()} for each in self.tools or ()],
            "tool_choice": self.tool_choice or "auto", "parallel_tool_calls": True, "store": False,
            "text": {"format": chosen}, "truncation": "disabled", "previous_response_id": None, "background": False,
            "reasoning": {"effort": self.reasoning.effort if self.reasoning is not None else None, "summary": None},
        }  # fmt: skip


class Responses:
    """The endpoint."""

    def __init__(self, asker: Asker) -> None:
        self._asker = asker

    async def __call__(self, request: Request) -> Response:
        """Answer one request."""
        body = await body_of(request, ResponsesBody)
        wanted, builder = body.wanted(), ResponseBuilder(body.head(), body.logprobs)
        if not body.stream:
            return await http.whole(request, self._whole(wanted, request, builder))
        pieces = await primed(self._asker.pieces(wanted, request), request)
        return EventStream(_events(pieces, builder))

    async def _whole(self, wanted: AnswerRequest, request: Request, builder: ResponseBuilder) -> dict[str, Any]:
        last: Event = {}
        async with contextlib.aclosing(self._asker.pieces(wanted, request)) as pieces:  # type: ignore[type-var]
            async for piece in pieces:
                for event in builder.add(piece):
                    last = event
        found: dict[str, Any] = last["response"]  # of the event that ends it
        return found


async def _events(pieces: AsyncIterator[AnswerPiece], builder: ResponseBuilder) -> AsyncIterator[str]:
    for event in builder.begin():
        yield sse(event, event["type"])
    try:
        async with contextlib.aclosing(pieces) as coming:  # type: ignore[type-var]
            async for piece in coming:
                for event in builder.add(piece):
                    yield sse(event, event["type"])
    except UnderhillError as error:
        for event in builder.fail(error):
            yield sse(event, event["type"])


def messages_of(instructions: str | None, given: str | Sequence[dict[str, Any]]) -> tuple[Message, ...]:
    """Items as messages; instructions stand first, in one message. Raises RequestRefused.

    A turn of the model is several items: what it thought, what it said, what it called.
    """
    items = [{"role": "user", "content": given}] if isinstance(given, str) else given
    system, turns = [instructions] if instructions else [], _Turns()
    for item in items:
        kind, role = item.get("type", "message"), item.get("role")
        if kind == "message" and role in ("system", "developer"):
            system.append(_text(item.get("content")))
        elif kind == "message" and role == "user":
            text, pictures = content_of(_checked(item.get("content")), "input")
            turns.add(Message("user", text, images=pictures))
        elif kind == "function_call_output":
            turns.add(Message("tool", _text(item.get("output")), answers=str(item.get("call_id", ""))))
        elif kind in ("message", "function_call", "reasoning"):
            turns.add_own(kind, item)
        else:
            raise RequestRefused(400, f"Items of type {str(kind)[:60]} are not supported by this server.", "input")
    head = [Message("system", "\n\n".join(system))] if system else []
    return (*head, *turns.end())


class _Turns:
    """The conversation, the items of one turn of the model joined."""

    def __init__(self) -> None:
        self._messages: list[Message] = []
        self._thoughts: list[str] = []
        self._texts: list[str] = []
        self._calls: list[ToolCall] = []

    def add(self, message: Message) -> None:
        """A message of the other side."""
        self.end()
        self._messages.append(message)

    def add_own(self, kind: str, item: dict[str, Any]) -> None:
        """Another item of the model's turn."""
        if kind == "function_call":
            self._calls.append(called(str(item.get("call_id", "")), item))
        elif kind == "reasoning":
            parts = item.get("content")
            self._thoughts += [str(part.get("text", "")) for part in parts] if _are_objects(parts) else []
        elif item.get("role") == "assistant":
            self._texts.append(_text(item.get("content")))
        else:
            raise RequestRefused(400, "The role of a message is user, assistant, system or developer.", "input")

    def end(self) -> list[Message]:
        """All messages; the model's turn is over."""
        if self._thoughts or self._texts or self._calls:
            thought, text = "\n\n".join(self._thoughts), "\n\n".join(self._texts)
            self._messages.append(assistant(text, thought, self._calls))
            self._thoughts, self._texts, self._calls = [], [], []
        return self._messages


def _text(content: object) -> str:
    """The text of an item. Raises RequestRefused."""
    return text_of(_checked(content), "input")


def _checked(content: object) -> str | list[dict[str, Any]] | None:
    """The content of an item, which may be anything. Raises RequestRefused."""
    if content is None or isinstance(content, str) or _are_objects(content):
        return content
    raise RequestRefused(400, "The content of an item is a text, or a list of parts.", "input")


def _are_objects(content: object) -> TypeGuard[list[dict[str, Any]]]:
    return isinstance(content, list) and all(isinstance(part, dict) for part in content)
