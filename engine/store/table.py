"""A matrix that stays in the dense file: rows are read when a token asks for them, each with its checksum."""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from engine.native.crc32 import crc32, crc32_rows
from engine.native.memory import PAGE, huge
from engine.store import dtypes
from engine.store.disk import DataFile, PosixFile
from engine.store.manifest import DenseTensor
from engine.store.problems import broken, unreadable
from engine.translatable import msg

CHUNK = 8 << 20  # bytes per read while it is looked through
LEAST = 1 << 23  # values; a smaller matrix takes next to no memory
RECENT = 4 << 20  # bytes of rows that stay in memory: an answer's tokens come again and again


def stays(shape: Sequence[int]) -> bool:
    """Whether a matrix of this shape is large enough to be left on the disk."""
    return math.prod(shape) >= LEAST


class TensorTable:
    """Rows [rows, cols] of a tensor, as they are stored. Thread-safe.

    kept: whether the system may keep copies of what was read. Within a control group they would be charged to it.
    Rows that were asked for alone are kept here, as numbers, the last RECENT bytes of them.
    """

    def __init__(self, file: DataFile, path: Path, entry: DenseTensor, *, kept: bool = True) -> None:
        """Looks through all of it once. file: the caller's, open as long as this is used, and at no one place.

        Raises UnderhillError: BROKEN_FILE when it is truncated or not what was written, DISK_ERROR.
        """
        self._kept = kept
        self._file, self._path, self._entry = file, path, entry
        self._dtype = dtypes.TORCH[entry.dtype]
        self._rows, cols = entry.shape
        self._row_bytes = cols * self._dtype.itemsize
        self._recent: dict[int, Tensor] = {}  # the one that was asked for last at the end
        self._most = max(1, RECENT // (cols * torch.float32.itemsize))
        self._lock = threading.Lock()
        self._checksums = self._looked_through()

    @property
    def shape(self) -> tuple[int, ...]:
        """[rows, cols]."""
        return self._entry.shape

    def rows(self, ids: Tensor) -> Tensor:
        """float32 [N, cols]. ids: [N].

        Raises IndexError for one that there is not; UnderhillError: BROKEN_FILE for a row that is not what was written,
        no longer there or no numbers, DISK_ERROR.
        """
        if len(ids) == 1:
            return self._one(int(ids[0])).clone()  # the caller may write to it
        wanted, places = torch.unique(ids, return_inverse=True)  # ascending, as they lie on the disk
        asked: list[int] = wanted.tolist()
        return self._found(asked)[places]

    def write(self, ids: Sequence[int], out: Tensor) -> None:
        """As `rows`, of a few, to out [N, cols], float32."""
        out.copy_(self._one(ids[0]) if len(ids) == 1 else self.rows(torch.tensor(ids, dtype=torch.int64)))

    def _one(self, row: int) -> Tensor:
        """float32 [1, cols], which stays as it is."""
        with self._lock:
            found = self._recent.pop(row, None)
        found = self._found([row]) if found is None else found
        with self._lock:
            self._recent[row] = found
            if len(self._recent) > self._most:
                del self._recent[next(iter(self._recent))]
        return found

    def _found(self, asked: Sequence[int]) -> Tensor:
        """Rows [N, cols] in float32. asked: their numbers, ascending."""
        if asked and not 0 <= asked[0] <= asked[-1] < self._rows:
            raise IndexError(f"rows {asked[0]} to {asked[-1]} of {self._rows}")
        raw = torch.empty(len(asked) * self._row_bytes, dtype=torch.uint8)
        view = memoryview(raw.numpy().data)
        self._announce(asked)
        for at, row in enumerate(asked):
            self._read(row, view[at * self._row_bytes : (at + 1) * self._row_bytes])
        found = raw.view(self._dtype).view(len(asked), self._entry.shape[1]).float()
        if not np.isfinite(found.numpy()).all():
            raise broken(msg("tensor {name} holds numbers that are not finite", name=self._entry.name))
        return found

    def _announce(self, rows: Sequence[int]) -> None:
        """Have the disk fetch them all at once: one after the other each would wait for the one before."""
        if len(rows) > 1 and isinstance(self._file, PosixFile):
            for row in rows:
                self._file.expect(self._at(row), self._row_bytes)

    def _read(self, row: int, view: memoryview) -> None:
        self._fill(self._at(row), view)
        if crc32(view) != self._checksums[row]:
            raise broken(msg("row {row} of tensor {name} does not match its checksum", row=row, name=self._entry.name))
        if not self._kept and isinstance(self._file, PosixFile):
            first = self._at(row) // PAGE * PAGE  # of a page that is named in part nothing is dropped
            self._file.forget(first, -(-(self._at(row) + self._row_bytes) // PAGE) * PAGE - first)

    def _at(self, row: int) -> int:
        return self._entry.offset + row * self._row_bytes

    def _fill(self, offset: int, view: memoryview) -> None:
        try:
            got = self._file.read(offset, [view])
        except OSError as cause:
            raise unreadable(self._path, cause) from cause
        if got != view.nbytes:
            raise broken(msg("tensor {name} is cut short", name=self._entry.name))

    def _looked_through(self) -> npt.NDArray[np.uint32]:
        """The checksum of every row, all of them being together what the manifest says."""
        # The manifest has one checksum for the whole tensor; those of single rows, by which a row is checked when a
        # token reads it, are made here, of bytes that add up to that one.
        found = np.empty(self._rows, np.uint32)
        step = max(1, CHUNK // self._row_bytes)
        buffer = memoryview(huge(min(step, self._rows) * self._row_bytes).numpy().data)
        whole = 0
        for first in range(0, self._rows, step):
            count = min(step, self._rows - first)
            part = buffer[: count * self._row_bytes]
            self._fill(self._at(first), part)
            if not self._kept and isinstance(self._file, PosixFile):
                self._file.forget(self._at(first), part.nbytes)
            whole = crc32(part, whole)
            found[first : first + count] = crc32_rows(part, self._row_bytes)
        if whole != self._entry.crc:
            raise broken(msg("tensor {name} does not match its checksum", name=self._entry.name))
        return found
