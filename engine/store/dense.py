"""The dense weights of a store: every tensor that is not an expert, read on demand into anonymous memory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import torch
from torch import Tensor

from engine.errors import Kind, UnderhillError
from engine.native.crc32 import crc32
from engine.native.memory import huge
from engine.quantization.coded import Coded
from engine.store import dtypes
from engine.store.disk import DataFile, PosixFile, open_file
from engine.store.manifest import DenseTensor, Manifest
from engine.store.problems import broken, unreadable
from engine.store.table import TensorTable, stays
from engine.translatable import msg

CHUNK = 8 << 20  # bytes per read, so that checksums are taken while the bytes are still in the cache
AHEAD = 16 << 20  # more than systems read ahead

# From here on a tensor is a mapping of its own, which goes back to the system when it is packed. On the heap, into
# which glibc puts anything up to 32 MB after a while, such holes stayed: 470 MB of them after opening OLMoE (measured).
OWN_MAPPING = 1 << 18


class DenseWeights:
    """Tensors by name, as they were in the checkpoint. Thread-safe.

    copies: whether the system may keep some of what tables read from now on, for the next time.
    """

    def __init__(self, path: Path, manifest: Manifest) -> None:
        """Raises UnderhillError(MISSING_FILE, DISK_ERROR or BROKEN_FILE)."""
        self._tensors = {t.name: t for t in manifest.dense}
        self._path = path / manifest.dense_file
        self._file = self._opened()
        self._scattered: DataFile | None = None  # the same once more, for tables
        self.copies = True
        # At opening: else it would be found in the middle of loading, after gigabytes were read.
        if any(t.offset + t.nbytes > self._file.size for t in manifest.dense):
            self.close()
            raise broken(msg("{name} is cut short", name=self._path.name))

    def __iter__(self) -> Iterator[str]:
        return iter(self._tensors)

    def __len__(self) -> int:
        return len(self._tensors)

    def has(self, name: str) -> bool:
        """True if there is such a tensor."""
        return name in self._tensors

    def entry(self, name: str) -> DenseTensor:
        """Type, shape and length of a tensor, without reading it."""
        return self._tensors[name]

    def get(self, name: str) -> Tensor:
        """A fresh tensor in anonymous memory, in the stored type; float32 where codes are stored.

        Raises UnderhillError: MISSING_FILE when there is none, BROKEN_FILE naming the tensor, or DISK_ERROR.
        """
        coded = self.coded(name)
        if coded is not None:
            return coded.values()
        entry, dtype = self._known(name), dtypes.TORCH[self._known(name).dtype]
        return self.raw(name).view(dtype).view(entry.shape)

    def coded(self, name: str) -> Coded | None:
        """A matrix as the codes that it is stored as, freshly read; None where it is stored in another way.

        Raises UnderhillError as `get` does.
        """
        entry = self._known(name)
        if entry.coding is None:
            return None
        rows, cols = entry.shape
        return Coded(self.raw(name), entry.coding, rows, cols)

    def raw(self, name: str) -> Tensor:
        """The bytes of a tensor, uint8 [n], in anonymous memory. Raises UnderhillError as `get` does."""
        entry = self._known(name)
        data = torch.empty(entry.nbytes, dtype=torch.uint8) if entry.nbytes < OWN_MAPPING else huge(entry.nbytes)
        if entry.nbytes:
            self._fill(entry, memoryview(data.numpy().data))
        return data

    def _known(self, name: str) -> DenseTensor:
        if name not in self._tensors:
            raise UnderhillError(
                Kind.MISSING_FILE, msg("The model has no tensor {name}.", name=name), msg("Import it again.")
            )
        return self._tensors[name]

    def table(self, name: str) -> TensorTable | None:
        """A matrix whose rows stay on the disk until they are asked for, looked through once; valid until `close`.

        None where it is small, or not stored as plain numbers.

        Raises UnderhillError as `get` does.
        """
        entry = self._tensors.get(name)
        if entry is None or entry.coding or entry.dtype not in dtypes.FLOATS or not stays(entry.shape):
            return None
        if self._scattered is None:
            self._scattered = self._opened()
            if isinstance(self._scattered, PosixFile):
                self._scattered.scattered()
        return TensorTable(self._scattered, self._path, entry, kept=self.copies)

    def _opened(self) -> DataFile:
        try:
            return open_file(self._path, direct=False)
        except OSError as cause:
            raise unreadable(self._path, cause) from cause

    def _fill(self, entry: DenseTensor, view: memoryview) -> None:
        crc = 0
        for at in range(0, entry.nbytes, CHUNK):
            part = view[at : at + CHUNK]
            try:
                got = self._file.read(entry.offset + at, [part])
            except OSError as cause:
                raise unreadable(self._path, cause) from cause
            if isinstance(self._file, PosixFile):  # elsewhere such copies count as free memory
                last = at + part.nbytes == entry.nbytes  # then with what the system read ahead: no tensor need follow
                self._file.forget(entry.offset + at, part.nbytes + (AHEAD if last else 0))
            if got != part.nbytes:
                raise broken(msg("tensor {name} is cut short", name=entry.name))
            crc = crc32(part, crc)
        if crc != entry.crc:
            raise broken(msg("tensor {name} does not match its checksum", name=entry.name))

    def close(self) -> None:
        """Release the file."""
        for file in (self._file, self._scattered):
            if file is not None:
                file.close()
