"""What a server streams: lines of server-sent events, and the pieces of an answer in them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from engine import limits
from engine.generation import turns
from engine.generation.messages import ToolCall

_FINISHES = {"length": "length"}  # any other end is the model's own
_CALLS = 256  # of one answer


class EventReader:
    """Cuts bytes into the data of server-sent events. Raises ValueError for a line, or an event, without end."""

    def __init__(self) -> None:
        self._rest = b""
        self._data: list[str] = []
        self._held = 0  # bytes in _data

    def feed(self, piece: bytes) -> Iterator[str]:
        """The data of all events that have come to an end."""
        lines = (self._rest + piece).replace(b"\r\n", b"\n").split(b"\n")
        self._rest = lines.pop()
        if len(self._rest) > limits.ENDPOINT_LINE:
            raise ValueError("a line without end")
        for line in lines:
            if not line.strip(b"\r"):
                if self._data:
                    yield "\n".join(self._data)
                self._data, self._held = [], 0
            elif line.startswith(b"data:"):
                self._held += len(line)
                if self._held > limits.ENDPOINT_LINE:
                    raise ValueError("an event without end")
                self._data.append(line[5:].removeprefix(b" ").rstrip(b"\r").decode())


class AnswerBuilder:
    """Puts the pieces of an answer together, in the form of generation.turns. Raises ValueError for nonsense.

    text: all of it. finish: as Stats.finish, '' until the server has said it. calls: once it has.
    """

    def __init__(self) -> None:
        self.text = ""
        self.finish = ""
        self.calls: tuple[ToolCall, ...] = ()
        self.prompt_tokens = self.cached_tokens = self.answer_tokens = 0
        self.thought = False  # it has thought, or does so now
        self.spoken = False  # words of the answer have begun
        self._thinking = False
        self._late = ""  # a thought behind the first words
        self._calls: dict[int, dict[str, str]] = {}

    def take(self, chunk: dict[str, Any]) -> str:
        """One chunk. Returns the text that it adds."""
        before = len(self.text)
        usage = chunk.get("usage")
        if isinstance(usage, dict):
            self._count(usage)
        choices = chunk.get("choices")
        if not isinstance(choices, list):
            raise ValueError("a chunk without choices")
        choice = choices[0] if choices else {}
        delta = choice.get("delta") or choice.get("message") or {}
        thought = delta.get("reasoning_content") or delta.get("reasoning")
        if isinstance(thought, str):
            self._think(thought)
        if isinstance(content := delta.get("content"), str) and content:
            self._say(content)
        for number, call in enumerate(delta.get("tool_calls") or ()):
            self._add_call(int(call.get("index", number) or 0), call)
        if finish := choice.get("finish_reason"):
            self.finish = _FINISHES.get(str(finish), "stop")
        return self.text[before:]

    def end(self) -> str:
        """The server is at its end. Returns the text that is still to come: the calls."""
        before = len(self.text)
        self._end_thought()
        calls = []
        for number in sorted(self._calls):
            said = self._calls[number]
            if self.text and not self.text.endswith("\n"):
                self.text += "\n"
            try:
                arguments = json.loads(said["arguments"] or "{}")
                if not isinstance(arguments, dict):
                    raise ValueError("no object")
            except ValueError:  # what was cut off, or is none: shown as it came
                self.text += turns.block(turns.CALL, said["name"] + " " + said["arguments"])
                continue
            calls.append(ToolCall(said["name"], arguments, said["id"]))
            self.text += turns.written(calls[-1])
        self.calls, self._calls = tuple(calls), {}
        return self.text[before:]

    def _count(self, usage: dict[str, Any]) -> None:
        self.prompt_tokens = _number(usage.get("prompt_tokens"))
        self.answer_tokens = _number(usage.get("completion_tokens"))
        details = usage.get("prompt_tokens_details")
        self.cached_tokens = _number(details.get("cached_tokens")) if isinstance(details, dict) else 0

    def _think(self, text: str) -> None:
        if self.spoken:
            self._late += text
        elif text:
            self.text += text if self._thinking else f"{turns.OPEN}\n{text}"
            self._thinking = self.thought = True

    def _say(self, text: str) -> None:
        if not self.spoken and self._thinking and not text.strip():
            return  # the lines between a thought and its answer
        self._end_thought()
        self.text += text
        self.spoken = True

    def _end_thought(self) -> None:
        if self._thinking:
            self.text += f"\n{turns.CLOSE}\n\n"
            self._thinking = False
        if self._late.strip():
            self.text += ("" if self.text.endswith("\n") else "\n") + turns.block(turns.THOUGHT, self._late.strip())
        self._late = ""

    def _add_call(self, index: int, piece: dict[str, Any]) -> None:
        if index not in self._calls and len(self._calls) >= _CALLS:
            raise ValueError("calls without end")
        call = self._calls.setdefault(index, {"id": "", "name": "", "arguments": ""})
        function = piece.get("function") or {}
        call["id"] = call["id"] or str(piece.get("id") or "")
        call["name"] += str(function.get("name") or "")
        arguments = function.get("arguments")
        call["arguments"] += arguments if isinstance(arguments, str) else json.dumps(arguments) if arguments else ""


def _number(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 40 else 0
