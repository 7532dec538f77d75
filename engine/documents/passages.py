"""Cuts texts into passages: some paragraphs below one heading, short enough for the encoder to read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import PurePath

from engine.documents.reading import Page
from engine.documents.terms import spaceless

GOOD = 120  # tokens, about: from here on a passage ends with its paragraph
MOST = 220  # tokens, about: the encoder reads 256
_MARKDOWN = (".md", ".markdown", ".mdown", ".qmd", ".rmd")
_HEADING = re.compile(r"^ {0,3}(#{1,6})\s+(.*?)\s*#*\s*$")
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|(?<=[。！？；])")
_LONGEST_HEADING = 200  # characters of all headings above a passage


@dataclass(frozen=True, kw_only=True)
class Passage:
    """A piece of a document. file: its path. name: how it is shown, from the folder that was attached.

    heading: those above it, from the outermost, 'A › B'; '' for none. page: of a PDF, else 0. line, last_line: where
    it stands on its page or in its file, from 1.
    """

    file: str
    name: str
    heading: str
    page: int
    line: int
    last_line: int
    text: str


@dataclass(frozen=True)
class Excerpt:
    """A passage of a file that is being read; fields as Passage has them."""

    heading: str
    page: int
    line: int
    last_line: int
    text: str


def tokens(text: str) -> int:
    """About how many tokens a text is for a model."""
    single = spaceless(text)
    return single + (len(text) - single + 3) // 4


def cut(pages: Iterable[Page], name: str) -> Iterator[Excerpt]:
    """Cut the pages of a file. name: of the file, which says whether it has headings."""
    markdown = PurePath(name).suffix.lower() in _MARKDOWN
    for page in pages:
        yield from _Cutter(page.number, markdown).cut(page.text)


class _Cutter:
    """Cuts one page."""

    def __init__(self, page: int, markdown: bool) -> None:
        self._page, self._markdown = page, markdown
        self._headings: list[tuple[int, str]] = []
        self._lines: list[str] = []
        self._first = self._size = 0

    def cut(self, text: str) -> Iterator[Excerpt]:
        """Yield the pieces of the page's text."""
        fence = ""
        number = 0
        for number, line in enumerate(text.split("\n"), 1):
            ticks = _FENCE.match(line) if self._markdown else None
            heading = _HEADING.match(line) if self._markdown and not fence else None
            if ticks is not None:
                fence = "" if fence and ticks[1].startswith(fence) else fence or ticks[1]
            if heading is not None:
                yield from self._end(number - 1)
                level = len(heading[1])
                self._headings = [known for known in self._headings if known[0] < level]
                self._headings.append((level, heading[2]))
            elif not line.strip():
                if self._size >= GOOD and not fence:
                    yield from self._end(number - 1)
                elif self._lines:
                    self._lines.append("")
            else:
                for part in _parts(line):
                    size = tokens(part) + 1
                    if self._lines and self._size + size > MOST:
                        yield from self._end(number - 1 if part is line else number)
                    if not self._lines:
                        self._first = number
                    self._lines.append(part)
                    self._size += size
        yield from self._end(number)

    def _end(self, last: int) -> Iterator[Excerpt]:
        while self._lines and not self._lines[-1]:
            self._lines.pop()
            last -= 1
        if self._lines:
            heading = " › ".join(title for _, title in self._headings)[:_LONGEST_HEADING]
            yield Excerpt(heading, self._page, self._first, max(self._first, last), "\n".join(self._lines))
        self._lines, self._size = [], 0


def _parts(line: str) -> Iterator[str]:
    """A line, or parts of one that is longer than a passage: sentences where it has any."""
    if tokens(line) < MOST:
        yield line
        return
    held = ""
    for sentence in _SENTENCE.split(line):
        while tokens(sentence) >= MOST:
            cut = _fitting(sentence)
            if held:
                yield held
                held = ""
            yield sentence[:cut].strip()
            sentence = sentence[cut:].strip()
        if held and tokens(held) + tokens(sentence) >= MOST:
            yield held
            held = ""
        held = f"{held} {sentence}".strip() if held and not spaceless(held[-1:]) else held + sentence
    if held:
        yield held


def _fitting(text: str) -> int:
    """How many characters of a text with no end of a sentence make a passage: up to a space, if there is one."""
    cut = 4 * (MOST - 10)
    while tokens(text[:cut]) >= MOST:
        cut = cut * 3 // 4
    space = text.rfind(" ", cut // 2, cut)
    return space + 1 if space > 0 else cut
