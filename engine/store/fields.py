"""Reading untrusted JSON: every value is checked for type and range before it is believed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from engine.regular_file import parse_json
from engine.store.problems import broken
from engine.translatable import msg

# What reading a damaged file of our own raises: endless nesting and endless numbers among it.
DAMAGED = (OSError, ValueError, KeyError, TypeError, AttributeError, ArithmeticError, RecursionError)


class Fields:
    """A JSON object whose values are taken out by name, type and range; `where` names it in error messages."""

    def __init__(self, value: Any, where: str) -> None:
        if not isinstance(value, Mapping):
            raise broken(msg("{where} is not a JSON object", where=where))
        self._values = value
        self.where = where

    def _take(self, name: str) -> Any:
        if name not in self._values:
            raise broken(msg("{where} lacks {name}", where=self.where, name=repr(name)))
        return self._values[name]

    def has(self, name: str) -> bool:
        """Whether there is such a value."""
        return name in self._values

    def optional(self, name: str) -> Any:
        """Whatever there is; None where there is nothing."""
        return self._values.get(name)

    def integer(self, name: str, low: int = 0, high: int = 2**62) -> int:
        """A whole number from low to high."""
        return whole(self._take(name), lambda: msg("{name} in {where}", name=repr(name), where=self.where), low, high)

    def number(self, name: str, low: float = 0.0) -> float:
        """A finite number of at least `low`."""
        value = self._take(name)
        # JSON of Python's knows NaN and Infinity: neither is within these bounds. A bool is an int to Python, and none
        # here.
        if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value < 1e300:
            raise broken(msg("{name} in {where} is not a number in range", name=repr(name), where=self.where))
        return float(value)

    def text(self, name: str) -> str:
        """A string."""
        value = self._take(name)
        if not isinstance(value, str):
            raise broken(msg("{name} in {where} is not text", name=repr(name), where=self.where))
        return value

    def file_name(self, name: str) -> str:
        """The name of a file in the store's own directory: no separators, nothing that leads elsewhere."""
        value = self.text(name)
        if not value or value.startswith(".") or any(c in value for c in "/\\:\0"):
            raise broken(msg("{name} in {where} is not a plain file name", name=repr(name), where=self.where))
        return value

    def flag(self, name: str) -> bool:
        """True or false."""
        value = self._take(name)
        if not isinstance(value, bool):
            raise broken(msg("{name} in {where} is not true or false", name=repr(name), where=self.where))
        return value

    def array(self, name: str, longest: int = 1_000_000) -> list[Any]:
        """A list of at most `longest` items."""
        value = self._take(name)
        if not isinstance(value, list) or len(value) > longest:
            raise broken(
                msg(
                    "{name} in {where} is not a list of at most {longest} items",
                    name=repr(name),
                    where=self.where,
                    longest=longest,
                )
            )
        return value

    def mapping(self, name: str) -> dict[str, Any]:
        """A JSON object, taken as it is."""
        value = self._take(name)
        if not isinstance(value, dict):
            raise broken(msg("{name} in {where} is not a JSON object", name=repr(name), where=self.where))
        return value


def whole(value: Any, what: Callable[[], str], low: int = 0, high: int = 2**62) -> int:
    """`value` as a whole number from low to high, or UnderhillError(BROKEN_FILE) naming it.

    what: asked where it is none only: a manifest has some of these for each of thousands of experts.
    """
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise broken(msg("{what} is not a whole number from {low} to {high}", what=what(), low=low, high=high))
    return value


def parse(text: bytes, where: str) -> Any:
    """JSON of untrusted text; raises UnderhillError(BROKEN_FILE)."""
    try:
        return parse_json(text)
    except ValueError as cause:
        raise broken(msg("{where} is not readable JSON", where=where)) from cause
