"""What an import asks of weights that are still on their way, and of a store that is being written."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from engine.convert.parts import Part
from engine.formats.source import Source
from engine.store.manifest import FileHash


class Ledger(Protocol):
    """What is safely written of a store: a StoreWriter."""

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


class Spoiled(Exception):
    """A file has arrived with another checksum than it should have; what was made of it has been forgotten."""


class Incoming(Protocol):
    """A source whose weights arrive while they are imported. Used by one thread; close() in any case.

    Every method may raise UnderhillError, or Spoiled: then the import starts it once more.
    """

    @property
    def source(self) -> Source:
        """Its tensors may be read once the parts that need them are `ready`."""

    @property
    def files(self) -> tuple[FileHash, ...]:
        """The files that hold the weights, as they are promised to be."""

    @property
    def marks(self) -> tuple[str, ...]:
        """What tells apart sources that believe the same files to hold different things."""

    def start(self, ledger: Ledger, parts: Sequence[Part]) -> tuple[Part, ...]:
        """Begin to bring what is missing. Gives the parts back in the order in which they will be there."""

    def ready(self, part: Part) -> bool:
        """Whether all that it is made of is there."""

    def wait(self, idle: bool) -> None:
        """Wait a moment for more to arrive. idle: nothing that has arrived is still being worked on."""

    def wrote(self, part: Part) -> None:
        """The part has been written."""

    def finish(self) -> None:
        """Wait until every file was there, and was what it should be."""

    def close(self) -> None:
        """Bring no more."""
