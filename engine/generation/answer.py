"""One answer: logits in, tokens and text out, until the model, the limit or the user says stop."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from torch import Tensor

from engine.generation.chat import ChatFormat, Prompt
from engine.generation.constraint import Constraint
from engine.generation.detokenize import PlainReader, StopTexts
from engine.generation.formats.reader import Reader
from engine.generation.messages import TokenLogprob, ToolCall
from engine.generation.sampling import Sampler, Sampling, log_probabilities


class Listener(Protocol):
    """Who follows an answer as it comes."""

    def turns_dropped(self, count: int) -> None:
        """Said once before reading: so many of the oldest turns did not fit (0: all fit)."""

    def prompt_read(self, done: int, total: int, reused: int) -> None:
        """So many prompt tokens are read."""

    def text(self, text: str, token_ids: Sequence[int]) -> None:
        """New whole characters, and the tokens behind them."""

    def cancelled(self) -> bool:
        """Asked before every token, and before every layer of a prompt; True ends the answer there."""


@dataclass(kw_only=True)
class Answer:
    """An answer as far as it has come. Seconds; finish as in messages.Stats."""

    text: str = ""
    token_ids: list[int] = field(default_factory=list)
    finish: str = "cancelled"
    reused: int = 0
    prompt_seconds: float = 0.0
    decode_seconds: float = 0.0
    thinking_seconds: float = 0.0
    calls: tuple[ToolCall, ...] = ()


class AnswerWriter:
    """Makes an answer of logits, a token at a time. Who runs the model feeds it what `take` returns.

    result: the answer so far. A stop token is neither shown nor kept. The token that completes a stop text is kept, its
    text cut.
    """

    def __init__(
        self,
        chat: ChatFormat,
        prompt: Prompt,
        sampling: Sampling,
        stop_texts: Sequence[str],
        listener: Listener,
        *,
        constraint: Constraint | None = None,
        logprobs: int | None = None,
        on_logprob: Callable[[TokenLogprob], None] = lambda one: None,
    ) -> None:
        """constraint: what the answer is held to. logprobs: as AnswerOptions; on_logprob: told of each token before its
        text.
        """
        self.prompt, self.result = prompt, Answer()
        self._chat, self._sampling, self._listener = chat, sampling, listener
        self._constraint, self._logprobs, self._on_logprob = constraint, logprobs, on_logprob
        before = prompt.words[: len(prompt.words) - len(prompt.begun)]
        self._shown: Reader | PlainReader
        if prompt.raw:
            self._shown = PlainReader(chat.tokenizer, before[-8:])
        else:
            self._shown = Reader(chat.tokenizer, chat.speech, before[-8:], prompt.state)
            self._shown.go_on(prompt.begun, prompt.said)
        self._stops = StopTexts(stop_texts)
        self._sampler = Sampler(sampling, prompt.words)
        self._waiting: list[int] = []  # tokens whose text is not shown yet
        self._start = time.perf_counter()

    @property
    def left(self) -> int:
        """Tokens that may still be chosen."""
        return self._sampling.max_tokens - len(self.result.token_ids)

    def prompt_done(self) -> None:
        """The prompt is read, or will not be read any further."""
        now = time.perf_counter()
        self.result.prompt_seconds, self._start = now - self._start, now

    def take(self, logits: Tensor, room: int) -> int | None:
        """The next token of the answer, to be fed to the model; None: the answer has come to its end.

        logits: [V], after the last one. room: tokens that can still be fed. Raises UnderhillError(BROKEN_FILE).
        """
        result = self.result
        if result.token_ids:
            result.decode_seconds = time.perf_counter() - self._start
        shown, constraint = self._shown, self._constraint
        state = shown.state
        allowed = None if constraint is None else constraint.allowed(state, logits.numel())
        token = self._sampler.next(logits, allowed)
        if token in self._chat.stop_ids:
            result.finish = "stop"
            return None
        if self._logprobs is not None:
            self._on_logprob(_likely(self._chat, logits, token, self._logprobs))
        if constraint is not None:
            constraint.accept(token, state)
        result.token_ids.append(token)
        self._show(token)
        if self._stops.hit or shown.ended or (constraint is not None and constraint.over):
            result.finish = "stop_text" if self._stops.hit else "stop"
        elif len(result.token_ids) >= self._sampling.max_tokens:
            result.finish = "length"
        elif room < 1:
            result.finish = "context"
        else:
            return token
        return None

    def _show(self, token: int) -> None:
        self._waiting.append(token)
        text = self._stops.add(self._shown.add(token))
        if text:
            self.result.text += text
            self._listener.text(text, tuple(self._waiting))
            self._waiting.clear()

    def close(self) -> Answer:
        """The answer as far as it came, with the text that was held back until now."""
        result, shown, stops = self.result, self._shown, self._stops
        result.thinking_seconds = shown.seconds
        tail = "" if stops.hit else stops.add(shown.flush()) + stops.flush()
        result.calls = tuple(shown.calls)
        if tail or self._waiting:
            result.text += tail
            self._listener.text(tail, tuple(self._waiting))
        return result


def _likely(chat: ChatFormat, logits: Tensor, token: int, most: int) -> TokenLogprob:
    own, top = log_probabilities(logits, token, most)
    return TokenLogprob(chat.spelled(token), own, tuple((chat.spelled(each), value) for each, value in top))
