"""Which past answers are like the one that runs, and what they did: PredictEAM (moe-infinity, section 4.5)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from engine.experts.eam import Counts, EamCollection, best, shares

MATCHES = 8  # entries taken together
REQUEST = 0.25  # weight of what the answer did so far beside the token under way


class Matching:
    """Over a collection, which others may add to meanwhile. Matrices are flat here: row * experts + expert.

    A token's own matrix, as far as its layers have been routed, is matched with those of past answers (per iteration);
    beside it tips the scale what this answer did so far, or, before its first token, its prompt, matched with prompts.
    Cosines with the token's matrix go up by K columns a layer, whatever the size of the model.
    """

    def __init__(self, collection: EamCollection) -> None:
        self._collection = collection
        self._changes = -1

    def __len__(self) -> int:
        return len(self._collection)

    def changed(self) -> bool:
        """Whether the collection is another than when this was asked last: then all similarities are out of date."""
        if self._changes == self._collection.changes:
            return False
        self._changes = self._collection.changes
        self._columns = np.ascontiguousarray(self._collection.unit.T)
        self._prompts = self._collection.prompt_unit
        self._by_row = np.ascontiguousarray(self._collection.counts.transpose(1, 0, 2))  # [rows, n, experts]
        return True

    def begun(self, answer: Counts, prompt: Counts) -> Counts:
        """[n]: similarities before the token's first layer. answer, prompt: counts so far, flat."""
        if answer.any():
            return np.asarray(answer @ self._columns * np.float32(REQUEST / np.linalg.norm(answer)), np.float32)
        if prompt.any():
            return np.asarray(self._prompts @ prompt * np.float32(REQUEST / np.linalg.norm(prompt)), np.float32)
        return np.zeros(len(self._collection), np.float32)

    def used(self, used: Sequence[int] | NDArray[np.intp]) -> Counts:
        """[n]: what these uses of the token add to its similarities. used: places in a flat matrix."""
        return np.asarray(self._columns.take(used, 0).sum(0), np.float32)

    def closest(self, similar: Counts) -> NDArray[np.intp]:
        """Indices of the most similar, as many as are taken together."""
        return best(similar, MATCHES)

    def row(self, closest: NDArray[np.intp], row: int) -> Counts:
        """[experts]: counts of a row in these, added up."""
        return np.asarray(self._by_row[row].take(closest, 0).sum(0), np.float32)

    def expected(self, closest: NDArray[np.intp]) -> Counts:
        """[rows, experts]: these added up, as shares of each row; rows sum to 1 or 0."""
        return shares(self._by_row.take(closest, 1).sum(1))
