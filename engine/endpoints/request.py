"""What an endpoint is asked: a chat in the words of OpenAI's API."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from engine import settings
from engine.endpoints.definition import Endpoint
from engine.generation import turns
from engine.generation.messages import FREE, AnswerOptions, Message

_EXTRAS = ("top_k", "min_p", "repetition_penalty")  # that OpenAI's own API does not know: sent where they do something


@dataclass(frozen=True)
class ChatRequest:
    """messages, sampling, stop, options: as of protocol.Generate."""

    messages: tuple[Message, ...]
    sampling: dict[str, Any] = field(default_factory=dict)
    stop: tuple[str, ...] = ()
    options: AnswerOptions = FREE


def body(endpoint: Endpoint, request: ChatRequest) -> dict[str, Any]:
    """The JSON that is sent. Raises UnderhillError(BAD_REQUEST) for settings out of range."""
    chosen = settings.validated(request.sampling, settings.SAMPLING)
    defaults = {s.name: s.default for s in settings.SAMPLING}
    made: dict[str, Any] = {
        "model": endpoint.model,
        "messages": spoken(request.messages),
        "stream": True,
        "stream_options": {"include_usage": True},
        "temperature": chosen["temperature"],
        "top_p": chosen["top_p"],
        "max_tokens": chosen["max_tokens"],
    }
    made |= {name: chosen[name] for name in _EXTRAS if chosen[name] != defaults[name]}
    if "repetition_penalty" in made:
        made["repeat_penalty"] = made["repetition_penalty"]  # what llama.cpp's server calls it
    if chosen["seed"] is not None:
        made["seed"] = chosen["seed"]
    if request.stop:
        made["stop"] = list(request.stop)
    return made | _options(request.options)


def _options(options: AnswerOptions) -> dict[str, Any]:
    made: dict[str, Any] = {}
    if options.tools:
        made["tools"] = [
            {"type": "function", "function": {
                "name": tool.name, "description": tool.description,
                "parameters": tool.parameters or {"type": "object", "properties": {}},
            }}
            for tool in options.tools
        ]  # fmt: skip
        if options.tool_choice != "auto":
            named = options.tool_choice not in ("none", "required")
            function = {"type": "function", "function": {"name": options.tool_choice}}
            made["tool_choice"] = function if named else options.tool_choice
    if options.json is not None:
        schema = {"name": "answer", "schema": options.json, "strict": True}
        made["response_format"] = (
            {"type": "json_schema", "json_schema": schema} if options.json else {"type": "json_object"}
        )
    return made


def spoken(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """Messages as the API has them: without thoughts, calls of tools as such."""
    made: list[dict[str, Any]] = []
    for number, message in enumerate(messages):
        if message.role == "tool":
            made.append({"role": "tool", "tool_call_id": message.answers or _asked(made), "content": message.content})
        elif message.role == "assistant":
            turn = turns.parted(message.content)
            said: dict[str, Any] = {"role": "assistant", "content": turn.answer}
            if turn.calls:
                said["tool_calls"] = [
                    {"id": call.ident or f"call_{number}_{n}", "type": "function", "function": {
                        "name": call.name, "arguments": json.dumps(call.arguments, ensure_ascii=False),
                    }}
                    for n, call in enumerate(turn.calls)
                ]  # fmt: skip
            made.append(said)
        else:
            made.append({"role": message.role, "content": _content(message)})
    return made


def _content(message: Message) -> str | list[dict[str, Any]]:
    """The text, or parts: pictures as data URLs, and behind them the text."""
    if not message.images:
        return message.content
    parts: list[dict[str, Any]] = [{"type": "image_url", "image_url": {"url": data_url(i)}} for i in message.images]
    return [*parts, {"type": "text", "text": message.content}] if message.content else parts


def data_url(image: bytes) -> str:
    """A PNG, JPEG or WebP file as a data URL."""
    kind = "png" if image.startswith(b"\x89PNG") else "webp" if image.startswith(b"RIFF") else "jpeg"
    return f"data:image/{kind};base64,{base64.b64encode(image).decode('ascii')}"


def _asked(made: list[dict[str, Any]]) -> str:
    """Id of the call that a result without one is of: the first that has none yet."""
    answered = {each["tool_call_id"] for each in made if each["role"] == "tool"}
    calls = (call["id"] for each in made for call in each.get("tool_calls", ()))
    return next((ident for ident in calls if ident not in answered), "call")
