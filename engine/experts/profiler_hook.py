"""The profiler hook: told of every layer's experts, every wait and every read."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Protocol

from engine.experts.keys import ExpertKey, Urgency


class ProfilerHook(Protocol):
    """Times are by time.perf_counter. Called on the thread that runs the model; none may block."""

    def entered(self, layer: int, tokens: int, now: float) -> None:
        """A layer asks for its experts, which its router has chosen."""

    def left(self, layer: int, now: float) -> None:
        """The layer has its answer, or an error."""

    def computed(self, layer: int, experts: int, start: float, end: float) -> None:
        """The kernels ran so many experts of the layer that was entered."""

    def waited(self, layer: int, start: float, end: float) -> None:
        """The thread did nothing, for the want of an expert."""

    def chunk(
        self, reader: int, key: ExpertKey, parts: Sequence[int], urgency: Urgency, nbytes: int, start: float, end: float
    ) -> None:
        """A reader read a piece of these parts of an expert, or failed to; called some time after it."""


NOT_PROFILED: AbstractContextManager[None] = nullcontext()


@contextmanager
def profiled(observer: ProfilerHook, layer: int, tokens: int) -> Iterator[None]:
    """Tell it of entering a layer and of leaving it."""
    observer.entered(layer, tokens, time.perf_counter())
    try:
        yield
    finally:
        observer.left(layer, time.perf_counter())
