"""What a model keeps between sessions of how it is used: which experts lay in memory, and how often chats used which.

Counts and numbers of experts, no text and no tokens; the setting `remember_routing` switches it off and removes it.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from engine.errors import UnderhillError
from engine.experts.eam import EamCollection
from engine.experts.keys import ExpertKey, ExpertSource
from engine.store.atomic import replace_file
from engine.store.fields import DAMAGED

RESIDENTS = "residents.json"
MATRICES = "activations.npz"
VERSION = 1


class Memories:
    """Of one store. collection: activation matrices of past answers (moe-infinity, section 4.3)."""

    def __init__(self, store: Path, source: ExpertSource) -> None:
        self._store, self._source = store, source
        self._experts = max(source.experts(layer) for layer in source.layers)
        self.collection = self._collection()
        self._written = self.collection.changes

    def residents(self) -> list[ExpertKey]:
        """The experts that lay in memory when the model was last put away, in the order of the disk; or none."""
        try:
            found = json.loads((self._store / RESIDENTS).read_text(encoding="utf-8"))
            if found["version"] != VERSION:
                return []
            keys = {ExpertKey(int(layer), int(e)) for layer, experts in found["layers"].items() for e in experts}
        except DAMAGED:
            return []
        known = {layer: self._source.experts(layer) for layer in self._source.layers}
        return sorted(key for key in keys if 0 <= key.expert < known.get(key.layer, 0))

    def answered(self, uses: tuple[tuple[int, ...], ...]) -> None:
        """An answer has come to its end. uses: by layer and expert, of its prompt and its tokens."""
        counts = np.zeros((len(uses), self._experts), np.float32)
        for row, own in enumerate(uses):
            counts[row, : len(own)] = own
        self.collection.add(counts)

    def likely(self, uses: tuple[tuple[int, ...], ...] | None = None) -> list[ExpertKey]:
        """Experts that chats use, the most used first: like this one, where it has begun, or any."""
        if not len(self.collection):
            return []
        if uses is None or not any(map(any, uses)):
            shares = self.collection.counts.sum(0)
            shares /= np.maximum(shares.sum(1, keepdims=True), 1)
        else:
            counts = np.zeros((len(uses), self._experts), np.float32)
            for row, own in enumerate(uses):
                counts[row, : len(own)] = own
            shares = self.collection.expected(counts)
        order = np.argsort(-shares, axis=None, kind="stable")
        rows, experts = np.unravel_index(order[: int((shares > 0).sum())], shares.shape)
        return [ExpertKey(self._source.layers[row], int(expert)) for row, expert in zip(rows, experts)]

    def keep(self, resident: set[ExpertKey]) -> None:
        """Write what changed. Raises OSError."""
        layers: dict[int, list[int]] = {}
        for key in sorted(resident):
            layers.setdefault(key.layer, []).append(key.expert)
        replace_file(self._store / RESIDENTS, json.dumps({"version": VERSION, "layers": layers}).encode())
        if self.collection.changes != self._written:
            self.collection.save(self._store / MATRICES)
            self._written = self.collection.changes

    def forget(self) -> None:
        """Remove all of it. Raises OSError."""
        for file in (RESIDENTS, MATRICES):
            (self._store / file).unlink(missing_ok=True)
        self.collection = self._collection()
        self._written = self.collection.changes

    def _collection(self) -> EamCollection:
        rows = len(self._source.layers)
        try:
            return EamCollection.load(self._store / MATRICES, rows, self._experts)
        except UnderhillError:  # there is none yet, or it is damaged: it is made as the model is used
            return EamCollection(rows, self._experts)
