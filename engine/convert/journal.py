"""The parts of an import, what its journal notes of them, and what is asked of a source that is still downloaded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from engine.convert.pieces import COMPANIONS, ExpertPieces, ExpertPlan
from engine.formats.source import FileExtent, WeightSource
from engine.store.datafile import TensorShape
from engine.store.manifest import FileHash
from engine.store.writer import LayerShape, dense_key, record_key


@dataclass(frozen=True)
class ImportPart:
    """An expert of a layer; or, where `layer` is None, a tensor of the rest. nbytes: in the store. key: in its journal.

    extents: where in the source's files lies all that it is made of.
    """

    key: str
    nbytes: int
    layer: LayerShape | None
    expert: int
    name: str
    extents: tuple[FileExtent, ...]


def parts(
    source: WeightSource, plan: ExpertPlan, layers: Sequence[LayerShape], dense: Sequence[TensorShape]
) -> tuple[ImportPart, ...]:
    """Everything that is to be written: experts layer by layer, then the rest."""
    return (*_experts(source, plan, layers), *_dense(source, dense))


def expert_extents(source: WeightSource, pieces: ExpertPieces) -> tuple[FileExtent, ...]:
    """Where all bytes lie that one expert is made of."""
    places = {(piece.key, piece.index) for piece in (*pieces.matrices.values(), *pieces.biases.values())}
    found = dict.fromkeys(
        extent
        for key, index in sorted(places, key=str)
        for name in (key, *(key + ending for ending in COMPANIONS))
        if name in source.entries
        for extent in source.extents(name, () if index is None else (index,))
    )
    return tuple(found)


def _experts(source: WeightSource, plan: ExpertPlan, layers: Sequence[LayerShape]) -> Iterator[ImportPart]:
    for x in layers:
        for e, pieces in enumerate(plan.all_layers[x.index]):
            extents = expert_extents(source, pieces)
            yield ImportPart(record_key(x.index, e), x.spec.layout.nbytes, x, e, "", extents)


def _dense(source: WeightSource, dense: Sequence[TensorShape]) -> Iterator[ImportPart]:
    for t in dense:
        yield ImportPart(dense_key(t.name), t.nbytes, None, 0, t.name, source.extents(t.name))


class ImportJournal(Protocol):
    """The journal of an import: which parts of a store are safely written. A StoreWriter is one."""

    @property
    def missing_bytes(self) -> int:
        """Bytes that are still to be written."""

    def done(self, key: str) -> Any:
        """See StoreWriter."""

    def is_safe(self, key: str) -> bool:
        """Whether a part is on the disk, and is known to be there after a crash."""

    def note(self, key: str, value: Any, nbytes: int = 0) -> None:
        """See StoreWriter."""

    def commit(self) -> None:
        """Make all that is done safe."""

    def forget(self, keys: Iterable[str]) -> None:
        """These parts turned out to be wrong."""


class ChecksumMismatch(Exception):
    """A file has arrived with another checksum than it should have; what was made of it has been forgotten."""


class StreamSource(Protocol):
    """A source of weights that are downloaded while they are imported. Used by one thread; close() in any case.

    Every method may raise UnderhillError, or ChecksumMismatch: then the import starts it once more.
    """

    @property
    def source(self) -> WeightSource:
        """Its tensors may be read once the parts that need them are `ready`."""

    @property
    def files(self) -> tuple[FileHash, ...]:
        """The files that hold the weights, as they are promised to be."""

    @property
    def marks(self) -> tuple[str, ...]:
        """What tells apart sources that believe the same files to hold different things."""

    def start(self, journal: ImportJournal, parts: Sequence[ImportPart]) -> tuple[ImportPart, ...]:
        """Begin to bring what is missing. Gives the parts back in the order in which they will be there."""

    def ready(self, part: ImportPart) -> bool:
        """Whether all that it is made of is there."""

    def wait(self, idle: bool) -> None:
        """Wait a moment for more to arrive. idle: nothing that has arrived is still being worked on."""

    def wrote(self, part: ImportPart) -> None:
        """The part has been written."""

    def finish(self) -> None:
        """Wait until every file was there, and was what it should be."""

    def close(self) -> None:
        """Bring no more."""
