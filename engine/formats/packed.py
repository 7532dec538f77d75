"""Checkpoints whose matrices are packed small numbers with scales (GPTQ, NVFP4, HQQ, MLX …), as if they were not."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from torch import Tensor

from engine.errors import Kind, UnderhillError
from engine.formats.checkpoint import Checkpoint
from engine.formats.decoded import DecodedEntry, read_chunks, read_part
from engine.formats.extents import FileExtent
from engine.formats.packed_integers import PackedRows, Packing
from engine.formats.packed_mlx import mlx_entries
from engine.formats.source import CodedRows, Form, TensorInfo, lacking
from engine.translatable import msg

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
    def of(cls, checkpoint: Checkpoint, packings: tuple[Packing, ...]) -> PackedCheckpoint:
        """The same checkpoint with its matrices unpacked. packings: at least one.

        Raises UnderhillError: UNSUPPORTED_MODEL for what is packed in another way, MISSING_FILE or BROKEN_FILE where
        what decodes a matrix is not there or does not fit it.
        """
        held = checkpoint.entries
        stems: dict[str, Packing] = {}
        for name, entry in held.items():
            stem, _, ending = name.rpartition(".")
            packing = next((p for p in packings if p.main == ending and p.dtype == entry.dtype), None)
            if packing is not None:
                stems[stem] = packing
        if not stems:
            raise UnderhillError(
                Kind.BROKEN_FILE,
                msg("config.json says that the weights are {name}, and none of them is.", name=packings[0].form.name),
                msg("Download the model again."),
            )
        gone = {f"{stem}.{ending}" for stem, p in stems.items() for ending in (p.main, *p.companions)}
        unused = tuple(f".{ending}" for p in packings for ending in p.unused)
        entries: dict[str, TensorInfo] = {
            name: entry for name, entry in held.items() if name not in gone and not name.endswith(unused or "\0")
        }
        for stem, packing in stems.items():
            rows = PackedRows(checkpoint, stem, packing)
            name = f"{stem}.weight"
            kind = "F32" if _EXPERT.search(name) else "BF16"
            entries[name] = DecodedEntry(name, kind, packing.shape(rows), rows, rows.coded())
        for name in [f"{stem}.bias" for stem in stems if f"{stem}.bias" in entries and _EXPERT.search(stem)]:
            if not bool(checkpoint.tensor(name).any()):  # some packers give every matrix a bias of zeros
                del entries[name]
        config = dict(checkpoint.config)
        method = (config.get("quantization_config") or {}).get("quant_method")
        if method != "fp8":  # experts of a layer in one float8 tensor stay so, and need what it says
            config.pop("quantization_config", None)
        return cls(checkpoint, config, packings[0].form, entries)

    @classmethod
    def of_mlx(cls, checkpoint: Checkpoint) -> PackedCheckpoint:
        """The same checkpoint, which MLX wrote, under the hub's names. Raises UnderhillError: see mlx_entries."""
        form, entries = mlx_entries(checkpoint)
        config = {k: v for k, v in checkpoint.config.items() if k not in ("quantization", "quantization_config")}
        return cls(checkpoint, config, form, entries)

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

    def extents(self, name: str, index: tuple[int, ...] = ()) -> tuple[FileExtent, ...]:
        """See Source. Of what is packed: all that stands for the matrix."""
        entry = self.entry(name)
        return entry.rows.extents() if isinstance(entry, DecodedEntry) else self._checkpoint.extents(name, index)

    def coded(self, name: str) -> CodedRows | None:
        """See Source."""
        entry = self.entries.get(name)
        return entry.coded if isinstance(entry, DecodedEntry) else None

    def chunks(self, name: str) -> Iterator[memoryview]:
        """See Source."""
        entry = self.entry(name)
        return read_chunks(entry) if isinstance(entry, DecodedEntry) else self._checkpoint.chunks(name)
