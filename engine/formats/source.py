"""Where in files the bytes of a tensor lie, and how they are read: from a disk, or from what arrives over a network."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import torch
from torch import Tensor

from engine.formats.errors import broken_file, missing_tensor, unreadable
from engine.quantization.grouped import GroupedCodes
from engine.record.coding import Coding
from engine.regular_file import open_unbuffered
from engine.store import dtypes
from engine.translatable import NO_TEXT, Translatable, msg

Read = Callable[[Path, int, memoryview], None]  # file, offset, memory to fill; raises UnderhillError


@dataclass(frozen=True)
class FileExtent:
    """Bytes start .. stop of a file."""

    file: Path
    start: int
    stop: int


def read_file(file: Path, offset: int, into: memoryview) -> None:
    """Fill `into` from a file on a disk; unbuffered, so that memory stays flat.

    Raises UnderhillError: BROKEN_FILE where the file is too short, DISK_ERROR.
    """
    try:
        with open_unbuffered(file) as source:
            source.seek(offset)
            while into:
                n = source.readinto(into)
                if not n:
                    raise broken_file(msg("{name} is cut short.", name=file.name))
                into = into[n:]
    except OSError as cause:
        raise unreadable(file, cause) from cause


ACT_ORDER = ", act-order"  # ends the name of a form whose inputs are in groups of their own
_COARSE = 5.25  # bits per expert weight; MXFP4, GPTQ, AWQ and GGUF up to Q4_K_M have fewer


class TensorInfo(Protocol):
    """One tensor as it is handed out. dtype as in safetensors."""

    @property
    def name(self) -> str:
        """As on the hub."""

    @property
    def dtype(self) -> str:
        """'BF16', 'F32' and so on."""

    @property
    def shape(self) -> tuple[int, ...]:
        """In torch's order."""

    @property
    def nbytes(self) -> int:
        """Bytes of its data as it is handed out."""


@dataclass(frozen=True)
class Form:
    """How a source holds its weights. bits: about how many an expert weight takes in it, scales included."""

    name: str
    bits: float


class CodedRows(Protocol):
    """A matrix [rows, columns] whose codes can be kept as they are."""

    @property
    def coding(self) -> Coding:
        """How all of its rows are coded, from headers alone."""

    def grouped(self, start: int, stop: int) -> GroupedCodes:
        """Rows start .. stop. Raises UnderhillError(BROKEN_FILE or DISK_ERROR)."""


class WeightSource(Protocol):
    """A model to import, whatever it is stored as. Opening reads headers and no weights."""

    @property
    def path(self) -> Path:
        """What was chosen: a folder or a file."""

    @property
    def config(self) -> dict[str, Any]:
        """As its config.json says it, or would."""

    @property
    def entries(self) -> Mapping[str, TensorInfo]:
        """All tensors by name."""

    @property
    def files(self) -> tuple[Path, ...]:
        """The files that hold the weights."""

    @property
    def originals(self) -> tuple[Path, ...]:
        """The files that decide what the store will hold, weights first."""

    @property
    def form(self) -> Form:
        """The format, and how fine it is."""

    def companions(self) -> AbstractContextManager[tuple[Path, ...]]:
        """The small files to take along (config, tokenizer, template), sorted by name, there while inside."""

    def entry(self, name: str) -> TensorInfo:
        """One tensor. Raises UnderhillError(MISSING_FILE)."""

    def tensor(self, name: str) -> Tensor:
        """A whole tensor. Raises as `part`."""

    def part(self, name: str, index: tuple[int, ...], rows: tuple[int, int] | None = None) -> Tensor:
        """tensor[index] (leading dimensions), or tensor[index][rows[0]:rows[1]]; reads little more than that.

        Raises UnderhillError: MISSING_FILE when there is no such tensor, BROKEN_FILE, DISK_ERROR.
        """

    def coded(self, name: str) -> CodedRows | None:
        """The rows of a tensor as the codes that they are, where a record can keep them as they are; None elsewhere."""

    def extents(self, name: str, index: tuple[int, ...] = ()) -> tuple[FileExtent, ...]:
        """Where in the files all bytes lie that reading tensor[index] needs. Raises UnderhillError(MISSING_FILE)."""

    def chunks(self, name: str) -> Iterator[memoryview]:
        """The bytes of a tensor in small pieces; each may be overwritten by the next."""


def suited(bits: float) -> int:
    """Bits of the finest tier that is worth storing of a source with so many per expert weight: 4 or 8."""
    return 4 if 0 < bits < _COARSE else 8


def again(form: str, bits: float, top: int, kept: bool) -> Translatable:
    """A sentence where a source of about 4 bits was stored with 4 that are not its own, so that it lost twice; else ''.

    top: bits stored. kept: whether any expert has the codes of its source.
    """
    if kept or top != suited(bits) or suited(bits) != 4:
        return NO_TEXT
    if form.endswith(ACT_ORDER):
        return msg(
            "Its codes could not be kept, since act-order puts each of its inputs into a group of its own: they were "
            "quantized a second time, and the errors told are what that cost."
        )
    return msg("Its codes were not kept but quantized a second time; the errors told are what that cost.")


def bound(form: str, bits: float) -> Translatable:
    """A sentence on what a coarse source means for every tier of the store; '' where it means nothing."""
    if not 0 < bits < 16:
        return NO_TEXT
    return msg(
        "Its source was already quantized ({form}, about {bits} bits per weight), which limits the quality of "
        "every precision: errors are measured against that source, not against the original model.",
        form=form,
        bits=f"{bits:.3g}",
    )


CHUNK = 8 << 20  # bytes of a tensor made at once while streaming it


class DecodedRows(Protocol):
    """A matrix [rows, columns] whose rows are made on demand."""

    def read(self, start: int, stop: int) -> Tensor:
        """[stop - start, columns]. Raises UnderhillError(BROKEN_FILE or DISK_ERROR)."""

    def extents(self) -> tuple[FileExtent, ...]:
        """Where the bytes of all rows lie."""


@dataclass(frozen=True, eq=False)
class DecodedEntry:
    """A tensor as it is handed out: `rows`, converted to `dtype` and seen as `shape`. A vector is one row.

    coded: the same as codes, where a store may keep them; None: they mean nothing that a record can say.
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    rows: DecodedRows
    coded: CodedRows | None = None

    @property
    def nbytes(self) -> int:
        """Bytes as it is handed out."""
        return dtypes.nbytes(self.dtype, self.shape)

    def read(self, start: int, stop: int) -> Tensor:
        """tensor[start:stop]; all of a vector is made for any part of it."""
        kind = dtypes.TORCH[self.dtype]
        if len(self.shape) == 1:
            return self.rows.read(0, 1).reshape(self.shape)[start:stop].to(kind)
        return self.rows.read(start, stop).to(kind).reshape(stop - start, *self.shape[1:])

    def part(self, index: tuple[int, ...], rows: tuple[int, int] | None) -> Tensor:
        """See WeightSource.part."""
        if not index:
            start, stop = rows if rows is not None else (0, self.shape[0])
            return self.read(start, stop)
        inner = self.read(index[0], index[0] + 1)[0]
        for i in index[1:]:
            inner = inner[i]
        return inner if rows is None else inner[rows[0] : rows[1]]

    def chunks(self) -> Iterator[memoryview]:
        """See WeightSource.chunks: whole rows, at most CHUNK bytes of them (one row at least)."""
        step = self.shape[0]
        if len(self.shape) > 1:
            step = max(1, CHUNK // (self.nbytes // self.shape[0]))
        for start in range(0, self.shape[0], step):
            part = self.read(start, min(start + step, self.shape[0])).contiguous()
            yield memoryview(part.reshape(-1).view(torch.uint8).numpy().data)


class DecodedSource:
    """What a WeightSource says of tensors that are decoded; `plain` has those that lie in files as they are."""

    def __init__(self, entries: Mapping[str, TensorInfo], plain: WeightSource | None = None) -> None:
        self.entries = entries
        self._plain = plain

    def entry(self, name: str) -> TensorInfo:
        """See WeightSource."""
        try:
            return self.entries[name]
        except KeyError:
            raise missing_tensor(name) from None

    def tensor(self, name: str) -> Tensor:
        """See WeightSource."""
        return self.part(name, ())

    def part(self, name: str, index: tuple[int, ...], rows: tuple[int, int] | None = None) -> Tensor:
        """See WeightSource."""
        source = self._entry_or_plain(name)
        return source.part(index, rows) if isinstance(source, DecodedEntry) else source.part(name, index, rows)

    def coded(self, name: str) -> CodedRows | None:
        """See WeightSource."""
        entry = self.entries.get(name)
        return entry.coded if isinstance(entry, DecodedEntry) else None

    def extents(self, name: str, index: tuple[int, ...] = ()) -> tuple[FileExtent, ...]:
        """See WeightSource. Of what is decoded: all that stands for the whole tensor."""
        source = self._entry_or_plain(name)
        return source.rows.extents() if isinstance(source, DecodedEntry) else source.extents(name, index)

    def chunks(self, name: str) -> Iterator[memoryview]:
        """See WeightSource."""
        source = self._entry_or_plain(name)
        return source.chunks() if isinstance(source, DecodedEntry) else source.chunks(name)

    def _entry_or_plain(self, name: str) -> DecodedEntry | WeightSource:
        entry = self.entry(name)
        if isinstance(entry, DecodedEntry):
            return entry
        assert self._plain is not None
        return self._plain
