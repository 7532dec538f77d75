"""An expert store opened for reading: records straight into cache slots, dense tensors into anonymous memory."""

from __future__ import annotations

import errno
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from engine.errors import Kind, UnderhillError
from engine.limits import MANIFEST_BYTES
from engine.native.crc32 import crc32
from engine.record.layout import ExpertSpec
from engine.regular_file import FileTooLarge, read_regular
from engine.store import manifest as manifests
from engine.store.dense import DenseWeights
from engine.store.disk import DataFile, open_file
from engine.store.manifest import Manifest, Record, StoredLayer
from engine.store.problems import altered, broken, refused, shortened, unreadable
from engine.translatable import NO_TEXT, msg, system_reason


class Extent(NamedTuple):
    """A run of bytes of an expert on disk; offset and nbytes are multiples of 4096. parts: those that it is made of."""

    file: DataFile
    offset: int
    nbytes: int
    parts: tuple[int, ...]


class Store:
    """A complete store. Every method may be called from many threads at once.

    io_mode: 'direct' or 'buffered', how records are really read. io_note: why, when direct I/O was wanted in vain.
    """

    def __init__(self, path: Path, manifest: Manifest, direct: str) -> None:
        self.path = path
        self.manifest = manifest
        self.io_note = NO_TEXT
        self._layers = {layer.index: layer for layer in manifest.all_layers}
        self._files: dict[int, DataFile] = {}
        self._dense: DenseWeights | None = None
        try:
            for layer in manifest.all_layers:
                self._files[layer.index] = self._open(layer, direct)
            self._dense = DenseWeights(path, manifest)
        except BaseException:
            self.close()
            raise
        self.io_mode = "direct" if all(f.direct for f in self._files.values()) else "buffered"

    @classmethod
    def open(cls, path: Path | str, direct: str = "auto") -> Store:
        """Open the store at `path`. direct: 'auto' falls back to buffered reads and says so; 'on'; 'off'.

        Raises UnderhillError: NOT_A_MODEL when there is no manifest, BROKEN_FILE, MISSING_FILE, UNSUPPORTED_MODEL,
        DISK_ERROR when a file cannot be opened or direct='on' is not possible here.
        """
        path = Path(path)
        return cls(path, load_manifest(path), direct)

    @property
    def layers(self) -> tuple[int, ...]:
        """The MoE layers, by the model's own layer index, ascending."""
        return tuple(layer.index for layer in self.manifest.layers)

    @property
    def mtp(self) -> tuple[int, ...]:
        """The layers for multi-token prediction that are stored, by their index in the checkpoint."""
        return tuple(layer.index for layer in self.manifest.mtp)

    @property
    def config(self) -> dict[str, Any]:
        """The model's config.json."""
        return self.manifest.config

    @property
    def dense(self) -> DenseWeights:
        """Every tensor that is not an expert, by its name in the checkpoint."""
        assert self._dense is not None
        return self._dense

    def experts(self, layer: int) -> int:
        """How many experts a layer has."""
        return len(self._layers[layer].records)

    def spec(self, layer: int, expert: int = 0) -> ExpertSpec:
        """Shape, encoding and layout of an expert."""
        return self.manifest.specs[self._record(layer, expert).spec]

    def expert_bytes(self, tier: int | None = None, *, mtp: bool = False) -> int:
        """Bytes of all experts at `tier` (each at its best where it has no such tier); None: everything stored.

        mtp: of those of the layers for multi-token prediction instead.
        """
        total = 0
        for layer in self.manifest.mtp if mtp else self.manifest.layers:
            for record in layer.records:
                spec = self.manifest.specs[record.spec]
                layout = spec.layout
                total += layout.nbytes if tier is None else layout.bytes_for(tier if tier in spec.tiers else spec.top)
        return total

    def extents(self, layer: int, expert: int, parts: Sequence[int]) -> list[Extent]:
        """Where these parts of an expert lie: one Extent for every run of parts that follow one another."""
        record, file = self._record(layer, expert), self._files[layer]
        stored = self.manifest.specs[record.spec].layout.parts
        found: list[Extent] = []
        for index in parts:
            part = stored[index]
            if found and found[-1].parts[-1] + 1 == index:
                last = found[-1]
                found[-1] = Extent(file, last.offset, last.nbytes + part.nbytes, (*last.parts, index))
            else:
                found.append(Extent(file, record.offset + part.offset, part.nbytes, (index,)))
        return found

    def checksums(self, layer: int, expert: int, parts: Sequence[int]) -> list[int]:
        """The CRC-32 of each of these parts as it was written."""
        crcs = self._record(layer, expert).crcs
        return [crcs[index] for index in parts]

    def check(self, layer: int, expert: int, parts: Sequence[int], buffers: Sequence[memoryview]) -> None:
        """Compare these parts, as they were read, with their checksums.

        Raises UnderhillError(BROKEN_FILE) naming the expert and the part.
        """
        record = self._record(layer, expert)
        for index, buffer in zip(parts, buffers, strict=True):
            if crc32(buffer) != record.crcs[index]:
                raise altered(layer, expert, self.manifest.specs[record.spec].layout.parts[index].name)

    def read_parts(self, layer: int, expert: int, parts: Sequence[int], buffers: Sequence[memoryview]) -> None:
        """Read these parts of one expert, one into each buffer; parts that follow one another with a single read.

        buffers: writable, as long as their parts; for direct I/O they start on multiples of 4096.
        Every part is checked against its checksum. Raises UnderhillError: BROKEN_FILE naming the expert when it is
        truncated or damaged, DISK_ERROR when the device says no. The buffers' content is then undefined.
        """
        stored = self.spec(layer, expert).layout.parts
        views = [memoryview(b).cast("B") for b in buffers]
        if not views or [v.nbytes for v in views] != [stored[index].nbytes for index in parts]:
            raise ValueError(f"buffers of {[v.nbytes for v in views]} bytes for parts {list(parts)} of {stored}")
        left = iter(views)
        for extent in self.extents(layer, expert, parts):
            try:
                got = extent.file.read(extent.offset, list(islice(left, len(extent.parts))))
            except OSError as cause:
                raise refused(layer, expert, cause) from cause
            if got != extent.nbytes:
                raise shortened(layer, expert)
        self.check(layer, expert, parts, views)

    def read_through_cache(self) -> None:
        """From now on read records through the system's file cache. None must be under way, nor any file in use."""
        for layer in self.manifest.all_layers:
            self._files.pop(layer.index).close()
            self._files[layer.index] = self._open(layer, "off")
        self.io_mode = "buffered"

    def close(self) -> None:
        """Release all files. Reading afterwards fails."""
        for file in self._files.values():
            file.close()
        if self._dense is not None:
            self._dense.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _record(self, layer: int, expert: int) -> Record:
        return self._layers[layer].records[expert]

    def _open(self, layer: StoredLayer, direct: str) -> DataFile:
        path = self.path / layer.file
        try:
            try:
                file = open_file(path, direct != "off")
            except OSError as cause:
                # open(2) documents EINVAL for a file system without O_DIRECT; some network and FUSE file systems say
                # EOPNOTSUPP. All else (no permission, too many open files) would befall a buffered open as well.
                if direct == "off" or cause.errno not in (errno.EINVAL, errno.EOPNOTSUPP):
                    raise
                if direct == "on":
                    raise UnderhillError(
                        Kind.DISK_ERROR, msg("This disk doesn't support direct I/O."), msg("Switch it to auto or off.")
                    ) from cause
                self.io_note = msg(
                    "This disk doesn't support direct I/O ({strerror}); the file cache is used.",
                    strerror=system_reason(cause),
                )
                file = open_file(path, False)
        except OSError as cause:
            raise unreadable(path, cause) from cause
        # At opening, so that a store that was cut short is refused before a chat begins and not at some token.
        last = max(layer.records, key=lambda r: r.offset, default=None)
        if last is not None and last.offset + self.manifest.specs[last.spec].layout.nbytes > file.size:
            file.close()
            raise broken(msg("{file} is cut short", file=layer.file))
        return file


def load_manifest(path: Path) -> Manifest:
    """The manifest of the store at `path`, validated. Raises UnderhillError as Store.open does."""
    file = path / manifests.NAME
    try:
        text = read_regular(file, MANIFEST_BYTES)
    except FileTooLarge as cause:
        raise broken(msg("its manifest is impossibly long")) from cause
    except (FileNotFoundError, NotADirectoryError) as cause:
        raise UnderhillError(
            Kind.NOT_A_MODEL,
            msg("No imported model at {path}.", path=path),
            msg("Select a model or import one."),
        ) from cause
    except OSError as cause:
        raise unreadable(file, cause) from cause
    return manifests.loads(text)
