"""Checkpoints whose matrices are packed integers with scales (GPTQ, AWQ, compressed-tensors), as if they were not."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from torch import Tensor

from engine.errors import Kind, UnderhillError
from engine.hub.checkpoint import Checkpoint
from engine.hub.sources.decoded import DecodedEntry, read_chunks, read_part
from engine.hub.sources.extents import Extent
from engine.hub.sources.packings import PACKINGS, PackedRows
from engine.hub.sources.source import Form, TensorInfo, lacking

_EXPERT = re.compile(r"(^|\.)experts\.\d+\.")


class PackedCheckpoint:
    """See Source. What is not packed comes out of the files as it lies there."""

    def __init__(
        self, checkpoint: Checkpoint, config: dict[str, Any], form: Form, entries: Mapping[str, TensorInfo]
    ) -> None:
        self.path = checkpoint.path
        self.config = config
        self.form = form
        self.entries = entries
        self._checkpoint = checkpoint

    @classmethod
    def of(cls, checkpoint: Checkpoint) -> PackedCheckpoint:
        """The same checkpoint with its matrices unpacked.

        Raises UnderhillError: UNSUPPORTED_MODEL for packings that are not known, MISSING_FILE or BROKEN_FILE where
        what decodes a matrix is not there or does not fit it.
        """
        settings = checkpoint.config["quantization_config"]
        packing = PACKINGS[settings["quant_method"]](settings)
        entries: dict[str, TensorInfo] = {}
        stems = []
        for name, entry in checkpoint.entries.items():
            stem, _, ending = name.rpartition(".")
            if ending == packing.main and entry.dtype == packing.dtype:
                stems.append(stem)
            elif ending not in packing.companions:
                entries[name] = entry
        if not stems:
            raise UnderhillError(
                Kind.BROKEN_FILE,
                f"config.json says that the weights are {packing.form.name}, and none of them is.",
                "Download the model again.",
            )
        for stem in stems:
            rows = PackedRows(checkpoint, stem, packing)
            name = f"{stem}.weight"
            entries[name] = DecodedEntry(name, "F32" if _EXPERT.search(name) else "BF16", packing.shape(rows), rows)
        for name in [f"{stem}.bias" for stem in stems if f"{stem}.bias" in entries and _EXPERT.search(stem)]:
            if not bool(checkpoint.tensor(name).any()):  # some packers give every matrix a bias of zeros
                del entries[name]
        config = dict(checkpoint.config)
        if settings["quant_method"] != "fp8":  # experts of a layer in one float8 tensor stay so, and need what it says
            del config["quantization_config"]
        return cls(checkpoint, config, packing.form, entries)

    @property
    def files(self) -> tuple[Path, ...]:
        """The shards."""
        return self._checkpoint.files

    @property
    def originals(self) -> tuple[Path, ...]:
        """The shards and the small files."""
        return self._checkpoint.originals

    def companions(self) -> AbstractContextManager[tuple[Path, ...]]:
        """The small files, as they lie in the folder."""
        return self._checkpoint.companions()

    def entry(self, name: str) -> TensorInfo:
        """See Source."""
        try:
            return self.entries[name]
        except KeyError:
            raise lacking(name) from None

    def tensor(self, name: str) -> Tensor:
        """See Source."""
        return self.part(name, ())

    def part(self, name: str, index: tuple[int, ...], rows: tuple[int, int] | None = None) -> Tensor:
        """See Source."""
        entry = self.entry(name)
        if isinstance(entry, DecodedEntry):
            return read_part(entry, index, rows)
        return self._checkpoint.part(name, index, rows)

    def extents(self, name: str, index: tuple[int, ...] = ()) -> tuple[Extent, ...]:
        """See Source. Of what is packed: all that stands for the matrix."""
        entry = self.entry(name)
        return entry.rows.extents() if isinstance(entry, DecodedEntry) else self._checkpoint.extents(name, index)

    def chunks(self, name: str) -> Iterator[memoryview]:
        """See Source."""
        entry = self.entry(name)
        return read_chunks(entry) if isinstance(entry, DecodedEntry) else self._checkpoint.chunks(name)
