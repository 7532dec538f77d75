"""An answer as it is shown and kept, in one form for all families: a thought, then the answer with what it calls in it.

The thought stands first, between OPEN and CLOSE. A call of a tool stands in the answer as a block of code of its own,
CALL its language, and so does a thought that comes after the answer has begun, as some families have it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from engine.generation.messages import ToolCall

OPEN, CLOSE = "<think>", "</think>"
FENCE = "``````"  # longer than a model's own
CALL, THOUGHT = "tool_call", "thought"
_BLOCK = re.compile(rf"^{FENCE}({CALL}|{THOUGHT})\n(.*?)\n?^{FENCE}[ \t]*\n?", re.M | re.S)


@dataclass(frozen=True)
class Turn:
    """What an assistant said. ended: its thought, if it had one, came to an end."""

    thought: str
    answer: str
    calls: tuple[ToolCall, ...] = ()
    ended: bool = True


def parted(text: str) -> Turn:
    """The parts of a text in that form. A block that is no call stays in the answer."""
    thought, answer, ended = "", text, True
    if text.lstrip().startswith(OPEN):
        thought, mark, answer = text.lstrip()[len(OPEN) :].partition(CLOSE)
        thought, answer, ended = thought.strip("\n"), answer.lstrip("\n"), bool(mark)
    calls: list[ToolCall] = []
    thoughts = [thought] if thought else []

    def taken(found: re.Match[str]) -> str:
        if found[1] == THOUGHT:
            thoughts.append(found[2])
            return ""
        call = _call(found[2])
        if call is None:
            return found[0]
        calls.append(call)
        return ""

    if FENCE in answer:
        answer = _BLOCK.sub(taken, answer)
        if calls or len(thoughts) > bool(thought):
            answer = re.sub(r"\n{3,}", "\n\n", answer).strip("\n")
    return Turn("\n\n".join(thoughts), answer, tuple(calls), ended)


def without_thought(text: str) -> str:
    """The answer alone, with its calls. A thought that was never ended leaves nothing."""
    if not text.lstrip().startswith(OPEN):
        return text
    return text.partition(CLOSE)[2].lstrip("\n")


def without_calls(text: str) -> str:
    """The text without the calls in it."""
    if FENCE not in text:
        return text
    return _BLOCK.sub(lambda found: "" if found[1] == CALL and _call(found[2]) else found[0], text).rstrip("\n")


def with_calls(text: str, calls: Sequence[ToolCall]) -> str:
    """A text as it was before `without_calls`."""
    return "\n\n".join(filter(None, (text, "\n".join(map(written, calls)))))


def block(kind: str, text: str) -> str:
    """A block of that kind, from the beginning of a line."""
    return f"{FENCE}{kind}\n{text}\n{FENCE}\n"


def written(call: ToolCall) -> str:
    """A call as its block."""
    said = {"name": call.name, "arguments": call.arguments} | ({"id": call.ident} if call.ident else {})
    return block(CALL, json.dumps(said, ensure_ascii=False, indent=1))


def _call(text: str) -> ToolCall | None:
    try:
        said = json.loads(text)
        return ToolCall(str(said["name"]), dict(said["arguments"]), str(said.get("id", "")))
    except (ValueError, KeyError, TypeError):
        return None
