"""What a model keeps between sessions of how it is used: which experts lay in memory, and how often chats used which.

Counts and numbers of experts, no text and no tokens; the setting `remember_routing` switches it off and removes it.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from engine import filesystem
from engine.errors import UnderhillError
from engine.experts.eam import Counts, EamCollection, EamMatcher, shares
from engine.experts.keys import ExpertKey, ExpertSource
from engine.filesystem import replace_file
from engine.regular_file import read_json
from engine.store.fields import DAMAGED

RESIDENTS = "residents.json"
MATRICES = "activations.npz"
VERSION = 1  # of residents.json: another one counts as none

Uses = tuple[tuple[int, ...], ...]  # by layer and expert


class RoutingHistory:
    """Of one store. collection: activation matrices of past answers (moe-infinity, section 4.3), for as long as it is
    open: the policy 'activation' and the predictor 'eam' go by it.
    """

    def __init__(self, store: Path, source: ExpertSource) -> None:
        self._store, self._source = store, source
        self._experts = max(source.experts(layer) for layer in source.layers)
        self.collection = collection_of(store, len(source.layers), self._experts)
        self._written = self.collection.changes

    def residents(self) -> list[ExpertKey]:
        """The experts that lay in memory when the model was last put away, in the order of the disk; or none."""
        try:
            found = read_json(self._store / RESIDENTS)
            if found["version"] != VERSION:
                return []
            keys = {ExpertKey(int(layer), int(e)) for layer, experts in found["layers"].items() for e in experts}
        except DAMAGED:
            return []
        known = {layer: self._source.experts(layer) for layer in self._source.layers}
        return sorted(key for key in keys if 0 <= key.expert < known.get(key.layer, 0))

    def matrix(self, uses: Uses) -> Counts:
        """[rows, experts] of counts by layer and expert."""
        counts = np.zeros((len(uses), self._experts), np.float32)
        for row, own in enumerate(uses):
            counts[row, : len(own)] = own
        return counts

    def answered(self, prompt: Uses, uses: Uses) -> None:
        """An answer has come to its end. prompt: uses by layer and expert when its prompt was through; uses: by now."""
        asked = self.matrix(prompt)
        self.collection.add(self.matrix(uses) - asked, asked)

    def likely(self) -> list[ExpertKey]:
        """Experts that answers use, the most used first."""
        return self._ordered(shares(self.collection.counts.sum(0)))

    def likely_after(self, prompt: Uses) -> list[ExpertKey]:
        """Experts that answers to prompts like this one use: shares times proximity, the first layer being the nearest
        (moe-infinity, section 4.5).
        """
        if not len(self.collection):
            return []
        matching, asked = EamMatcher(self.collection), self.matrix(prompt).reshape(-1)
        matching.changed()
        found = matching.expected(matching.closest(matching.begun(np.zeros_like(asked), asked)))
        return self._ordered(found * (1 - np.arange(len(found))[:, None] / len(found)))

    def _ordered(self, worth: NDArray[np.floating]) -> list[ExpertKey]:
        order = np.argsort(-worth, axis=None, kind="stable")
        rows, experts = np.unravel_index(order[: int((worth > 0).sum())], worth.shape)
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
            filesystem.remove(self._store / file, missing_ok=True)
        self.collection.clear()  # the same object: policy and predictor go by it
        self._written = self.collection.changes


def collection_of(store: Path, rows: int, experts: int) -> EamCollection:
    """What is kept of a model's past answers; empty where there is nothing yet, or it is damaged or of an older
    version: it is made as the model is used.
    """
    try:
        return EamCollection.load(store / MATRICES, rows, experts)
    except UnderhillError:
        return EamCollection(rows, experts)
