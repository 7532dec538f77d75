"""What OpenAI's endpoints have in common: messages, tools, usage, errors."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from engine.errors import Kind, UnderhillError
from engine.protocol import Message, Stats, TokenLogprob, Tool, ToolCall
from engine.server import images
from engine.server.asking import assistant, tool
from engine.server.http import RequestRefused
from engine.server.images import content_of, text_of
from engine.server.openapi import object_of

_TYPES = {401: "authentication_error", 404: "not_found_error", 429: "rate_limit_error"}


class OpenRequest(BaseModel):
    """What is not declared is of no consequence here and left aside."""

    model_config = ConfigDict(extra="ignore", strict=False)


class StreamOptions(OpenRequest):
    """Of a stream."""

    include_usage: bool = False


class AnswerBody(OpenRequest):
    """What both kinds of completions are asked with: the model, and how its tokens are drawn."""

    model: str
    stream: bool = False
    stream_options: StreamOptions | None = None
    temperature: float | None = None
    top_p: float | None = None
    seed: int | None = None
    max_tokens: int | None = None
    stop: str | list[str] | None = None
    n: int | None = Field(None, ge=1)
    frequency_penalty: float | None = None
    presence_penalty: float | None = None
    logit_bias: dict[str, float] | None = None

    @property
    def stops(self) -> tuple[str, ...]:
        """The texts that end the answer."""
        return (self.stop,) if isinstance(self.stop, str) else tuple(self.stop or ())

    @property
    def usage_wanted(self) -> bool:
        """Whether a stream is to end with its usage."""
        return self.stream_options is not None and self.stream_options.include_usage

    def refuse_unsupported(self, **further: object) -> None:
        """Refuse what would change the answer and is not there. further: as of `refuse_unknown`."""
        refuse_unknown({
            **further, "n": (self.n or 1) - 1, "logit_bias": self.logit_bias,
            "frequency_penalty": self.frequency_penalty, "presence_penalty": self.presence_penalty,
        })  # fmt: skip


class FunctionBody(OpenRequest):
    """A function that is offered."""

    name: str
    description: str | None = None
    parameters: dict[str, Any] | None = None


class ToolBody(OpenRequest):
    """A tool that is offered."""

    type: Literal["function"] = "function"
    function: FunctionBody


class CalledBody(OpenRequest):
    """A call that was made. arguments: JSON, as OpenAI has it, or an object."""

    id: str = ""
    function: dict[str, Any]


class MessageBody(OpenRequest):
    """One message of a chat."""

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | list[dict[str, Any]] | None = Field(None, description=images.CONTENT)
    reasoning_content: str | None = None
    reasoning: str | None = None
    tool_calls: list[CalledBody] | None = None
    tool_call_id: str | None = None
    name: str | None = None


def messages_of(bodies: Sequence[MessageBody]) -> tuple[Message, ...]:
    """Messages as the engine has them; instructions stand first, in one message. Raises RequestRefused."""
    system = [text_of(b.content) for b in bodies if b.role in ("system", "developer")]
    rest = [b for b in bodies if b.role not in ("system", "developer")]
    found = [Message("system", "\n\n".join(system))] if system else []
    for body in rest:
        if body.role == "assistant":
            calls = [called(c.id, c.function) for c in body.tool_calls or []]
            thought = body.reasoning_content or body.reasoning or ""
            found.append(assistant(text_of(body.content), thought, calls))
        elif body.role in ("tool", "function"):
            found.append(Message("tool", text_of(body.content), answers=body.tool_call_id or body.name or ""))
        else:
            text, pictures = content_of(body.content, "messages")
            found.append(Message("user", text, images=pictures))
    return tuple(found)


def called(ident: str, function: dict[str, Any]) -> ToolCall:
    """A call that was made in a former turn. Raises RequestRefused."""
    arguments = function.get("arguments", {})
    try:
        arguments = json.loads(arguments) if isinstance(arguments, str) and arguments.strip() else arguments or {}
    except (ValueError, RecursionError):
        arguments = None
    if not isinstance(arguments, dict) or not isinstance(function.get("name"), str):
        raise RequestRefused(400, "A tool call has a name, and arguments that are a JSON object.", "messages")
    return ToolCall(function["name"], arguments, ident)


def tools_of(bodies: Sequence[ToolBody] | None) -> tuple[Tool, ...]:
    """Tools as the engine has them. Raises RequestRefused."""
    return tuple(tool(b.function.name, b.function.description, b.function.parameters) for b in bodies or ())


def choice_of(given: str | dict[str, Any] | None) -> str:
    """tool_choice as AnswerOptions has it. Raises RequestRefused."""
    if given is None:
        return "auto"
    if isinstance(given, str):
        if given not in ("auto", "none", "required"):
            raise RequestRefused(400, "tool_choice is auto, none, required, or names a function.", "tool_choice")
        return given
    function = given.get("function", given)
    name = function.get("name") if isinstance(function, dict) else None
    if not isinstance(name, str) or name in ("auto", "none", "required"):
        raise RequestRefused(400, "tool_choice names no function.", "tool_choice")
    return name


def schema_of(response_format: dict[str, Any] | None) -> dict[str, Any] | None:
    """response_format as AnswerOptions.json has it. Raises RequestRefused."""
    kind = (response_format or {}).get("type", "text")
    if response_format is None or kind == "text":
        return None
    if kind == "json_object":
        return {}
    inner = response_format.get("json_schema", response_format)
    schema = inner.get("schema") if isinstance(inner, dict) else None
    if kind != "json_schema" or not isinstance(schema, dict):
        raise RequestRefused(400, "response_format is text, json_object, or a json_schema.", "response_format")
    return schema


def thinking_of(effort: str | None) -> str | None:
    """reasoning_effort as Generate.thinking has it."""
    return {"none": "off"}.get(effort, effort) if effort is not None else None


def finish_of(stats: Stats, called_tools: bool) -> str:
    """Why it ended, in OpenAI's words."""
    if called_tools:
        return "tool_calls"
    return "length" if stats.finish in ("length", "context") else "stop"


def usage_of(stats: Stats) -> dict[str, Any]:
    """Tokens, counted."""
    return {
        "prompt_tokens": stats.prompt_tokens,
        "completion_tokens": len(stats.token_ids),
        "total_tokens": stats.prompt_tokens + len(stats.token_ids),
        "prompt_tokens_details": {"cached_tokens": stats.reused_tokens},
    }


def call_body(call: ToolCall, ident: str) -> dict[str, Any]:
    """A call as an answer has it."""
    arguments = json.dumps(call.arguments, ensure_ascii=False)
    return {"id": call.ident or ident, "type": "function", "function": {"name": call.name, "arguments": arguments}}


def logprob_body(one: TokenLogprob) -> dict[str, Any]:
    """A token's log probability, with those of the likeliest."""
    top = [{"token": text, "logprob": value, "bytes": list(text.encode())} for text, value in one.top]
    return {"token": one.text, "logprob": one.logprob, "bytes": list(one.text.encode()), "top_logprobs": top}


ERROR_SCHEMA = object_of(error=object_of(message={"type": "string"}, type={"type": "string"}))


def error_body(error: UnderhillError, status: int) -> dict[str, Any]:
    """An error in OpenAI's form."""
    kind = _TYPES.get(status, "invalid_request_error" if status < 500 else "server_error")
    code = (
        "context_length_exceeded" if error.kind is Kind.CONTEXT_FULL else "model_not_found" if status == 404 else None
    )
    param = error.param if isinstance(error, RequestRefused) else None
    return {"error": {"message": str(error.message), "type": kind, "param": param, "code": code}}


def refuse_unknown(given: dict[str, object]) -> None:
    """Refuse what would change the answer and is not there. given: by name, empty or 0 where nothing is asked for."""
    for name, value in given.items():
        if value:
            raise RequestRefused(400, f"{name} is not supported by this server.", name)
