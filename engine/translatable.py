"""What the engine says to people: a key in English with arguments, so that it can be said in another language.

``msg("{name} is missing.", name=path.name)`` is the English text, and remembers its key and arguments. Whoever shows
it may translate the key and put the arguments in again (app.i18n); the terminal prints it as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

HOLE = re.compile(r"\{(\w+)\}")
LONGEST = 1000  # characters of what stands in a hole; a path of 4096 is not read to its end


class Translatable(str):
    """English text that remembers its key and arguments; a text added on either side keeps them.

    key: English with {named} holes; translations are found by it. arguments: what stands in the holes: a Translatable
    where it has words of its own, otherwise a name, path or figure, which is the same in every language.
    """

    key: str
    arguments: Mapping[str, str]

    def __new__(cls, key: str, arguments: Mapping[str, str]) -> Translatable:
        text = HOLE.sub(lambda hole: arguments.get(hole[1], hole[0]), key) if arguments else key
        made = super().__new__(cls, text)
        made.key, made.arguments = key, arguments
        return made

    def __getnewargs__(self) -> tuple[str, Mapping[str, str]]:  # type: ignore[override]
        return self.key, self.arguments

    def __add__(self, other: str) -> Translatable:
        return joined("", (self, other))

    def __radd__(self, other: str) -> Translatable:
        return joined("", (other, self))

    def bounded(self) -> Translatable:
        """The same with `readable` arguments, since files' own words may stand there."""
        bound = {
            name: a.bounded() if isinstance(a, Translatable) else readable(a) for name, a in self.arguments.items()
        }
        return Translatable(self.key, bound) if bound else self


def msg(key: str, /, **arguments: object) -> Translatable:
    """A text for people. key: a literal, which app.i18n.build collects. arguments: Translatables stay so, also in an
    exception; anything else is shown as `str` makes it.
    """
    return Translatable(key, {name: _text(argument) for name, argument in arguments.items()})


def _text(argument: object) -> str:
    if isinstance(argument, BaseException) and len(argument.args) == 1:
        return _text(argument.args[0])
    return argument if isinstance(argument, str) else str(argument)


def joined(separator: str, parts: Iterable[str]) -> Translatable:
    """Texts one after the other; empty ones are left out."""
    every = [part for part in parts if part]
    if len(every) == 1 and isinstance(every[0], Translatable):
        return every[0]
    holes = separator.join(f"{{{n}}}" for n in range(len(every)))
    return Translatable(holes, {str(n): part for n, part in enumerate(every)})


def translated(text: str) -> Translatable:
    """A text that is in the reader's language already, or in none: a name."""
    return Translatable(text, {})


def system_reason(cause: OSError) -> Translatable:
    """What the system said when it refused a file, such as "Permission denied"; Windows' full stop is left out."""
    return Translatable((cause.strerror or str(cause)).rstrip(".。"), {})


def as_json(text: str) -> str | dict[str, object]:
    """A text as plain data, for `from_json`: to be kept in a file, or sent to another process."""
    if not isinstance(text, Translatable):
        return text
    return {"key": text.key, "arguments": {name: as_json(argument) for name, argument in text.arguments.items()}}


def from_json(plain: object) -> Translatable:
    """What `as_json` made. Raises ValueError for anything else."""
    made = _from_json(plain)
    return made if isinstance(made, Translatable) else translated(made)


def _from_json(plain: object) -> str:
    if isinstance(plain, str):
        return plain
    match plain:
        case {"key": str(key), "arguments": dict(arguments)}:
            return Translatable(key, {str(name): _from_json(each) for name, each in arguments.items()})
    raise ValueError(f"not a text: {plain!r}")


def readable(text: str) -> str:
    """The same for people: at most a few lines, of printed characters.

    Names in files may be as long as whoever wrote them liked, and hold what moves a terminal's cursor.
    """
    if not text.isprintable():
        text = "".join(c if c.isprintable() or c == "\n" else "\N{REPLACEMENT CHARACTER}" for c in text)
    return text if len(text) <= LONGEST else f"{text[: LONGEST // 2]} … {text[-LONGEST // 2 :]}"


def quoted(value: object) -> str:
    """What somebody typed, in quotes if it is text: what prints nothing is escaped, backslashes of paths are not."""
    return repr(value).replace("\\\\", "\\")


NO_TEXT = msg("")
