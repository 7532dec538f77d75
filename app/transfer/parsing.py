"""JSON piece by piece: to read a large file at once would hold Python's lock, and with it the window, for seconds."""

from __future__ import annotations

import json
import re
from collections.abc import Generator, Iterator
from typing import Any

_decode = json.JSONDecoder().raw_decode
_SPACE = re.compile(r"[ \t\n\r]*")


def parts(text: str) -> Iterator[tuple[str, Any]]:
    """('', element) for each element of a list; (name, value) for each member of an object, and where that is a list
    (name, element) for each of its elements. Each is read when it is asked for. Raises ValueError, RecursionError.
    """
    at = _past(text, 0)
    if text[at : at + 1] == "[":
        at = yield from _elements(text, at, "")
    else:
        at = yield from _members(text, at)
    if at < len(text):
        raise ValueError("more than one value")


def _members(text: str, at: int) -> Generator[tuple[str, Any], None, int]:
    at = _sign(text, at, "{")
    while text[at : at + 1] != "}":
        name, at = _decode(text, at)
        if not isinstance(name, str):
            raise ValueError("a member without a name")
        at = _sign(text, _past(text, at), ":")
        if text[at : at + 1] == "[":
            at = yield from _elements(text, at, name)
        else:
            value, at = _decode(text, at)
            yield name, value
            at = _past(text, at)
        at = _next(text, at, "}")
    return _past(text, at + 1)


def _elements(text: str, at: int, name: str) -> Generator[tuple[str, Any], None, int]:
    at = _sign(text, at, "[")
    while text[at : at + 1] != "]":
        value, at = _decode(text, at)
        yield name, value
        at = _next(text, _past(text, at), "]")
    return _past(text, at + 1)


def _next(text: str, at: int, end: str) -> int:
    """Where the next one begins, or the end stands."""
    if text[at : at + 1] == end:
        return at
    at = _sign(text, at, ",")
    if text[at : at + 1] == end:
        raise ValueError("nothing behind a comma")
    return at


def _sign(text: str, at: int, sign: str) -> int:
    if text[at : at + 1] != sign:
        raise ValueError(f"no {sign} at {at}")
    return _past(text, at + 1)


def _past(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    assert found is not None
    return found.end()
