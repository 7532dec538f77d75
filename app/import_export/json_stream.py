"""Streaming JSON parser: holds one element in memory at a time, however long the file is."""

from __future__ import annotations

import json
import re
from collections.abc import Generator, Iterator
from typing import IO, Any

CHUNK = 1 << 20  # characters read at a time, at least
MAX_ELEMENT = 32 << 20  # characters of one chat; the longest that people have take a few million
_LONGEST_WORD = 16  # characters: an error nearer to the end of the text may be only that the rest is not read yet
_decode = json.JSONDecoder().raw_decode
_SPACE = re.compile(r"[ \t\n\r]*")


class ElementTooLong(ValueError):
    """An element is longer than the limit."""


def parts(source: IO[str]) -> Iterator[tuple[str, Any]]:
    """('', element) for each element of a list; (name, value) for each member of an object, and where that is a list
    (name, element) for each of its elements. Each is read when it is asked for. Raises ValueError, RecursionError.
    """
    text = _Window(source)
    if text.sees("["):
        yield from _elements(text, "")
    else:
        yield from _members(text)
    if text.more():
        raise ValueError("more than one value")


def _members(text: _Window) -> Generator[tuple[str, Any]]:
    text.take("{")
    while not text.sees("}"):
        name = text.value()
        if not isinstance(name, str):
            raise ValueError("a member without a name")
        text.take(":")
        if text.sees("["):
            yield from _elements(text, name)
        else:
            yield name, text.value()
        _next(text, "}")
    text.take("}")


def _elements(text: _Window, name: str) -> Generator[tuple[str, Any]]:
    text.take("[")
    while not text.sees("]"):
        yield name, text.value()
        _next(text, "]")
    text.take("]")


def _next(text: _Window, end: str) -> None:
    """Skip to the next element, or to the end."""
    if not text.sees(end):
        text.take(",")
        if text.sees(end):
            raise ValueError("nothing behind a comma")


class _Window:
    """Part of a text that is in memory. Every call first skips white space."""

    def __init__(self, source: IO[str]) -> None:
        self._source, self._text, self._at, self._ended = source, "", 0, False

    def more(self) -> bool:
        """Whether anything but white space is left."""
        while True:
            found = _SPACE.match(self._text, self._at)
            assert found is not None
            self._at = found.end()
            if self._at < len(self._text):
                return True
            if not self._read(CHUNK):
                return False

    def sees(self, sign: str) -> bool:
        """Whether this sign comes next."""
        return self.more() and self._text[self._at] == sign

    def take(self, sign: str) -> None:
        """Skip this sign."""
        if not self.sees(sign):
            raise ValueError(f"no {sign}")
        self._at += 1

    def value(self) -> Any:
        """Read one value. What ends too early is tried again with twice the text, so that all tries together cost
        twice the last; a number at the end of the text may go on, too."""
        self.more()
        while True:
            long = len(self._text) - self._at
            try:
                value, end = _decode(self._text, self._at)
                if end < len(self._text) or self._ended:
                    self._at = end
                    return value
            except json.JSONDecodeError as e:
                cut = e.pos > len(self._text) - _LONGEST_WORD or e.msg.startswith("Unterminated")
                if self._ended or not cut:
                    raise
            if long > MAX_ELEMENT:
                raise ElementTooLong(f"more than {MAX_ELEMENT} characters")
            self._read(max(CHUNK, long))

    def _read(self, count: int) -> bool:
        new = self._source.read(count)
        self._ended = len(new) < count
        self._text, self._at = self._text[self._at :] + new, 0
        return bool(new)
