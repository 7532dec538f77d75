"""Expert activation matrices, the collection of those of past answers, and which of them are like the one that runs.

MoE-Infinity, sections 4.3 to 4.7; PredictEAM is section 4.5.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from engine.errors import Kind, UnderhillError
from engine.filesystem import replacing
from engine.store.arrays import arrays
from engine.translatable import msg

Counts = NDArray[np.float32]

CAPACITY = 120  # the paper's: enough for one model's tasks
VERSION = 2  # of version 1, in whose matrices prompts and answers were one, nothing is taken

MATCHES = 8  # answers added up; the paper takes the one closest
REQUEST = 0.25  # weight of what the answer did so far beside the token being decoded, whose own layers say more


class EamCollection:
    """How often each answer of the past used each expert, and its prompt: at most `capacity` pairs of matrices
    [rows, experts]. Prompt and decoding are traced apart (section 4.3), since a prompt visits nearly every expert.
    """

    def __init__(self, rows: int, experts: int, capacity: int = CAPACITY) -> None:
        self.rows, self.experts, self.capacity = rows, experts, capacity
        self.changes = 0  # counts up with every change, for those that keep something made of it
        self._counts = np.zeros((capacity, rows * experts), np.float32)
        self._prompts = np.zeros_like(self._counts)
        self._n = 0

    def __len__(self) -> int:
        return self._n

    @property
    def counts(self) -> Counts:
        """[n, rows, experts]: of the tokens of answers."""
        return self._counts[: self._n].reshape(self._n, self.rows, self.experts)

    @property
    def prompts(self) -> Counts:
        """[n, rows, experts]: of the tokens of their prompts; 0 all over where the prompt is not known."""
        return self._prompts[: self._n].reshape(self._n, self.rows, self.experts)

    @property
    def unit(self) -> Counts:
        """[n, rows * experts]: answers, each of length 1, so that one product gives all cosines."""
        return unit(self._counts[: self._n])

    @property
    def prompt_unit(self) -> Counts:
        """As `unit`, of the prompts."""
        return unit(self._prompts[: self._n])

    def add(self, counts: Counts, prompt: Counts | None = None) -> None:
        """Keep an answer's matrix [rows, experts] and its prompt's; in a full collection they replace the answer most
        like it (appendix B.1). An answer without a count is not kept.
        """
        flat = counts.reshape(-1).astype(np.float32)
        if not flat.any():
            return
        if self._n < self.capacity:
            at, self._n = self._n, self._n + 1
        else:
            # Scaling `flat` to length 1 would not change which is nearest, so it is left out.
            at = int((self.unit @ flat).argmax())
        self._counts[at] = flat
        self._prompts[at] = 0 if prompt is None else prompt.reshape(-1)
        self.changes += 1

    def clear(self) -> None:
        """Forget all answers; policy and predictor share the collection, so both do."""
        self._n = 0
        self.changes += 1

    def copy(self) -> EamCollection:
        """The same matrices, to add to without changing this one."""
        made = EamCollection(self.rows, self.experts, self.capacity)
        for counts, prompt in zip(self.counts, self.prompts):
            made.add(counts, prompt)
        return made

    def closest(self, counts: Counts, most: int = 1) -> NDArray[np.intp]:
        """Indices of the `most` answers of smallest cosine distance, closest first. counts: [rows, experts]."""
        return best(self.unit @ counts.reshape(-1).astype(np.float32, copy=False), most)

    def save(self, path: Path) -> None:
        """Write a file, whole or not at all. Raises OSError."""
        with replacing(path) as temporary, temporary.open("wb") as file:
            np.savez_compressed(file, version=np.int32(VERSION), counts=self.counts, prompts=self.prompts)

    @classmethod
    def load(cls, path: Path, rows: int, experts: int, capacity: int = CAPACITY) -> EamCollection:
        """What `save` wrote. Raises UnderhillError: MISSING_FILE, BROKEN_FILE also for another model's or version's."""
        try:
            with arrays(path) as found:
                version, both = int(found["version"]), (found["counts"], found["prompts"])
        except FileNotFoundError as e:
            raise UnderhillError(
                Kind.MISSING_FILE, msg("There is no file {path}.", path=path), msg("It is made as the model is used.")
            ) from e
        except Exception as e:  # what numpy and zipfile raise on bad files has no end
            raise _broken(path) from e
        if version != VERSION or len(both[0]) != len(both[1]) or not all(_fits(one, rows, experts) for one in both):
            raise _broken(path)
        made = cls(rows, experts, capacity)
        for counts, prompt in zip(*(one[-capacity:] for one in both)):
            made.add(counts, prompt)
        return made


class EamMatcher:
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


def best(similarity: Counts, most: int) -> NDArray[np.intp]:
    """Indices of the largest, largest first."""
    if most == 1:
        return np.array([similarity.argmax()])
    # argpartition leaves the chosen in any order; sorted stably below, so that a replay adds them up in the order in
    # which the runtime did, to the same float32 sums.
    top = np.argpartition(-similarity, most)[:most] if most < len(similarity) else np.arange(len(similarity))
    return top[(-similarity[top]).argsort(kind="stable")]


def shares(counts: Counts) -> Counts:
    """[rows, experts]: of each row's counts; rows sum to 1 or 0."""
    return np.asarray(counts / np.maximum(counts.sum(1, keepdims=True), 1), np.float32)


def unit(flat: Counts) -> Counts:
    """[n, ...]: rows of length 1, or 0."""
    size = np.linalg.norm(flat, axis=1, keepdims=True)
    return np.divide(flat, size, out=np.zeros_like(flat), where=size > 0)


def _fits(counts: NDArray[np.generic], rows: int, experts: int) -> bool:
    if counts.ndim != 3 or counts.shape[1:] != (rows, experts) or counts.dtype != np.float32:
        return False
    return bool(np.isfinite(counts).all() and counts.min(initial=0) >= 0)


def _broken(path: Path) -> UnderhillError:
    return UnderhillError(
        Kind.BROKEN_FILE,
        msg("{path} holds no activation matrices of this model.", path=path),
        msg("Delete it; it is made anew."),
    )
