"""Reads experts on a few persistent threads that share every read: what is demanded before what is only expected."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from engine.experts.keys import ExpertKey
from engine.experts.meter import Loads
from engine.experts.request import Request, Urgency

# Told of every chunk: reader, request, urgency it was read with, bytes, start and end by time.perf_counter.
ChunkListener = Callable[[int, Request, Urgency, int, float, float], None]


class Loader(Protocol):
    """`readers` threads over a source. Requests of one urgency are read in the order in which they came.

    A request is cut into chunks, which go to whichever reader is free, so that the first request is there first and the
    last reads end together. A more urgent request overtakes between chunks. Less urgent ones are read only while no
    demanded chunk is waiting or under way, and never by all of the readers if there are several: a demand finds one
    free, and the disk's queue short. Two kinds: NativeLoader and ThreadLoader.

    listener: None, or told of every chunk, on whatever thread, at the latest before its request is handed out.
    """

    readers: int

    @property
    def listener(self) -> ChunkListener | None: ...

    @listener.setter
    def listener(self, listener: ChunkListener | None) -> None: ...

    def submit(
        self,
        key: ExpertKey,
        parts: Sequence[int],
        views: Sequence[memoryview],
        urgency: Urgency = Urgency.DEMAND,
        addresses: Sequence[int] = (),
    ) -> Request:
        """Queue a read of these parts into `views`, one each, which are the loader's until it hands the request out.

        addresses: where the views begin, if that is known: to find that out takes longer than all else.
        """

    def cancel(self, request: Request) -> bool:
        """Read no more of it; False when all of it is read or being read, and it ends as if nothing had been said.

        True: it ends as cancelled, at once or with the chunks under way, and is handed out like the others.
        """

    def demand(self, request: Request) -> None:
        """A speculative read turned out to be needed: what is left of it queues with what is demanded."""

    def left(self, request: Request) -> int:
        """Bytes of it that no reader has taken yet."""

    def ended(self) -> list[Request]:
        """Those that have ended, each handed out once, in the order in which they did; without waiting.

        For one thread at a time, as is `wait`.
        """

    def wait(self) -> list[Request]:
        """The same, after waiting for one to end. None are handed out only when none is open."""

    @property
    def idle(self) -> bool:
        """Whether all that was asked for has ended."""

    def queued(self, urgency: Urgency) -> int:
        """Bytes asked for with this urgency that no reader has taken yet."""

    def loads(self) -> Loads:
        """What was read so far, and how busy the disk was."""

    def close(self) -> None:
        """Cancel what is queued, let the chunks under way end, and end the threads. Safe to call twice.

        What has ended by that is still handed out.
        """
