"""The engine's templates as a phrase book: which of them a text was made from, and what stood in its holes.

A text may be several sentences, each from a template of its own; what stands in a hole may again be the engine's own
words. What no template says is shown as it came.
"""

from __future__ import annotations

import logging
import re
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

_log = logging.getLogger(__name__)
_HOLE = re.compile(r"\{(\w+)\}")
_BETWEEN = re.compile(r"(?<=[.!?]) (?=\S)")
_NUMBER = r"[-+]?[\d.,]*\d(?: (?:%|[kMGT]?B))?"
_FEW = 5  # letters; a template with fewer is glue: it fills a whole hole, and has numbers or single words in its own
_LISTS = (("; ", "；"), (", ", "、"))
_WIDE = re.compile(r"[　-〿一-鿿＀-￯“”]")
# Holes in which words of the engine stand; in every other one a name, a path or a figure, which stays as it is.
SPOKEN = frozenset(
    "a_token action against allowed architecture before called cause choices defect differs doing e error exact "
    "figures how kinds label lacking later learned link made missing more most name_of names note other pill point "
    "problem raised reason room said sentence shares slower source span strerror text threads told verb wait wanted "
    "way ways what where who why why_not word words".split()
)


@dataclass(frozen=True)
class Phrase:
    """A template. rank: the less, the less is left open. regex: with a group for each of `holes`, in that
    order. glue: it has few words of its own.
    """

    rank: int
    template: str
    holes: tuple[str, ...]
    regex: str
    glue: bool

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Made when it is first needed: all at once would hold up the window."""
        return re.compile(self.regex, re.DOTALL)


class Said(NamedTuple):
    """A translation. left: words in it that are as they were."""

    left: int
    text: str


class Book:
    """Texts of the engine in another language. translate: a template's translation, with the same holes."""

    def __init__(self, templates: Iterable[str], numbers: frozenset[str], translate: Callable[[str], str]) -> None:
        self._translate = translate
        self._whole: set[str] = set()
        self._by_word: dict[str, list[Phrase]] = defaultdict(list)  # each by one word that it has; '' where it has none
        for rank, template in enumerate(sorted(templates, key=_freedom)):
            if not _HOLE.search(template):
                self._whole.add(template)
                continue
            words = [word for word in template.split(" ") if not _HOLE.search(word)]
            self._by_word[max(words, key=len, default="")].append(_phrase(rank, template, numbers))
        self.tell = lru_cache(4096)(self._tell)

    def exactly(self, text: str) -> str:
        """The translation of a text that is a template without holes; any other as it is."""
        return self._translate(text) if text in self._whole else text

    def _tell(self, text: str) -> str:
        lines = [(line, self._sentences(line)) for line in text.split("\n")]
        if any(found is None for _, found in lines):
            _log.debug("No translation of what the engine said: %r", text)
        return "\n".join(line if found is None else found.text for line, found in lines)

    def _sentences(self, text: str, hole: bool = False) -> Said | None:
        """With as few words left as they are as possible; None where none is translated. hole: the text fills one."""
        pieces = _BETWEEN.split(text)
        best: list[tuple[int, int, list[str]]] = [
            (0, 0, [])
        ]  # of the first so many: what is left, how many known, said
        for end in range(1, len(pieces) + 1):
            left, known, said = best[end - 1]
            found = (left + 2 * len(pieces[end - 1].split()), known, [*said, pieces[end - 1]])
            for start in range(end - 1, -1, -1):
                left, known, said = best[start]
                if left >= found[0]:
                    continue
                one = self._one(" ".join(pieces[start:end]), glue=hole and end - start == len(pieces))
                if one is not None and left + one.left < found[0]:
                    found = (left + one.left, known + 1, [*said, one.text])
            best.append(found)
        left, known, said = best[-1]
        return Said(left, _joined(said)) if known else None

    def _one(self, text: str, *, glue: bool) -> Said | None:
        """A text of a single template; None where there is none. glue: it may be one of few words."""
        if text in self._whole:
            return Said(0, self._translate(text))
        words = {"", *text.split(" ")}
        possible = [phrase for word in words for phrase in self._by_word.get(word, ()) if glue or not phrase.glue]
        matches = ((p, p.pattern.fullmatch(text)) for p in sorted(possible, key=lambda p: p.rank))
        found = [self._filled(phrase, match) for phrase, match in matches if match]
        return min(found, key=lambda said: said.left, default=None)

    def _filled(self, phrase: Phrase, match: re.Match[str]) -> Said:
        values = dict(zip(phrase.holes, (value or "" for value in match.groups())))
        said, left = "", 0
        for n, part in enumerate(_HOLE.split(self._translate(phrase.template))):
            if n % 2 == 0:
                said = _close(said, part)
                continue
            new = self._hole(values[part]) if _is_spoken(part) else None
            if new is None:  # a name, perhaps: its spaces stay
                said += values[part]
                left += len(values[part].split())
            else:
                said = _close(said, new.text)
                left += new.left
        return Said(left, said)

    def _hole(self, value: str) -> Said | None:
        """What stands in a hole; None where none of it is translated."""
        text = value.strip()
        if not text:
            return None
        said = self._sentences(text, hole=True)
        if said is None and not text.endswith("."):  # a sentence that has lost its end
            whole = self._sentences(f"{text}.")
            said = Said(whole.left, whole.text.removesuffix("。").removesuffix(".")) if whole is not None else None
        for comma, other in _LISTS:
            if (said is None or said.left) and comma in text:
                items = [(item, self._sentences(item, hole=True)) for item in text.split(comma)]
                if any(new is not None for _, new in items):
                    left = sum(len(item.split()) if new is None else new.left for item, new in items)
                    listed = Said(left, other.join(item if new is None else new.text for item, new in items))
                    said = listed if said is None or left < said.left else said
        return said


def _freedom(template: str) -> tuple[bool, int]:
    """How much a template leaves open: most where it begins with a hole, which anything could fill."""
    return template.startswith("{"), -len(_HOLE.sub("", template))


def _phrase(rank: int, template: str, numbers: frozenset[str]) -> Phrase:
    parts = _HOLE.split(template)
    few = sum(c.isalpha() for literal in parts[::2] for c in literal) < _FEW
    pattern = ""
    for n, part in enumerate(parts):
        if n % 2:
            pattern += f"({_NUMBER})" if part in numbers else r"(\S+)" if few else "(.*?)"
        elif part.endswith(" ") and n + 3 == len(parts) and not parts[-1] and _is_spoken(parts[n + 1]):
            pattern += re.escape(part[:-1]) + "(?: (.*))?"  # what comes last may be missing
            break
        else:
            pattern += re.escape(part)
    return Phrase(rank, template, tuple(parts[1::2]), pattern, few)


def _is_spoken(hole: str) -> bool:
    return hole.rstrip("0123456789") in SPOKEN


def _close(said: str, new: str) -> str:
    """One after the other, without a space between two characters that are written without."""
    if new[:1] == " " and _WIDE.match(said[-1:]) and _WIDE.match(new.lstrip()[:1]):
        return said + new.lstrip()
    if said[-1:] == " " and _WIDE.match(new[:1]) and _WIDE.match(said.rstrip()[-1:]):
        return said.rstrip() + new
    return said + new


def _joined(sentences: list[str]) -> str:
    """Sentences after one another; with a space only where neither side is of a script without."""
    said = ""
    for sentence in sentences:
        between = "" if not said or _WIDE.match(said[-1]) or _WIDE.match(sentence[:1]) else " "
        said += between + sentence
    return said
