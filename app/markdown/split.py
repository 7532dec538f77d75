"""Splits Markdown, as it streams in, into top-level blocks: what is closed never changes again."""

from __future__ import annotations

import re
from dataclasses import dataclass

_FENCE = re.compile(r"^( {0,3})(`{3,}|~{3,})\s*([\w+#.-]*)[^`]*$")
_HEADING = re.compile(r"^ {0,3}#{1,6}(\s|$)")
_MARKER = re.compile(r"^( {0,3})([-*+]|\d{1,9}[.)])\s+")
ENVIRONMENT = r"\\begin\{((?:align|equation|gather|multline)\*?)\}"  # of formulas that need no delimiters
_MATH = re.compile(rf"^ {{0,3}}(\$\$|\\\[|{ENVIRONMENT})")
FOOTNOTE = re.compile(r"^ {0,3}\[\^([^\]\s]+)\]:")
_RULE = re.compile(r"^ {0,3}([-*_])[ \t]*(\1[ \t]*){2,}$")
_LONE = re.compile(r"^\s*([-=*+]|--|==)\s*$")  # the mark of an item, or of a heading above it
_MARK_SO_FAR = re.compile(r"^\s*([-=*+_#~`]+|\d{1,9}[.)]?)\s*$")  # a line of which nothing but its mark is there
_OPEN, _CLOSE = "<think>", "</think>"  # around a thought, as the engine writes it; it comes first or not at all
LONGEST = 12_000  # characters of a block of prose; what is longer is cut at a line or at a space


@dataclass(frozen=True)
class Block:
    """A piece of a message that stands by itself.

    kind: 'text' (Markdown), 'item' (Markdown, one item of a list), 'code' (the code itself), 'rule' (a line across),
    'math' (a formula on lines of its own, with its delimiters) or 'open' (still growing).

    grows: of an open block, the kind that it has by now. thought: what the model thought before it answered.
    """

    kind: str
    text: str
    language: str = ""
    grows: str = ""
    thought: bool = False

    @property
    def code(self) -> bool:
        """Whether it is code, also while that grows."""
        return "code" in (self.kind, self.grows)

    @property
    def item(self) -> bool:
        """Whether it is an item of a list, also while that grows."""
        return "item" in (self.kind, self.grows)

    def settled(self) -> str:
        """Its Markdown without a mark that its last line begins with, as long as nothing else is there: what it will
        mark is not known, and it may make a heading of the line above."""
        before, newline, last = self.text.rpartition("\n")
        return before if newline and _MARK_SO_FAR.match(last) else self.text

    def written(self) -> str:
        """The block as Markdown."""
        if self.code:
            ticks = "`" * max(3, 1 + max(map(len, re.findall("`+", self.text)), default=0))
            return f"{ticks}{self.language}\n{self.text}\n{ticks}"
        return "---" if self.kind == "rule" else self.text


class Splitter:
    """Incremental block parser: feed text in pieces of any size; read `closed` (only ever appended to) and `open()`."""

    def __init__(self, thoughts: bool = True) -> None:
        """thoughts: the text may begin with one (that of a model may, the user's own does not)."""
        self.closed: list[Block] = []
        self._lines: list[str] = []  # whole lines of the block that is growing
        self._partial = ""  # the line that has not ended yet
        self._kind = "text"
        self._fence = ""  # the fence that is open at top level
        self._math_end = ""  # what ends the formula that is open at top level
        self._language = ""
        self._indent = 0  # spaces before the fence that is open, or was last, inside a list item
        self._blank = False  # the last line was blank
        self._size = 0  # characters in _lines, while they are prose
        self.thinking = False  # inside a thought
        self.thought = False  # there is or was one
        self._begun = not thoughts

    def feed(self, text: str) -> None:
        """Parse more text."""
        *lines, self._partial = (self._partial + text).split("\n")
        for line in lines:
            self._line(line.removesuffix("\r"))

    def finish(self) -> None:
        """Close what is open: no more text is coming.

        Where an answer was stopped behind the mark of its next item, that mark is left out: it would make a heading of
        the line above it.
        """
        if self._partial:
            inside = self._fence or self._math_end
            if inside or not (self._lines and _LONE.match(self._partial)):
                self._line(self._partial)
            self._partial = ""
        if self._fence or self._lines:
            self._close()

    def open(self) -> Block | None:
        """The block that is growing, or None."""
        inside = bool(self._fence)
        partial = self._outdented(self._partial)
        if not self._begun and partial.lstrip().startswith(_OPEN[: len(partial.lstrip())]):
            partial = ""  # it may become a tag
        elif self.thinking:
            partial = partial.partition(_CLOSE)[0]
        text = "\n".join([*self._lines, partial])
        if not text.strip() and not inside:
            return None
        shown = text if inside else text.strip("\n")
        grows = "code" if inside else "math" if self._math_end else self._kind
        if grows == "text" and _MARKER.match(shown):
            grows = "item"  # on its first line, which has not ended
        return Block("open", shown, self._language if inside else "", grows, self.thinking)

    def _line(self, line: str) -> None:
        """Parse a whole line; the tags around a thought are removed."""
        if not self._begun and line.strip():
            self._begun = True
            if line.lstrip().startswith(_OPEN):
                self.thinking = self.thought = True
                line = line.lstrip()[len(_OPEN) :]
        if self.thinking and _CLOSE in line:
            last, _, line = line.partition(_CLOSE)
            if last.strip():
                self._markdown(last)
            if self._lines or self._fence:
                self._close()
            self.thinking = False
            if not line.strip():
                return
        self._markdown(line)

    def _markdown(self, line: str) -> None:
        if self._fence:
            stripped = line.strip()
            if stripped.startswith(self._fence) and set(stripped) == {self._fence[0]}:
                self._close()
            else:
                self._lines.append(self._outdented(line))
            return
        if self._math_end:
            self._math(line)
            return
        if not line.strip():
            self._blank = True
            if self._kind == "item":
                self._lines.append("")  # what follows may still belong to the item
            elif self._lines:
                self._close()
            return
        if not line.startswith((" ", "\t")):
            self._indent = 0
        line = self._outdented(line)
        if self._kind == "item" and self._in_item(line):
            fence = _FENCE.match(line.lstrip())
            if fence:  # code inside an item gets a panel of its own, as code elsewhere does
                self._close()
                self._indent += len(line) - len(line.lstrip())
                self._fence, self._language, self._kind = fence[2], fence[3], "code"
            else:
                self._lines.append(line)
            self._blank = False
            return
        self._start(line)

    def _outdented(self, line: str) -> str:
        """A line without what it is indented by only because it belongs to a list item."""
        spaces = len(line) - len(line.lstrip(" \t"))
        return line[min(spaces, self._indent) :]

    def _in_item(self, line: str) -> bool:
        """Whether the line belongs to the list item that is growing."""
        if line.startswith(("  ", "\t")):
            return True
        starts_other = any(found.match(line) for found in (_MARKER, FOOTNOTE, _FENCE, _HEADING, _RULE))
        return not self._blank and not starts_other

    def _start(self, line: str) -> None:
        """Parse a line at top level: it may end the block that is growing and begin another."""
        fence = _FENCE.match(line)
        rule = _RULE.match(line)
        heading = _HEADING.match(line)
        marker = None if rule else _MARKER.match(line)
        setext = rule and self._lines and self._kind == "text" and set(line.strip()) == {"-"}
        math = _MATH.match(line)
        ends = fence or heading or marker or math or FOOTNOTE.match(line) or (rule and not setext)
        if self._lines and (self._kind == "item" or ends):
            self._close()
        self._blank = False
        if math:
            end = f"\\end{{{math[2]}}}" if math[2] else "$$" if math[1] == "$$" else "\\]"
            self._kind, self._math_end = "math", end
            self._math(line, len(math[0]))
            return
        if fence:
            self._fence, self._language = fence[2], fence[3]
            self._kind = "code"
            return
        if marker:
            self._kind = "item"
        if rule and not setext:
            self.closed.append(Block("rule", "", thought=self.thinking))
            return
        self._add(line)
        if heading or setext:
            self._close()

    def _math(self, line: str, start: int = 0) -> None:
        """Parse a line of a formula; where prose follows the formula on its last line, all of it is prose."""
        self._lines.append(line)
        rest = line[start:].partition(self._math_end)
        if rest[1]:
            if rest[2].strip(" .,;"):
                self._kind = "text"
            self._close()

    def _add(self, line: str) -> None:
        """Add a line of prose. A block that would take long to lay out is cut, but not inside a table."""
        while len(line) > LONGEST and (space := line.rfind(" ", 1, LONGEST)) > 0:
            self._lines.append(line[:space])
            self._close()
            line = line[space + 1 :]
        self._lines.append(line)
        self._size += len(line)
        if self._size > LONGEST and self._kind == "text" and not line.lstrip().startswith("|"):
            self._close()

    def _close(self) -> None:
        text = "\n".join(self._lines)
        if self._fence:
            self.closed.append(Block("code", text, self._language, thought=self.thinking))
        elif text.strip():
            self.closed.append(Block(self._kind, text.rstrip(), thought=self.thinking))
        self._lines, self._kind, self._fence, self._language = [], "text", "", ""
        self._math_end, self._blank, self._size = "", False, 0


def without_thought(text: str) -> str:
    """The answer without the thought before it."""
    return thought_and_answer(text)[1]


def thought_and_answer(text: str) -> tuple[str, str]:
    """What a model thought before it answered, '' where it did not, and the answer."""
    if not text.lstrip().startswith(_OPEN):
        return "", text
    thought, _, answer = text.lstrip()[len(_OPEN) :].partition(_CLOSE)
    return thought.strip(), answer.lstrip("\n")


def split(text: str) -> list[Block]:
    """Split a whole text into blocks."""
    splitter = Splitter()
    splitter.feed(text)
    splitter.finish()
    return splitter.closed
