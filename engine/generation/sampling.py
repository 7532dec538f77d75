"""Choosing the next token from logits.

In numpy: a vocabulary of 152,000 takes it 0.2 ms by the usual settings, and torch's functions 0.9.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from engine.errors import Kind, UnderhillError
from engine.translatable import msg

NEAR = 8.0  # below the likeliest token's logit, where one looks for a nucleus first
COLDEST = 1e-6  # temperature from which on only the likeliest token is left; logits divided by less may overflow

Floats = NDArray[np.float32]
Ids = NDArray[np.intp]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True)
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
        self._penalizing = sampling.repetition_penalty != 1.0
        self._seen: set[int] = set(context) if self._penalizing else set()
        self._random = np.random.default_rng(sampling.seed)
        # For what is made of all logits, token after token: had anew each time, its pages would come from the system.
        self._room: Floats = np.empty((2, 0), np.float32)

    def next(self, logits: Tensor, allowed: Mask | None = None) -> int:
        """logits: [V] float32. allowed: [V], where not every token is. Returns a token id.

        Raises UnderhillError(BROKEN_FILE) where a logit is no number.
        """
        values: Floats = logits.cpu().numpy()
        if allowed is not None:
            values = np.where(allowed | ~np.isfinite(values), values, np.float32(-np.inf))
        if self._seen:
            # Before the likeliest is looked for: greedy decoding repeats itself most of all.
            values = self._penalized(values)
        likeliest = int(np.argmax(values))
        if not math.isfinite(values[likeliest]):
            raise UnderhillError(
                Kind.BROKEN_FILE,
                msg("The model's weights are damaged: its output is not a number."),
                msg("Import the model again or choose another."),
            )
        token = likeliest if self.sampling.temperature < COLDEST else self._draw(values)
        if self._penalizing:
            self._seen.add(token)
        return token

    def _penalized(self, logits: Floats) -> Floats:
        """Divide positive logits of tokens seen, multiply negative ones (Keskar et al. 2019, as peers do)."""
        seen = np.fromiter(self._seen, np.intp, len(self._seen))
        changed, values, penalty = logits.copy(), logits[seen], np.float32(self.sampling.repetition_penalty)
        changed[seen] = np.where(values > 0, values / penalty, values * penalty)
        return changed

    def _draw(self, logits: Floats) -> int:
        s = self.sampling
        if self._room.shape[1] != logits.size:
            self._room = np.empty((2, logits.size), np.float32)
        logits = np.multiply(logits, np.float32(1 / s.temperature), out=self._room[0])
        logits -= logits.max()
        ids: Ids | None = None
        if s.min_p > 0:
            ids = np.flatnonzero(logits >= math.log(s.min_p))
            logits = logits[ids]
        if 0 < s.top_k < logits.size:
            order = np.argpartition(logits, -s.top_k)[-s.top_k :]
            logits, ids = logits[order], order if ids is None else ids[order]
        if s.top_p < 1:
            order = _nucleus(logits, s.top_p, self._room[1, : logits.size])
            logits, ids = logits[order], order if ids is None else ids[order]
        mass = np.cumsum(np.exp(logits), dtype=np.float64)
        # float64: 262,144 probabilities summed one by one in float32 would lose the rarest.
        choice = int(np.searchsorted(mass, self._random.random() * mass[-1], side="right"))
        return choice if ids is None else int(ids[choice])


def log_probabilities(logits: Tensor, token: int, most: int) -> tuple[float, list[tuple[int, float]]]:
    """Natural logarithms of probabilities, before any sampling setting: of `token`, and of the `most` likeliest."""
    values = logits.cpu().numpy().astype(np.float64)
    values -= values.max()
    values -= math.log(float(np.exp(values).sum()))
    top = np.argpartition(values, -most)[-most:] if 0 < most < values.size else np.arange(values.size if most else 0)
    top = top[np.argsort(-values[top], kind="stable")]
    return float(values[token]), [(int(i), float(values[i])) for i in top]


def _nucleus(logits: Floats, top_p: float, room: Floats) -> Ids:
    """Indices of the likeliest tokens that together reach top_p (at least one), likeliest first. The highest is 0.

    Sorting a whole vocabulary costs milliseconds. Nearly always those near the likeliest hold the mass; and all tokens
    less likely than (1 - top_p) / V cannot hold more than 1 - top_p, however many they are.
    room: as many values as logits, which are written over.
    """
    wanted = top_p * float(np.exp(logits, out=room).sum(dtype=np.float64))
    bound = math.log((1 - top_p) * wanted / (top_p * logits.size)) if top_p > 0 else 0.0
    for cut in (-NEAR, -1.5 * NEAR, min(bound, -NEAR)):
        near = np.flatnonzero(logits >= cut)
        near = near[np.argsort(-logits[near])]
        mass = np.cumsum(np.exp(logits[near]), dtype=np.float64)
        if mass[-1] >= wanted:
            break
    return near[: int(np.searchsorted(mass, wanted)) + 1]
