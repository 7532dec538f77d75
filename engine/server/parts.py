"""An answer as it streams in the form of generation.turns, taken apart: thought, text, and calls of tools."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from engine.generation import turns
from engine.protocol import Tool, ToolCall

_BEFORE, _THOUGHT, _TEXT, _BLOCK = "before", "thought", "text", "block"
_CLOSED = f"\n{turns.CLOSE}"
_BLOCK_OPEN, _BLOCK_CLOSED = turns.FENCE, f"\n{turns.FENCE}"


@dataclass(frozen=True)
class Thought:
    """More of what the model thinks."""

    text: str


@dataclass(frozen=True)
class Text:
    """More of what it says."""

    text: str


AnswerPart = Thought | Text | ToolCall


class TurnSplitter:
    """Text in, parts out; what may become a mark is held back until it is known."""

    def __init__(self, tools: Sequence[Tool], raw: bool = False) -> None:
        """tools: whose schemas say of what type arguments are. raw: all is text."""
        self._schemas = {tool.name: tool.parameters for tool in tools}
        self._state = _TEXT if raw else _BEFORE
        self._raw = raw
        self._held = ""
        self._fresh = True  # nothing of the text was said yet, or nothing since a block
        self._spoke = False  # something of the text was said

    def add(self, text: str) -> list[AnswerPart]:
        """What is known once this has come."""
        self._held += text
        found: list[AnswerPart] = []
        while (parts := self._step()) is not None:
            found += parts
        return found

    def flush(self) -> list[AnswerPart]:
        """What is left when the answer is over."""
        found = self.add("")
        rest, self._held = self._held, ""
        if self._state == _THOUGHT:
            rest = rest.rstrip("\n")
            return [*found, Thought(rest)] if rest else found
        if self._state == _BLOCK:  # cut off inside: as it stands
            rest = f"{turns.FENCE}{rest}"
        return [*found, self._said(rest)] if rest.strip() or (rest and not self._fresh) else found

    def _said(self, text: str) -> Text:
        """More of the text, apart from what stands before a block."""
        apart = "\n\n" if self._fresh and self._spoke else ""
        self._fresh, self._spoke = False, True
        return Text(apart + text)

    def _step(self) -> list[AnswerPart] | None:
        """The parts of one step, None where more has to come first."""
        if self._raw:
            text, self._held = self._held, ""
            return [Text(text)] if text else None
        return {_BEFORE: self._before, _THOUGHT: self._thought, _TEXT: self._text, _BLOCK: self._block}[self._state]()

    def _before(self) -> list[AnswerPart] | None:
        start = self._held.lstrip()
        if not start or (len(start) <= len(turns.OPEN) and f"{turns.OPEN}\n".startswith(start)):
            return None
        if start.startswith(f"{turns.OPEN}\n"):
            self._state, self._held = _THOUGHT, start[len(turns.OPEN) + 1 :]
        else:
            self._state = _TEXT
        return []

    def _thought(self) -> list[AnswerPart] | None:
        text, mark, rest = self._held.partition(_CLOSED)
        if mark:
            self._state, self._held = _TEXT, rest
            return [Thought(text)] if text else []
        return self._safe(len(self._held) - _overlap(self._held, _CLOSED), Thought)

    def _text(self) -> list[AnswerPart] | None:
        if self._fresh:
            self._held = self._held.lstrip("\n")
        at = self._held.find(_BLOCK_OPEN)
        if at >= 0 and (at == 0 or self._held[at - 1] == "\n"):
            said = self._held[:at].rstrip("\n")
            self._state, self._held = _BLOCK, self._held[at + len(_BLOCK_OPEN) :]
            found: list[AnswerPart] = [self._said(said)] if said else []
            self._fresh = True
            return found
        if at >= 0:
            return self._safe(at + len(_BLOCK_OPEN), Text)
        safe = len(self._held) - _overlap(self._held, _BLOCK_OPEN)
        return self._safe(len(self._held[:safe].rstrip("\n")), Text)

    def _safe(self, length: int, kind: type[Thought] | type[Text]) -> list[AnswerPart] | None:
        text, self._held = self._held[:length], self._held[length:]
        if not text:
            return None
        return [Thought(text) if kind is Thought else self._said(text)]

    def _block(self) -> list[AnswerPart] | None:
        kind, line, body = self._held.partition("\n")
        if not line:
            return None
        text, mark, rest = body.partition(_BLOCK_CLOSED)
        if not mark:
            return None
        self._state, self._held = _TEXT, rest
        turn = turns.parted(f"{turns.FENCE}{kind}\n{text}\n{turns.FENCE}\n")
        calls = [typed(call, self._schemas.get(call.name, {})) for call in turn.calls]
        return [
            *([Thought(turn.thought)] if turn.thought else []),
            *([Text(turn.answer)] if turn.answer else []),
            *calls,
        ]


def typed(call: ToolCall, schema: dict[str, Any]) -> ToolCall:
    """The call with arguments of the types that its tool wants, where the model's format only knows texts."""
    known = schema.get("properties", {})
    return ToolCall(
        call.name, {key: _typed(value, known.get(key)) for key, value in call.arguments.items()}, call.ident
    )


def _typed(value: Any, schema: Any) -> Any:
    kind = schema.get("type", "string") if isinstance(schema, dict) else "string"
    if not isinstance(value, str) or kind == "string" or (isinstance(kind, list) and "string" in kind):
        return value
    try:
        return json.loads(value)
    except ValueError:
        return value


def _overlap(text: str, mark: str) -> int:
    """Length of the longest end of `text` that begins `mark`."""
    return next((n for n in range(min(len(mark) - 1, len(text)), 0, -1) if text.endswith(mark[:n])), 0)
