"""Expert activation matrices, and the collection of those of past requests (moe-infinity, sections 4.3 to 4.7)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from engine.errors import Kind, UnderhillError
from engine.store.atomic import replacing

Counts = NDArray[np.float32]

CAPACITY = 120  # the paper's: enough for one model's tasks
VERSION = 1


class EamCollection:
    """How often each request of the past used each expert: at most `capacity` matrices [rows, experts].

    unit: [n, rows * experts] float32, each of length 1, so that one product gives all cosines.
    """

    def __init__(self, rows: int, experts: int, capacity: int = CAPACITY) -> None:
        self.rows, self.experts, self.capacity = rows, experts, capacity
        self.changes = 0  # counts up with every change, for who keeps something made of it
        self._counts = np.zeros((capacity, rows * experts), np.float32)
        self._unit = np.zeros_like(self._counts)
        self._n = 0

    def __len__(self) -> int:
        return self._n

    @property
    def unit(self) -> Counts:
        """[n, rows * experts], of length 1."""
        return self._unit[: self._n]

    @property
    def counts(self) -> Counts:
        """[n, rows, experts]."""
        return self._counts[: self._n].reshape(self._n, self.rows, self.experts)

    def add(self, counts: Counts) -> None:
        """Keep a request's matrix [rows, experts]; in a full collection it replaces the one most like it.

        A matrix without a count is not kept.
        """
        flat = counts.reshape(-1).astype(np.float32)
        size = float(np.linalg.norm(flat))
        if size == 0:
            return
        if self._n < self.capacity:
            at, self._n = self._n, self._n + 1
        else:
            at = int((self.unit @ flat).argmax())
        self._counts[at], self._unit[at] = flat, flat / size
        self.changes += 1

    def closest(self, counts: Counts, most: int = 1) -> NDArray[np.intp]:
        """Indices of the `most` entries of smallest cosine distance, closest first. counts: [rows, experts]."""
        return best(self.unit @ counts.reshape(-1).astype(np.float32, copy=False), most)

    def expected(self, counts: Counts, most: int = 3) -> Counts:
        """[rows, experts]: shares of each row's uses in the closest entries taken together; rows sum to 1 or 0."""
        summed = self.counts[self.closest(counts, most)].sum(0)
        return summed / np.maximum(summed.sum(1, keepdims=True), 1)

    def save(self, path: Path) -> None:
        """Write a file, whole or not at all. Raises OSError."""
        with replacing(path) as temporary, temporary.open("wb") as file:
            np.savez_compressed(file, version=np.int32(VERSION), counts=self.counts)

    @classmethod
    def load(cls, path: Path, rows: int, experts: int, capacity: int = CAPACITY) -> EamCollection:
        """What `save` wrote. Raises UnderhillError: MISSING_FILE, BROKEN_FILE also for another model's."""
        try:
            with np.load(path, allow_pickle=False) as found:
                version, counts = int(found["version"]), found["counts"]
        except FileNotFoundError as e:
            raise UnderhillError(
                Kind.MISSING_FILE, f"There is no file {path}.", "It is made as the model is used."
            ) from e
        except Exception as e:  # what numpy and zipfile raise on bad files has no end
            raise _broken(path) from e
        fits = counts.ndim == 3 and counts.shape[1:] == (rows, experts) and counts.dtype == np.float32
        if version != VERSION or not fits or not np.isfinite(counts).all() or counts.min(initial=0) < 0:
            raise _broken(path)
        made = cls(rows, experts, capacity)
        for one in counts[-capacity:]:
            made.add(one)
        return made


def best(similarity: Counts, most: int) -> NDArray[np.intp]:
    """Indices of the largest, largest first."""
    if most == 1:
        return np.array([similarity.argmax()])
    top = np.argpartition(-similarity, most)[:most] if most < len(similarity) else np.arange(len(similarity))
    return top[(-similarity[top]).argsort(kind="stable")]


def _broken(path: Path) -> UnderhillError:
    return UnderhillError(
        Kind.BROKEN_FILE, f"{path} holds no activation matrices of this model.", "Delete it; it is made anew."
    )
