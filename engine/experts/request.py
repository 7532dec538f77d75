"""One read of some parts of an expert: what is asked for, how urgently, and how it ended."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum

from engine.errors import UnderhillError
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

    views: one per part, in their order; a reader may write to them until it has ended. seconds: from the start of its
    first chunk to the end of its last. number: for the loader alone, to whom all that can be written to belongs.
    """

    __slots__ = ("error", "extents", "key", "nbytes", "number", "parts", "seconds", "urgency", "views")

    def __init__(
        self,
        key: ExpertKey,
        parts: Sequence[int],
        views: Sequence[memoryview],
        extents: Sequence[Extent],
        urgency: Urgency,
    ) -> None:
        self.key = key
        self.parts = tuple(parts)
        self.views = views
        self.extents = extents
        self.nbytes = sum([extent.nbytes for extent in extents])
        self.urgency = urgency
        self.number = 0
        self.error: UnderhillError | None = None
        self.seconds = 0.0
