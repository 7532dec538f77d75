"""A chat as the model's own template writes it: messages in the form the template wants, and its switch."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from engine.errors import Kind, UnderhillError
from engine.generation.constraint import as_function, tool_text
from engine.generation.formats.declaration import IN_CONTENT, NOWHERE, PARTS, Calls, Switch, nearest
from engine.generation.formats.speech import Speech
from engine.generation.messages import Message, Tool, ToolCall
from engine.generation.model_files import ModelFiles, Wanted
from engine.generation.turns import Turn, parted, without_thought
from engine.translatable import msg

_PROBE = [{"role": "user", "content": "1"}]


class Rendering:
    """The template of one model. levels: those of its switch that it really tells apart, from least to most.

    usual: the level that it takes by itself, where that is one of them. on: the one that plain thinking means.
    """

    def __init__(self, files: ModelFiles, speech: Speech) -> None:
        """Raises UnderhillError where the template never comes to an end, or takes all memory."""
        self._files = files
        self.template = files.template
        self._speech = speech
        self._as_text = speech.declaration.arguments_as_text and "tojson" not in self.template
        self._reads_calls = "tool_calls" in files.reads.fields
        self._values: dict[str, dict[str, object]] = {}
        self.usual = ""
        if speech.switch is not None:
            self._try(speech.switch)
        self.levels = tuple(self._values) if len(self._values) > 1 else ()
        wanted = speech.switch.on if speech.switch is not None else ""
        self.on = wanted if wanted in self.levels else self.levels[-1] if self.levels else ""

    def _try(self, switch: Switch) -> None:
        """Keep the levels that make a prompt of their own."""
        known: dict[str, str] = {}
        levels = [dict(each.values) for each in switch.levels]
        # where the template refuses a level, or everything, that is told when it is used
        plain, *texts = self._files.tried([Wanted(_PROBE, True, values) for values in ({}, *levels)])
        for each, values, text in zip(switch.levels, levels, texts, strict=True):
            if text is not None and text not in known:
                known[text] = each.name
                self._values[each.name] = values
        self.usual = known.get(plain or "", "")

    def level(self, thinking: bool | str | None) -> str:
        """The level that comes nearest to what is wanted; '' leaves it to the template."""
        return nearest(self.levels, self.on, thinking)

    @property
    def calls_tools(self) -> bool:
        """Whether the model can be told of tools, and its calls be understood."""
        return bool(self.template) and ("tools" in self._files.reads.variables or self._told_in_text is not None)

    @property
    def _told_in_text(self) -> Calls | None:
        """The format of calls that a text about the tools asks for."""
        return next((c for c in self._speech.declaration.calls if c.grammar in ("json", "any")), None)

    def told_of(self, messages: Sequence[Message], tools: Sequence[Tool]) -> Sequence[Message]:
        """The messages, the system's with a text about the tools where the template has no place for them.

        Raises UnderhillError(BAD_REQUEST) where the model would not be understood either.
        """
        if not tools or "tools" in self._files.reads.variables:
            return messages
        calls = self._told_in_text
        if calls is None:
            raise UnderhillError(
                Kind.BAD_REQUEST, msg("This model's chat template takes no tools."), msg("Choose another model.")
            )
        first, rest = (
            (messages[0].content, messages[1:]) if messages[:1] and messages[0].role == "system" else ("", messages)
        )
        return (Message("system", "\n\n".join(filter(None, (first, tool_text(calls, tools))))), *rest)

    def texts(
        self, wanted: Sequence[tuple[Sequence[Message], bool]], level: str, tools: Sequence[Tool] = ()
    ) -> list[str]:
        """Chats as text, each with or without what begins an answer. Raises UnderhillError."""
        if not self.template:  # a base model: plain text, turn after turn
            return ["\n\n".join(without_thought(m.content) for m in messages) for messages, _ in wanted]
        values = dict(self._values.get(level, {}))
        if tools and "tools" in self._files.reads.variables:
            values["tools"] = [as_function(tool) for tool in tools]
        turns = {id(messages): self._turns(messages) for messages, _ in wanted}
        return self._files.written([Wanted(turns[id(messages)], prompt, values) for messages, prompt in wanted])

    def _turns(self, messages: Sequence[Message]) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        names: dict[str, str] = {}
        for at, message in enumerate(messages):
            if message.role == "assistant":
                answered = at + 1 < len(messages) and messages[at + 1].role == "tool" and self._reads_calls
                turn = parted(message.content)
                names |= {call.ident or f"call{n:05d}": call.name for n, call in enumerate(turn.calls)}
                found.append(self._assistant(message, turn, answered))
            elif message.role == "tool":
                name = names.get(message.answers, "")
                found.append(
                    {"role": "tool", "content": message.content, "tool_call_id": message.answers, "name": name}
                )
            else:
                found.append({"role": message.role, "content": _content(message)})
        return found

    def _arguments(self, call: ToolCall) -> Any:
        return json.dumps(call.arguments, ensure_ascii=False) if self._as_text else call.arguments

    def _assistant(self, message: Message, turn: Turn, answered: bool) -> dict[str, Any]:
        """answered: its calls were; otherwise they stand in the text, as templates refuse calls without results."""
        content = turn.answer if answered or not turn.calls else without_thought(message.content)
        said: dict[str, Any] = {"role": "assistant", "content": content}
        if answered and turn.calls:
            said["tool_calls"] = [
                {
                    "id": call.ident or f"call{n:05d}",
                    "type": "function",
                    "function": {"name": call.name, "arguments": self._arguments(call)},
                }
                for n, call in enumerate(turn.calls)
            ]
        field = self._speech.history
        if not turn.thought or field == NOWHERE:
            return said
        if field == PARTS:
            text = [{"type": "text", "text": content}] if content else []
            said["content"] = [{"type": "thinking", "thinking": turn.thought}, *text]
        elif field == IN_CONTENT:
            opens, closes = self._speech.declaration.thoughts[0]
            said["content"] = f"{opens}{turn.thought}{closes}{content}"
        else:
            said[field] = turn.thought
        return said


def _content(message: Message) -> str | list[dict[str, str]]:
    """Of a turn that is no answer: its text, or the places of its pictures and then that."""
    if not message.images:
        return message.content
    text = [{"type": "text", "text": message.content}] if message.content else []
    return [{"type": "image"} for _ in message.images] + text
