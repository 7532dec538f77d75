"""Choosing the next token from logits."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import torch
from torch import Tensor

COLDEST = 1e-6  # temperature from which on only the likeliest token is left; logits divided by less may overflow


@dataclass(frozen=True)
class Sampling:
    """How a token is chosen; the fields are those of settings.SAMPLING. temperature 0 is greedy."""

    temperature: float = 0.7
    top_p: float = 0.95
    top_k: int = 0
    min_p: float = 0.0
    repetition_penalty: float = 1.0
    seed: int | None = None
    max_tokens: int = 1024


class Sampler:
    """Draws tokens. The same seed and the same logits give the same tokens."""

    def __init__(self, sampling: Sampling, context: Iterable[int] = ()) -> None:
        self.sampling = sampling
        self._seen: set[int] = set(context) if sampling.repetition_penalty != 1.0 else set()
        self._generator = torch.Generator()
        if sampling.seed is None:
            self._generator.seed()
        else:
            self._generator.manual_seed(sampling.seed)

    def next(self, logits: Tensor) -> int:
        """logits: [V] float32. Returns a token id. Raises ValueError where no logit is a number."""
        if self._seen:
            logits = self._penalized(logits)
        token = self._greedy(logits) if self.sampling.temperature < COLDEST else self._draw(logits)
        if self.sampling.repetition_penalty != 1.0:
            self._seen.add(token)
        return token

    def _greedy(self, logits: Tensor) -> int:
        token = int(torch.argmax(logits))
        if not math.isfinite(float(logits[token])):
            raise ValueError("the model's output is not a number")
        return token

    def _penalized(self, logits: Tensor) -> Tensor:
        """Divide positive logits of tokens seen, multiply negative ones (Keskar et al. 2019, as peers do)."""
        seen = torch.tensor(sorted(self._seen), dtype=torch.long)
        values = logits[seen]
        penalty = self.sampling.repetition_penalty
        return logits.index_copy(0, seen, torch.where(values > 0, values / penalty, values * penalty))

    def _draw(self, logits: Tensor) -> int:
        s = self.sampling
        logits = logits / s.temperature
        top = torch.max(logits)
        if not bool(torch.isfinite(top)):
            raise ValueError("the model's output is not a number")
        ids: Tensor | None = None
        if s.min_p > 0:
            ids = torch.nonzero(logits >= top + math.log(s.min_p)).flatten()
            logits = logits[ids]
        if 0 < s.top_k < logits.numel():
            logits, order = torch.topk(logits, s.top_k)
            ids = order if ids is None else ids[order]
        if s.top_p < 1:
            logits, order = _nucleus(logits, s.top_p)
            ids = order if ids is None else ids[order]
        choice = int(torch.multinomial(torch.softmax(logits, 0), 1, generator=self._generator))
        return choice if ids is None else int(ids[choice])


def _nucleus(logits: Tensor, top_p: float) -> tuple[Tensor, Tensor]:
    """The likeliest tokens that together reach top_p (at least one): their logits and indices, likeliest first.

    Sorting a whole vocabulary costs milliseconds; nearly always a few hundred tokens hold the mass.
    """
    total = torch.logsumexp(logits, 0)
    width = 256
    while True:
        width = min(width, logits.numel())
        values, order = torch.topk(logits, width)
        mass = torch.cumsum(torch.exp(values - total), 0)
        if width == logits.numel() or float(mass[-1]) >= top_p:
            keep = int(torch.searchsorted(mass, top_p)) + 1
            return values[:keep], order[:keep]
        width *= 8
