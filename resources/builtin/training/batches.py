"""Random batches from the packed corpus, and fixed ones for evaluation."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from training.corpus import MIX

_QUESTION_WEIGHT = 0.0  # of tokens that are not part of an answer: names and numbers there cannot be foretold


class Batch(NamedTuple):
    """[B, T] each; `weights` is zero where the target separates chats."""

    ids: Tensor
    targets: Tensor
    weights: Tensor


class Source:
    """One packed source: a ring of tokens."""

    def __init__(self, packed: Path, name: str, split: str) -> None:
        self.ids = np.load(packed / f"{name}_{split}.npy")
        self.answer = np.load(packed / f"{name}_{split}_answer.npy")
        self.starts = np.concatenate([[0], np.flatnonzero(self.ids[:-1] == 0) + 1])

    def offset(self, rng: np.random.Generator) -> int:
        """Half of the sequences begin where a chat begins, as every real prompt does."""
        if rng.random() < 0.5:
            return int(rng.choice(self.starts))
        return int(rng.integers(len(self.ids)))

    def window(self, offset: int, length: int) -> tuple[np.ndarray, np.ndarray]:
        """`length` + 1 ids and answer marks from `offset` on."""
        at = np.arange(offset, offset + length + 1)
        return np.take(self.ids, at, mode="wrap"), np.take(self.answer, at, mode="wrap")


def _batch(windows: list[tuple[np.ndarray, np.ndarray]], question_weight: float) -> Batch:
    ids = torch.from_numpy(np.stack([w[0] for w in windows]).astype(np.int64))
    answer = torch.from_numpy(np.stack([w[1] for w in windows]).astype(np.int64))[:, 1:]
    targets = ids[:, 1:]
    weights = torch.where(answer > 0, 1.0, question_weight) * (targets != 0)
    return Batch(ids[:, :-1], targets, weights)


class Sampler:
    """Draws training batches by the shares of `MIX`."""

    def __init__(self, packed: Path, seed: int) -> None:
        self._sources = [Source(packed, name, "train") for name in MIX]
        shares = np.array(list(MIX.values()))
        self._shares = shares / shares.sum()
        self._rng = np.random.default_rng(seed)

    def draw(self, count: int, length: int) -> Batch:
        """Weights sum to 1."""
        windows = []
        for source, n in zip(self._sources, self._rng.multinomial(count, self._shares), strict=True):
            windows += [source.window(source.offset(self._rng), length) for _ in range(n)]
        batch = _batch(windows, _QUESTION_WEIGHT)
        return batch._replace(weights=batch.weights / batch.weights.sum())


def held_out(packed: Path, count: int, length: int) -> dict[str, Batch]:
    """Evenly spread windows of every source's test split; weights mark the answers only."""
    batches = {}
    for name in MIX:
        source = Source(packed, name, "test")
        offsets = np.linspace(0, len(source.ids) - length - 2, count).astype(int)
        batches[name] = _batch([source.window(int(o), length) for o in offsets], 0.0)
    return batches
