"""A model's tokens to the one form of `generation.turns`, as they come.

A machine over text: in each state it looks for the marks that mean something there, and holds back what may become one.
Tokens that are marks come as single characters of private use, so that a mark can be told from a text that spells it.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from typing import Any

from engine.generation import turns
from engine.generation.detokenize import Detokenizer
from engine.generation.formats import calls
from engine.generation.formats.declaration import Calls
from engine.generation.formats.speech import Mark, Speech
from engine.generation.messages import ToolCall

# states of a reader
FRESH = "fresh"  # nothing was said yet, or nothing since a thought ended
THOUGHT = "thought"
ANSWER = "answer"
CALL = "call"
HEADER = "header"
_LONGEST_HEADER = 400  # characters; what is longer is none
_HEADER_WORDS = ("assistant", "analysis", "commentary", "final", "json", "code")
_RECIPIENT = re.compile(r"to=(?:functions\.)?([^\s<]+)")


class Reader:
    """Token by token to text, like the Detokenizer that it uses. seconds: how long the model thought, so far.

    calls: the tools called, as far as they are whole. ended: a spelled end mark came, nothing follows.
    """

    def __init__(self, tokenizer: Any, speech: Speech, prefix: Sequence[int] = (), state: str = FRESH) -> None:
        """prefix: the last tokens of the prompt. state: as the prompt leaves it, see `state_after`."""
        self._shown = Detokenizer(tokenizer, prefix)
        self._speech = speech
        self._state = state
        self._held = ""  # may become a mark
        self._space = ""  # whitespace that is shown only if something follows
        self._inside = False  # OPEN was said, and CLOSE was not
        self._block = False  # a late thought's block is open
        self._spoke = False  # some of the answer was said
        self._ends = 2  # line ends that what was said last ended with, up to two
        self._wrapped = ""  # the mark that ends the answer, where one has begun it
        self._hidden = frozenset(speech.texts) - speech.shown
        self._skip = ""  # of what comes, this was said before
        self._header = self._name = ""
        self._call: Calls | None = None
        self._raw = ""  # of a call
        self._began = time.perf_counter() if state == THOUGHT else 0.0
        self._thinking = 0.0
        self._thought = False
        self.calls: list[ToolCall] = []
        self.ended = False
        self._watched = {name: self._marks(name) for name in (FRESH, THOUGHT, ANSWER, HEADER)}

    @property
    def state(self) -> str:
        """Where it stands."""
        return self._state

    @property
    def seconds(self) -> float:
        """0 where there was no thought."""
        running = time.perf_counter() - self._began if self._began else 0.0
        return self._thinking + running if self._thought else 0.0

    def add(self, token: int) -> str:
        """The whole characters that can be shown once this token is known."""
        text = self._shown.add(token)
        sign = self._speech.signs.get(token)
        if sign is not None:
            text = text.removesuffix(self._speech.texts[sign]) + sign
        return self._fresh(self._fed(text))

    def flush(self) -> str:
        """What is left when the answer is over: held text, a call that was not closed, half a character."""
        text = self._fed(self._shown.flush())
        rest, self._held = self._held, ""
        if rest[:1] in self._hidden:  # the beginning of a mark
            rest = ""
        if self._state == HEADER:
            rest, self._state, self._header = self._no_header(self._header + rest), FRESH, ""
        if self._state == CALL:
            self._raw += rest
            text += self._no_call() if self._bare and not calls.bare(self._raw) else self._called()
            rest = ""
        text += self._said(rest)
        if self._state == FRESH and self._inside:
            text += self._closed()
        if self._block:
            text += self._thought_ended()
        elif self._state == ANSWER and not self._wrapped:
            text += self._space
        return self._fresh(text)

    def go_on(self, tokens: Sequence[int], text: str) -> None:
        """The answer goes on behind these tokens, which were shown as `text`; nothing of it is said again."""
        if not tokens:
            return
        said = "".join(map(self.add, tokens))
        self._skip = text.removeprefix(said) if text.startswith(said) else ""
        self._thinking, self._thought = 0.0, self._state == THOUGHT
        self._began = time.perf_counter() if self._thought else 0.0
        self.calls.clear()

    def _fresh(self, text: str) -> str:
        """What of a text was not said before."""
        if not self._skip or not text:
            return text
        known = min(len(self._skip), len(text))
        if text[:known] != self._skip[:known]:
            self._skip = ""
            return text
        self._skip = self._skip[known:]
        return text[known:]

    # ---- the machine --------------------------------------------------------------------------------------------

    def _fed(self, text: str) -> str:
        out = ""
        self._held += "" if self.ended else text
        while self._held and not self.ended:
            found = self._found()
            if found is None:
                safe = len(self._held) - self._overlap()
                part, self._held = self._held[:safe], self._held[safe:]
                return out + self._said(part)
            at, length, action = found
            part, self._held = self._held[:at], self._held[at + length :]
            out += self._said(part)
            out += action()
        return out

    def _found(self) -> tuple[int, int, Callable[[], str]] | None:
        """The first mark in what is held: where, how long, and what it does. Of several there, the longest."""
        best: tuple[int, int, Callable[[], str]] | None = None
        for form, action, only_first in self._here():
            at = self._held.find(form)
            if at < 0 or (only_first and self._held[:at].strip()):
                continue
            if best is None or (at, -len(form)) < (best[0], -best[1]):
                best = at, len(form), action
        return best

    def _overlap(self) -> int:
        """Length of the longest end of the held text that begins a mark."""
        longest = 0
        for form, _, only_first in self._here():
            for n in range(min(len(form) - 1, len(self._held)), longest, -1):
                if self._held.endswith(form[:n]) and not (only_first and self._held[:-n].strip()):
                    longest = n
                    break
        return longest

    def _here(self) -> list[tuple[str, Callable[[], str], bool]]:
        if self._state != CALL:
            return self._watched[self._state]
        if self._call is None:  # named in a header
            told, mark = self._speech.declaration, self._speech.mark
            ended = [(mark(end).exact, self._call_ended, False) for end in told.silent]
            return ended + [
                (mark(start).exact, lambda: self._called() + self._header_begun(), False) for start in told.header[0]
            ]
        close = self._call.close
        if self._bare:
            return [(close, self._bare_closed, False)]
        return [(f, self._call_ended, False) for f in self._speech.mark(close).forms] if close else []

    def _marks(self, state: str) -> list[tuple[str, Callable[[], str], bool]]:
        """(text to look for, what it does, whether only where nothing else was said before it)."""
        told, mark = self._speech.declaration, self._speech.mark
        found: list[tuple[str, Callable[[], str], bool]] = []

        def watch(text: str, action: Callable[[], str], *, spelled: bool = True, first: bool = False) -> None:
            it: Mark = mark(text)
            forms = it.forms if spelled else it.forms[:1]
            if not spelled and it.exact == it.spelled and state == ANSWER and action in (self._nothing, self._opened):
                return  # a text that only looks like it: the answer may be about such marks
            found.extend((form, action, first) for form in forms)

        if state == HEADER:
            watch(told.header[1], self._header_ended)
            return found
        for start in told.header[0]:
            watch(start, self._header_begun, spelled=False)
        for call in told.calls:
            if not call.bare:
                watch(call.open, self._call_begun(call), spelled=False)
            elif state == FRESH:
                watch(call.open, self._call_begun(call), first=True)
        for end in told.spelled_ends:
            watch(end, self._end)
        for opens, closes in told.thoughts:
            if state == THOUGHT:
                watch(closes, self._thought_ended)
                watch(opens, self._nothing, spelled=False)
            else:
                watch(opens, self._opened, spelled=state == FRESH, first=state == FRESH)
                watch(closes, self._nothing, spelled=state == FRESH, first=state == FRESH)
        if state != THOUGHT:
            for opens, closes in told.answer if state == FRESH else ():
                watch(opens, self._unwrapped(closes), first=True)
            for text in told.silent:
                watch(text, self._nothing, spelled=False)
        return found

    # ---- what marks do ------------------------------------------------------------------------------------------

    def _nothing(self) -> str:
        return ""

    def _end(self) -> str:
        self.ended, self._held = True, ""
        return ""

    def _opened(self) -> str:
        self._state, self._space = THOUGHT, "\n\n" if self._inside else ""
        self._began = time.perf_counter()
        return ""

    def _thought_ended(self) -> str:
        self._state, self._space = FRESH, ""
        self._thinking += time.perf_counter() - self._began if self._began else 0.0
        self._began = 0.0
        if self._block:
            self._block, self._ends = False, 2
            self._state = ANSWER
            return f"\n{turns.FENCE}\n\n"
        return ""

    def _unwrapped(self, closes: str) -> Callable[[], str]:
        def begun() -> str:
            self._wrapped = closes
            for state in (FRESH, ANSWER):
                forms = self._speech.mark(closes).forms
                self._watched[state] = [*self._marks(state), *((form, self._nothing, False) for form in forms)]
            return ""

        return begun

    def _header_begun(self) -> str:
        out = self._thought_ended() if self._state == THOUGHT else ""
        self._state, self._header = HEADER, ""
        return out

    def _no_header(self, text: str) -> str:
        """What stood where a header should, if it is an answer after all; '' for a header that was cut off."""
        words = self._speech.plain(text).replace("<", " <").split()
        cut = all(word.startswith(("to=", "<")) or any(w.startswith(word) for w in _HEADER_WORDS) for word in words)
        return "" if cut else text

    def _header_ended(self) -> str:
        header, self._header = self._speech.plain(self._header), ""
        recipient = _RECIPIENT.search(header)
        if recipient is not None:
            self._call, self._name, self._raw, self._state = None, recipient[1], "", CALL
            return self._closed() if self._inside else ""
        if "analysis" in header:
            return self._opened()
        self._state = FRESH if not self._spoke else ANSWER
        if self._spoke:
            self._space = "\n\n"
        return ""

    def _call_begun(self, call: Calls) -> Callable[[], str]:
        def begun() -> str:
            out = self._thought_ended() if self._state == THOUGHT else ""
            out += self._closed() if self._inside else ""
            self._call, self._state = call, CALL
            self._raw = call.open if call.whole else ""
            return out

        return begun

    def _call_ended(self) -> str:
        if self._call is not None and self._call.whole:
            self._raw += self._call.close
        return self._called()

    @property
    def _bare(self) -> bool:
        """Whether what is read may be a call that has no marks."""
        return self._call is not None and self._call.bare

    def _bare_closed(self) -> str:
        return self._said("]") if self._state != CALL else self._read_on("]")

    def _read_on(self, text: str) -> str:
        """More of a call, or of what looks like one."""
        self._raw += text
        found = calls.bare(self._raw) if self._bare else None
        if found is None:
            return ""
        return self._called() if found else self._no_call()

    def _no_call(self) -> str:
        """It only looked like one: it is how the answer begins."""
        text, self._raw, self._call, self._state = self._raw, "", None, FRESH
        return self._said(text)

    def _called(self) -> str:
        """The block of a call that is over."""
        raw, self._raw = self._speech.plain(self._raw), ""
        if self._call is not None:
            found = calls.parse(self._call.grammar, raw)
        else:
            found = calls.spoken(self._name, raw)
            raw = f"{self._name} {raw.strip()}"
        self._state, self._call, self._name, self._space = ANSWER, None, "", ""
        self.calls += found
        blocks = [turns.written(call) for call in found]
        if not found and raw.strip():
            blocks = [turns.block(turns.CALL, raw.strip())]
        if not blocks:
            return ""
        apart = self._apart()
        self._spoke, self._ends = True, 1
        return apart + "\n".join(blocks)

    # ---- what is said -------------------------------------------------------------------------------------------

    def _said(self, text: str) -> str:
        """Text between marks, as it is shown."""
        if not text:
            return ""
        if self._state == CALL:
            return self._read_on(text)
        if self._state == HEADER:
            self._header += text
            if len(self._header) <= _LONGEST_HEADER:
                return ""
            text, self._header, self._state = self._header, "", FRESH
        text = self._seen(text)
        return self._thought_said(text) if self._state == THOUGHT else self._answer_said(text)

    def _seen(self, text: str) -> str:
        """Without tokens that a person does not see."""
        if not set(text) & set(self._speech.texts):
            return text
        return "".join(
            self._speech.texts[c] if c in self._speech.shown else "" if c in self._speech.texts else c for c in text
        )

    def _thought_said(self, text: str) -> str:
        fresh = not self._inside and not self._block
        text = self._space + (text.lstrip("\n") if fresh or self._space.startswith("\n\n") else text)
        kept = text.rstrip()
        self._space = text[len(kept) :]
        if not kept:
            return ""
        self._thought = True
        if not fresh:
            return kept
        kept = kept.lstrip()
        if self._spoke:
            self._block = True
            return self._apart() + f"{turns.FENCE}{turns.THOUGHT}\n{kept}"
        self._inside = True
        return f"{turns.OPEN}\n{kept}"

    def _answer_said(self, text: str) -> str:
        if self._state == FRESH:
            text = self._space + text
            self._space = ""
            if not text.strip():
                self._space = text
                return ""
            if self._inside or self._wrapped or self._thinking:
                text = text.lstrip("\n")
            self._state = ANSWER
        else:
            text, self._space = self._space + text, ""
        if self._wrapped:
            kept = text.rstrip()
            self._space, text = text[len(kept) :], kept
        if not text:
            return ""
        out = self._closed() if self._inside else ""
        ends = len(text) - len(text.rstrip("\n"))
        self._spoke, self._ends = True, min(2, ends + (self._ends if ends == len(text) else 0))
        return out + text

    def _apart(self) -> str:
        """Line ends that set a block apart from what was said."""
        return "\n" * (2 - self._ends)

    def _closed(self) -> str:
        self._inside, self._space, self._ends = False, "", 2
        return f"\n{turns.CLOSE}\n\n"


def state_after(speech: Speech, tail: str) -> str:
    """How a reader begins after a prompt. tail: the end of the rendered prompt, behind the last message."""
    opened = max((tail.rfind(opens) for opens, _ in speech.declaration.thoughts), default=-1)
    closed = max((tail.rfind(closes) for _, closes in speech.declaration.thoughts), default=-1)
    if opened > closed:
        return THOUGHT
    starts, ends = speech.declaration.header
    if starts and max(map(tail.rfind, starts)) > tail.rfind(ends):
        return HEADER
    return FRESH


def read(tokenizer: Any, speech: Speech, tokens: Sequence[int], state: str = FRESH) -> tuple[str, str]:
    """Tokens of an answer, all at once: the text, and the state that it ends in before what is held is let go."""
    reader = Reader(tokenizer, speech, (), state)
    text = "".join(map(reader.add, tokens))
    state = reader.state
    return text + reader.flush(), state
