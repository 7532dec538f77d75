"""One read of some parts of an expert: what is asked for, how urgently, and how it ended."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from enum import IntEnum

from engine.errors import UnderhillError
from engine.experts.chunks import Chunk
from engine.experts.keys import ExpertKey
from engine.store.reader import Extent


class Urgency(IntEnum):
    """Whoever is lower goes first. DEMAND: somebody waits for it; REPAIR: a coarse expert is in use in its place;
    PREFETCH: it is only expected to be asked for."""

    DEMAND = 0
    REPAIR = 1
    PREFETCH = 2


class Request:
    """Ends exactly once: done (error is None), failed (error) or cancelled (error of kind CANCELLED).

    views: one per part, in their order. seconds: from the start of its first chunk to its end. Everything else that can
    be written to belongs to the loader.
    """

    __slots__ = (
        "_ended", "_open", "chunks", "error", "extents", "failure", "key", "nbytes", "next", "parts", "seconds",
        "started", "under_way", "urgency", "views",
    )  # fmt: skip

    def __init__(
        self,
        key: ExpertKey,
        parts: Sequence[int],
        views: Sequence[memoryview],
        extents: Sequence[Extent],
        chunks: Sequence[Chunk],
        urgency: Urgency,
        ended: Callable[[Request], None] | None,
    ) -> None:
        self.key = key
        self.parts = tuple(parts)
        self.views = views
        self.extents = extents
        self.nbytes = sum([extent.nbytes for extent in extents])
        self.urgency = urgency
        self.error: UnderhillError | None = None
        self.seconds = 0.0
        self.chunks = chunks
        self.next = 0  # of the chunks: those before it have been taken by a reader
        self.under_way = 0  # chunks that a reader has in hand
        self.started = 0.0  # by time.perf_counter; 0: not yet
        self.failure: UnderhillError | None = None  # what it will end with
        self._ended = ended
        self._open = threading.Lock()  # held until it has ended: the cheapest thing that can be waited for
        self._open.acquire()

    @property
    def left(self) -> int:
        """Bytes that no reader has taken yet."""
        return sum(chunk.nbytes for chunk in self.chunks[self.next :])

    def wait(self) -> None:
        """Until it has ended; nobody writes to the views any more."""
        with self._open:
            pass

    def give_up(self, failure: UnderhillError) -> None:
        """For the loader only: chunks that no reader has taken are not read, and it ends with the first failure."""
        self.next = len(self.chunks)
        if self.failure is None:
            self.failure = failure

    def end(self) -> None:
        """For the loader only, once nobody writes to the views any more."""
        self.error = self.failure
        self._open.release()
        if self._ended is not None:
            self._ended(self)
