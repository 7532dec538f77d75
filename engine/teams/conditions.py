"""Whether a condition of a step holds."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from engine.teams.definition import MESSAGE, Condition
from engine.teams.language import language_of

_FENCE = re.compile(r"^\s*(```|~~~)", re.M)
_CODE_LINE = re.compile(  # what a line of code has, and a sentence has not
    r"[;{}]\s*$|^\s*(def|class|import|from|return|public|private|const|let|var|fn|func|function|package|using)\s+\S"
    r"|^\s*(#include|#!|//|/\*|<\?|</?\w+[^>]*>)|^\s*(if|for|while|switch)\s*\(|^\s*\S+\s*[:+*-]?=\s*\S|=>|->|::"
    r"|^Traceback \(most recent call last\)|^\s+at \S+\(|^\s*\$ \S|^\s*(SELECT|INSERT|UPDATE|CREATE)\s",
)
_LINES = 2000  # that are looked at


@dataclass
class Facts:
    """What conditions are held against: the message, whether files came with it, and what steps have said."""

    message: str
    attached: bool = False
    said: dict[str, str] = field(default_factory=dict)


def holds(condition: Condition, facts: Facts) -> bool:
    """Whether it is so. A step that was not asked has said nothing."""
    text = facts.message if condition.about == MESSAGE else facts.said.get(condition.about, "")
    if condition.test == "language" and not language_of(text):
        return False
    return _is_so(condition, text, facts.attached) is not condition.unless


def may_hold(condition: Condition, facts: Facts, open_steps: Mapping[str, object]) -> bool:
    """Whether it is so, or can still come to be so: what the steps of `open_steps` will say is not known."""
    return condition.about in open_steps or holds(condition, facts)


def has_code(text: str) -> bool:
    """Whether some of it is code: fenced, or two lines that look like it."""
    if _FENCE.search(text):
        return True
    return sum(1 for line in text.splitlines()[:_LINES] if _CODE_LINE.search(line[:500])) >= 2


def _is_so(condition: Condition, text: str, attached: bool) -> bool:
    match condition.test:
        case "attachment":
            return attached
        case "code":
            return has_code(text)
        case "longer":
            return len(text) > condition.length
        case "language":
            return language_of(text) in condition.values
        case "says":
            return _bare(text) in {_bare(value) for value in condition.values}
        case "contains":
            folded = text.casefold()
            return any(value.casefold() in folded for value in condition.values)
    raise ValueError(f"no test: {condition.test!r}")


def _bare(text: str) -> str:
    return text.strip().strip(".!?。！？\"'“”").strip().casefold()
