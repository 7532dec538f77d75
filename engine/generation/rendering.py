"""A chat as the model's own template writes it: messages in the form the template wants, and its switch."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from engine.generation.formats.declaration import IN_CONTENT, NOWHERE, PARTS, Switch, nearest
from engine.generation.formats.speech import Speech
from engine.generation.messages import Message, ToolCall
from engine.generation.model_files import ModelFiles, Wanted
from engine.generation.turns import Turn, parted, without_thought

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

    def texts(self, wanted: Sequence[tuple[Sequence[Message], bool]], level: str) -> list[str]:
        """Chats as text, each with or without what begins an answer. Raises UnderhillError."""
        if not self.template:  # a base model: plain text, turn after turn
            return ["\n\n".join(without_thought(m.content) for m in messages) for messages, _ in wanted]
        values = self._values.get(level, {})
        turns = {id(messages): self._turns(messages) for messages, _ in wanted}
        return self._files.written([Wanted(turns[id(messages)], prompt, values) for messages, prompt in wanted])

    def _turns(self, messages: Sequence[Message]) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        names: dict[str, str] = {}
        for at, message in enumerate(messages):
            if message.role == "assistant":
                answered = at + 1 < len(messages) and messages[at + 1].role == "tool"
                turn = parted(message.content)
                names |= {call.ident or f"call{n:05d}": call.name for n, call in enumerate(turn.calls)}
                found.append(self._assistant(message, turn, answered))
            elif message.role == "tool":
                name = names.get(message.answers, "")
                found.append(
                    {"role": "tool", "content": message.content, "tool_call_id": message.answers, "name": name}
                )
            else:
                found.append({"role": message.role, "content": message.content})
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
