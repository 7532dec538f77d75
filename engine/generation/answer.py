"""The decode loop: one prompt in, tokens and text out, until the model, the limit or the user says stop."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from torch import Tensor

from engine.generation.chat import ChatFormat, Prompt
from engine.generation.constraint import Constraint
from engine.generation.context import Context
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


@dataclass
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


def answer(
    context: Context,
    chat: ChatFormat,
    prompt: Prompt,
    sampling: Sampling,
    stop_texts: Sequence[str],
    listener: Listener,
    *,
    constraint: Constraint | None = None,
    logprobs: int | None = None,
    on_logprob: Callable[[TokenLogprob], None] = lambda one: None,
    between: Callable[[], None] = lambda: None,
    token_done: Callable[[], None] = lambda: None,
    prompt_done: Callable[[], None] = lambda: None,
) -> Answer:
    """Read the prompt, then decode. What was generated stays in the context, ready for the next turn.

    A stop token is neither shown nor kept. The token that completes a stop text is kept, its text cut.
    constraint: what the answer is held to. logprobs: as AnswerOptions; on_logprob: told of each token before its text.
    between: called between two tokens, and between two chunks of the prompt. Other work of the model may be done there,
    with another sequence; what it raises ends the answer.
    token_done: called after every token decoded. prompt_done: called once between reading and decoding.
    """
    result = Answer()
    before = prompt.ids[: len(prompt.ids) - len(prompt.begun)]
    shown: Reader | PlainReader
    if prompt.raw:
        shown = PlainReader(chat.tokenizer, before[-8:])
    else:
        shown = Reader(chat.tokenizer, chat.speech, before[-8:], prompt.state)
        shown.go_on(prompt.begun, prompt.said)
    stops = StopTexts(stop_texts)
    start = time.perf_counter()
    result.reused = context.reuse(prompt.ids)
    logits = context.read(
        prompt.ids,
        (prompt.history,),
        lambda done, total: listener.prompt_read(done, total, result.reused),
        listener.cancelled,
        between,
    )
    result.prompt_seconds = time.perf_counter() - start
    prompt_done()
    sampler = Sampler(sampling, prompt.ids)
    waiting: list[int] = []  # tokens whose text is not shown yet
    start = time.perf_counter()
    while logits is not None:
        if listener.cancelled():
            break
        state = shown.state
        token = sampler.next(logits, None if constraint is None else constraint.allowed(state, logits.numel()))
        if token in chat.stop_ids:
            result.finish = "stop"
            break
        if logprobs is not None:
            on_logprob(_likely(chat, logits, token, logprobs))
        if constraint is not None:
            constraint.accept(token, state)
        result.token_ids.append(token)
        waiting.append(token)
        text = stops.add(shown.add(token))
        if text:
            result.text += text
            listener.text(text, tuple(waiting))
            waiting.clear()
        if stops.hit or shown.ended or (constraint is not None and constraint.over):
            result.finish = "stop_text" if stops.hit else "stop"
            break
        if len(result.token_ids) >= sampling.max_tokens:
            result.finish = "length"
            break
        if context.room < 1:
            result.finish = "context"
            break
        logits = context.step(token)
        result.decode_seconds = time.perf_counter() - start
        token_done()
        if not context.between(between):  # what was done there took the sequence's memory
            logits = context.read((*prompt.ids, *result.token_ids), cancelled=listener.cancelled)
    result.thinking_seconds = shown.seconds
    tail = "" if stops.hit else stops.add(shown.flush()) + stops.flush()
    result.calls = tuple(shown.calls)
    if tail or waiting:
        result.text += tail
        listener.text(tail, tuple(waiting))
    return result


def _likely(chat: ChatFormat, logits: Tensor, token: int, most: int) -> TokenLogprob:
    own, top = log_probabilities(logits, token, most)
    return TokenLogprob(chat.spelled(token), own, tuple((chat.spelled(each), value) for each, value in top))
