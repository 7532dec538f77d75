"""A family's declaration, brought together with one model's vocabulary and template."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

from engine.generation.formats.declaration import (
    AS_READ,
    IN_CONTENT,
    LEVELS,
    NOWHERE,
    PARTS,
    REASONING,
    REASONING_CONTENT,
    THINKING,
    Declaration,
    Level,
    Switch,
)
from engine.generation.formats.families import FAMILIES, GENERIC

_SUFFIXED = re.compile(r"<think:(\w+)>")
_FIRST = 0xF0000  # of the characters that stand for tokens inside a reader: private use, in no model's text


@dataclass(frozen=True)
class Mark:
    """A mark as a reader sees it. exact: made of its tokens; spelled: of its letters; the same where it is no token."""

    exact: str
    spelled: str

    @property
    def forms(self) -> tuple[str, ...]:
        """Both, or the one there is."""
        return (self.exact,) if self.exact == self.spelled else (self.exact, self.spelled)


@dataclass(frozen=True)
class TemplateNames:
    """What a template reads: names of variables from outside, and of fields of anything."""

    variables: frozenset[str] = frozenset()
    fields: frozenset[str] = frozenset()


@dataclass(frozen=True, kw_only=True)
class Speech:
    """How one model speaks. declaration: marks as they are in this vocabulary.

    signs: token id to the character that stands for it in a reader, for every token that is a mark or part of one.
    texts: those characters to the tokens' texts. shown: those among them whose text a person would see.
    ends: ids that end an answer. history: resolved, never AS_READ. switch: one that the template reads, or None.
    """

    declaration: Declaration
    signs: dict[int, str]
    texts: dict[str, str]
    shown: frozenset[str]
    ends: frozenset[int]
    history: str
    switch: Switch | None

    def mark(self, text: str) -> Mark:
        """A mark of the declaration."""
        exact = text
        for sign, token in self.texts.items():
            exact = exact.replace(token, sign)
        return Mark(exact, text)

    def plain(self, text: str) -> str:
        """A reader's text with the tokens' own texts in it."""
        for sign in set(text) & set(self.texts):
            text = text.replace(sign, self.texts[sign])
        return text


def speech(tokenizer: Any, template: str, read: TemplateNames, stated: set[int]) -> Speech:
    """Of a tokenizers.Tokenizer and a chat template ('' for none). read: what that template reads. stated: ends that
    the model's files name.
    """
    tokens = {t.content: (i, t.special) for i, t in tokenizer.get_added_tokens_decoder().items()}
    found = _suffixed(recognised(template), tokens)
    marks = _marks(found)
    parts = sorted((t for t in tokens if any(t in mark for mark in marks)), key=len, reverse=True)
    signs = {tokens[t][0]: chr(_FIRST + n) for n, t in enumerate(parts)}
    texts = {chr(_FIRST + n): t for n, t in enumerate(parts)}
    shown = frozenset(chr(_FIRST + n) for n, t in enumerate(parts) if not tokens[t][1] and t not in found.silent)
    ends = stated | {i for t in found.ends if (i := _id(tokenizer, t)) is not None and _ends(found, t, template)}
    ends -= {i for t in found.lasting if (i := _id(tokenizer, t)) is not None}
    history, switch = _history(found, read.fields), _switch(found, read.variables)
    return Speech(
        declaration=found, signs=signs, texts=texts, shown=shown, ends=frozenset(ends), history=history, switch=switch
    )


def recognised(template: str) -> Declaration:
    """The family that a template is of."""
    return next((each for each in FAMILIES if all(sign in template for sign in each.template)), GENERIC)


def own_template(tokenizer: Any) -> str:
    """A template of ours, for a model of a family whose makers give none; '' for any other.

    DeepSeek's models since V3.2 come with a Python program in its place, which is not run.
    """
    known = (each for each in FAMILIES if each.own)
    return next((f.own for f in known if all(_id(tokenizer, token) is not None for token in f.vocabulary)), "")


def _marks(found: Declaration) -> list[str]:
    calls = [mark for call in found.calls for mark in (call.open, call.close) if mark]
    pairs = [mark for pair in (*found.thoughts, *found.answer) for mark in pair]
    header = [*found.header[0], *filter(None, [found.header[1]])]
    return [*calls, *pairs, *header, *found.silent, *found.spelled_ends]


def _suffixed(found: Declaration, tokens: dict[str, tuple[int, bool]]) -> Declaration:
    """The marks as the vocabulary has them: a release may put a suffix to all its tokens (<think:opensource>)."""
    suffix = next((m[1] for t in tokens if (m := _SUFFIXED.fullmatch(t))), "")
    if not suffix:
        return found

    def put(mark: str) -> str:
        end = "｜>" if mark.endswith("｜>") else ">"
        longer = f"{mark.removesuffix(end)}:{suffix}{end}"
        return longer if longer in tokens else mark

    return replace(
        found,
        thoughts=tuple((put(a), put(b)) for a, b in found.thoughts),
        calls=tuple(replace(c, open=put(c.open), close=put(c.close)) for c in found.calls),
        ends=tuple(map(put, found.ends)),
    )


def _id(tokenizer: Any, token: str) -> int | None:
    found = tokenizer.token_to_id(token)
    return None if found is None else int(found)


def _ends(found: Declaration, token: str, template: str) -> bool:
    """Of an unknown family a token ends an answer only where its template writes it."""
    return found is not GENERIC or token in template


def _history(found: Declaration, fields: frozenset[str]) -> str:
    """Where a thought goes: as declared, where this model's template reads that field."""
    if found.history in (NOWHERE, IN_CONTENT):
        return found.history
    if found.history == PARTS:
        return PARTS if THINKING in fields else NOWHERE
    order = (REASONING_CONTENT, REASONING, THINKING)
    wanted = order if found.history == AS_READ else (found.history, *order)
    return next((name for name in wanted if name in fields), NOWHERE)


def _switch(found: Declaration, variables: frozenset[str]) -> Switch | None:
    """The first switch of which the template reads any variable, with those variables alone.

    Of levels that come to the same then, the one stays that was declared with nothing else.
    """
    for switch in found.switches:
        levels: dict[tuple[tuple[str, object], ...], Level] = {}
        for each in switch.levels:
            values = tuple((name, value) for name, value in each.values if name in variables)
            if values and (values not in levels or values == each.values):
                levels[values] = replace(each, values=values)
        if len(levels) > 1:
            kept = tuple(sorted(levels.values(), key=lambda one: LEVELS.index(one.name)))
            return Switch(kept, switch.on if any(one.name == switch.on for one in kept) else kept[-1].name)
    return None
