"""What a precision costs: perplexity on a text, and KL divergence against Exact."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor

from engine import resources
from engine.errors import Kind, UnderhillError
from engine.generation.chat import ChatFormat
from engine.generation.messages import Message
from engine.limits import TEXT_BYTES
from engine.regular_file import parse_json, read_text
from engine.session.loaded_model import LoadedModel
from engine.translatable import msg

ROWS = 32  # positions compared at once: their distributions over a large vocabulary, in float64, take 40 MB each


@dataclass(frozen=True)
class Evaluation:
    """perplexity: exp of the mean negative log-likelihood over `tokens` tokens.

    kl_to_exact: mean over positions of KL(Exact || this), in nats.
    """

    perplexity: float
    kl_to_exact: float
    tokens: int
    exact_perplexity: float


class Sums(NamedTuple):
    """Over so many tokens: negative log-likelihoods, and KL divergence from Exact, in nats."""

    tokens: int = 0
    exact_nll: float = 0.0
    nll: float = 0.0
    divergence: float = 0.0

    def plus(self, other: Sums) -> Sums:
        """Both together."""
        return Sums(
            self.tokens + other.tokens,
            self.exact_nll + other.exact_nll,
            self.nll + other.nll,
            self.divergence + other.divergence,
        )


def sequences(chat: ChatFormat, file: Path, window: int, limit: int | None) -> list[list[int]]:
    """The token windows of a file: each chat of a .jsonl file, or plain text cut every `window` tokens.

    Raises UnderhillError(MISSING_FILE or BAD_REQUEST).
    """
    try:
        text = read_text(file, TEXT_BYTES)
    except FileNotFoundError as e:
        raise UnderhillError(Kind.MISSING_FILE, msg("{file} doesn't exist.", file=file), msg("Check the path.")) from e
    except (OSError, UnicodeDecodeError) as e:
        raise UnderhillError(
            Kind.BROKEN_FILE, msg("Can't read {file} as text.", file=file), msg("Give a UTF-8 text file.")
        ) from e
    if file.suffix == ".jsonl":
        chats = [_messages(line, file) for line in text.splitlines() if line.strip()]
        windows = (list(chat.prompt(messages).ids)[:window] for messages in chats)
    else:
        ids = chat.encode(text)
        windows = (ids[i : i + window] for i in range(0, len(ids), window))
    found = _first((ids for ids in windows if len(ids) > 1), sys.maxsize if limit is None else limit)
    if not found:
        raise UnderhillError(
            Kind.BAD_REQUEST, msg("{file} holds less than two tokens.", file=file), msg("Give a longer text.")
        )
    return found


def shipped_texts(
    model: LoadedModel, tokens: int, file: str = "calibration.jsonl", window: int | None = None
) -> list[list[int]]:
    """At most so many tokens of a text that comes with Underhill, in sequences that fit the context of this model.

    Thresholds, weights and predictors are fitted to "calibration.jsonl"; what they cost is measured on "eval.jsonl".
    window: most tokens of a sequence.
    """
    longest = model.context.limit if window is None else min(window, model.context.limit)
    return sequences(model.chat, resources.path("calibration", file), longest, tokens)


def _messages(line: str, file: Path) -> list[Message]:
    try:
        return [Message(m["role"], m["content"]) for m in parse_json(line)["messages"]]
    except (ValueError, KeyError, TypeError) as e:
        raise UnderhillError(
            Kind.BROKEN_FILE,
            msg("{file} has a line that is not a chat.", file=file),
            msg('Each line is a JSON object with "messages", each of which has a "role" and a "content".'),
        ) from e


def _first(windows: Iterator[list[int]], limit: int) -> list[list[int]]:
    """Windows of at most so many predictions in all. No more are made than that: a chat takes a template and its
    tokenizer two milliseconds, and of the shipped hundred a quick calibration wants the first five.
    """
    kept, left = [], limit
    while left >= 1 and (ids := next(windows, None)) is not None:
        kept.append(ids[: left + 1])
        left -= len(kept[-1]) - 1
    return kept


def evaluate(
    exact: LoadedModel,
    tested: LoadedModel,
    windows: Sequence[Sequence[int]],
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Evaluation:
    """Score the windows with both models.

    Where the tested model's preset is not Exact, its tokens go through one by one: precision is chosen per token, and
    a batch of tokens would hide what an unimportant expert costs.
    """
    found, total = Sums(), sum(len(w) - 1 for w in windows)
    for ids in windows:
        reference = exact.logits(ids, one_by_one=False)
        found = found.plus(compared(ids, reference, tested.logits(ids, one_by_one=not tested.exact)))
        progress(found.tokens, total)
    return Evaluation(
        math.exp(found.nll / found.tokens),
        found.divergence / found.tokens,
        found.tokens,
        math.exp(found.exact_nll / found.tokens),
    )


def compared(ids: Sequence[int], reference: Tensor, logits: Tensor) -> Sums:
    """What Exact and another precision say of the same tokens. reference, logits: [T, V], after each of ids."""
    nll = exact_nll = divergence = 0.0
    for at in range(0, len(ids) - 1, ROWS):
        target = torch.tensor(ids[at + 1 : at + 1 + ROWS])
        log_p, log_q = (torch.log_softmax(x[at : at + len(target)].double(), -1) for x in (reference, logits))
        exact_nll -= _sum_of(log_p, target)
        nll -= _sum_of(log_q, target)
        divergence += float((log_p.exp() * (log_p - log_q)).sum())
    return Sums(len(ids) - 1, exact_nll, nll, divergence)


def _sum_of(log_probabilities: Tensor, target: Tensor) -> float:
    return float(log_probabilities.gather(1, target[:, None]).sum())
