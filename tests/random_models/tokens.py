"""Streams of tokens to feed a random model, and how much routing varies along them."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from engine.session import Session

STREAMS = ("uniform", "zipf", "text")
ZIPF_SHIFT = 2.7  # Mandelbrot's, for words of English
AGAIN, NEAR = 0.25, 8  # of a text's words come again out of so many before: see stream
WINDOW = 64  # tokens over which different experts are counted


def stream(kind: str, vocabulary: int, count: int, seed: int = 0) -> list[int]:
    """Tokens drawn evenly ('uniform'), or as words are in a text, a few of them most of the time ('zipf'), or so and
    every fourth one of the last eight ('text').

    Of a random model every word has experts of its own, of a trained one words near each other share some. 'text' makes
    up for that: an LRU cache per layer of 12.5, 25, 50 and 75 % of 128 experts, 8 chosen by the word alone, then finds
    18, 36, 61 and 80 %, and 20, 37, 61 and 78 % on the built-in model's routing of chats.
    """
    generator = torch.Generator().manual_seed(seed)
    if kind == "uniform":
        return torch.randint(0, vocabulary, (count,), generator=generator).tolist()
    ranks = torch.arange(1, vocabulary + 1, dtype=torch.float64)
    drawn = torch.multinomial(1 / (ranks + ZIPF_SHIFT), count, replacement=True, generator=generator)
    words: list[int] = torch.randperm(vocabulary, generator=generator)[drawn].tolist()
    if kind == "text":
        again = (torch.rand(count, generator=generator) < AGAIN).tolist()
        back = torch.randint(1, NEAR + 1, (count,), generator=generator).tolist()
        for at in range(NEAR, count):
            if again[at]:
                words[at] = words[at - back[at]]
    return words


class _Routes:
    """Expert ids by layer, [T, k] each."""

    def __init__(self) -> None:
        self.ids: dict[int, list[Tensor]] = {}

    def __call__(self, layer: int, ids: Tensor, weights: Tensor) -> None:
        self.ids.setdefault(layer, []).append(ids.clone())


def routing(session: Session, tokens: Sequence[int]) -> dict[str, float]:
    """Means over layers: entropy of the use of experts as a share of the greatest, different experts in WINDOW tokens.

    distinct_even: as many as would be met if every token chose evenly. repeated: the share of a token's experts that
    the token before it used.
    """
    routes = _Routes()
    with session.listening(routes):
        session.logits(tokens, one_by_one=False)
    entropy, distinct, repeated = [], [], []
    experts, k = session.card.experts, session.card.experts_per_token
    for parts in routes.ids.values():
        ids = torch.cat(parts)
        share = torch.bincount(ids.flatten().long(), minlength=experts).double() / ids.numel()
        entropy.append(float(-(share * share.clamp_min(1e-12).log()).sum()) / math.log(experts))
        distinct += [len(part.unique()) for part in ids.split(WINDOW) if len(part) == WINDOW]
        repeated.append(float((ids[1:, :, None] == ids[:-1, None, :]).any(-1).float().mean()))
    return {
        "entropy": _mean(entropy),
        "distinct": _mean(distinct),
        "distinct_even": experts * (1 - (1 - k / experts) ** WINDOW),
        "repeated": _mean(repeated),
        "repeated_even": k / experts,
    }


def _mean(values: Sequence[float]) -> float:
    return round(sum(values) / len(values), 4)
