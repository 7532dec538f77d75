"""What a streamed import asks of the weights that are downloaded meanwhile, and of the journal of its store."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from engine.convert.parts import ImportPart
from engine.formats.source import WeightSource
from engine.store.manifest import FileHash


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

    def start(self, ledger: ImportJournal, parts: Sequence[ImportPart]) -> tuple[ImportPart, ...]:
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
