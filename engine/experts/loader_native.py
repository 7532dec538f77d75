"""The loader whose threads are the native library's: they never wait for Python's lock, and nobody waits for theirs."""

from __future__ import annotations

import ctypes
import os
import threading
import weakref
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from engine.errors import Kind, UnderhillError
from engine.experts.chunks import CHUNK, packed
from engine.experts.keys import ExpertKey, ExpertSource
from engine.experts.loader import ChunkListener
from engine.experts.meter import Load, Loads
from engine.experts.request import Request, Urgency
from engine.kernels.reads import CANCELLED, DAMAGED, MOST_PARTS, PART, REFUSED, RUN, SHORT, End, Reads
from engine.store.problems import altered, refused, shortened
from engine.store.reader import Extent
from engine.translatable import msg


class Plan(NamedTuple):
    """How some parts of an expert are read, the same every time. runs, chunks: see Reads.submit.

    sizes: bytes by part.
    """

    extents: Sequence[Extent]
    sizes: list[int]
    checksums: Sequence[int]
    runs: bytes
    chunks: bytes


class NativeLoader:
    """See Loader. source: whose files the system knows by a descriptor or handle. chunk: bytes, about.

    instead: see Reads. Raises NativeMissing, or UnderhillError(OUT_OF_MEMORY) when there are no threads to be had.
    """

    def __init__(self, source: ExpertSource, readers: int, chunk: int = CHUNK, instead: Any = None) -> None:
        self.readers = readers
        self._source = source
        self._chunk = chunk
        self._listener: ChunkListener | None = None
        self._requests: dict[int, Request] = {}  # which keep alive the memory that is read into
        self._plans: dict[tuple[ExpertKey, tuple[int, ...]], Plan] = {}
        self._lock = threading.Lock()
        self._reads = Reads(readers, instead)
        weakref.finalize(self, self._reads.stop)  # before that memory is let go

    @property
    def listener(self) -> ChunkListener | None:
        """See Loader; called from `ended` and `wait`."""
        return self._listener

    @listener.setter
    def listener(self, listener: ChunkListener | None) -> None:
        self._reads.listen(listener is not None)
        self._listener = listener

    def submit(
        self,
        key: ExpertKey,
        parts: Sequence[int],
        views: Sequence[memoryview],
        urgency: Urgency = Urgency.DEMAND,
        addresses: Sequence[int] = (),
    ) -> Request:
        """See Loader. Raises ValueError for views of other lengths, TypeError for some that cannot be written to, where
        no addresses are given.
        """
        given = [view.nbytes for view in views]
        plan = self._plans.get((key, parts := tuple(parts)))
        if plan is None:
            plan = self._plans[key, parts] = self.plan(key, parts, given)
        sizes = plan.sizes
        if given != sizes:
            raise ValueError(f"views of {given} bytes for {sizes} of parts {parts}")
        at = addresses or [ctypes.addressof(ctypes.c_char.from_buffer(view)) for view in views]
        memory = b"".join([PART.pack(*part) for part in zip(at, sizes, plan.checksums, strict=True)])
        request = Request(key, parts, views, plan.extents, urgency)
        with self._lock:
            request.number = self._reads.submit(urgency, memory, plan.runs, plan.chunks)
            self._requests[request.number] = request
        return request

    def plan(self, key: ExpertKey, parts: tuple[int, ...], sizes: list[int]) -> Plan:
        """How these parts are read. sizes: bytes that there is room for. Raises ValueError."""
        if len(parts) > MOST_PARTS:
            raise ValueError(f"{len(parts)} parts; {MOST_PARTS} are the most")
        extents = self._source.extents(key.layer, key.expert, parts)
        runs = b"".join([RUN.pack(file.handle, offset, file.direct) for file, offset, _, _ in extents])
        checksums = self._source.checksums(key.layer, key.expert, parts)
        return Plan(extents, sizes, checksums, runs, packed(extents, sizes, self._chunk))

    @property
    def reads(self) -> Reads:
        """The readers, for whoever keeps requests of his own in a native table."""
        return self._reads

    def tell(self, requests: Mapping[int, Request]) -> None:
        """Tell the listener of chunks of requests that are not the loader's own. requests: by number."""
        if self._listener is not None:  # what belongs to these was written down before they ended
            for number, nbytes, began, done, reader, urgency in self._reads.events():
                self._listener(reader, requests[number], Urgency(urgency), nbytes, began, done)

    def cancel(self, request: Request) -> bool:
        """See Loader."""
        return self._reads.cancel(request.number)

    def demand(self, request: Request) -> None:
        """See Loader."""
        self._reads.demand(request.number)
        request.urgency = Urgency.DEMAND

    def left(self, request: Request) -> int:
        """See Loader."""
        return self._reads.left(request.number)

    def ended(self) -> list[Request]:
        """See Loader."""
        return self._taken(False)

    def wait(self) -> list[Request]:
        """See Loader."""
        return self._taken(True)

    @property
    def idle(self) -> bool:
        """See Loader."""
        return not self._reads.look().open

    def queued(self, urgency: Urgency) -> int:
        """See Loader."""
        return self._reads.look().queued[urgency]

    def loads(self) -> Loads:
        """See Loader."""
        state = self._reads.look()
        by_urgency = {u: Load(state.nbytes[u], state.seconds[u]) for u in Urgency}
        return Loads(by_urgency, state.busy, state.since_open)

    def close(self) -> None:
        """See Loader."""
        self._reads.stop()

    def _taken(self, wait: bool) -> list[Request]:
        ends = self._reads.take(wait)
        if not ends:
            return []
        with self._lock:
            self.tell(self._requests)
            requests = [self._requests.pop(end.number) for end in ends]
        for request, end in zip(requests, ends):
            request.seconds = end.seconds
            if end.status:
                request.error = self.problem(request.key, request.parts, end)
        return requests

    def problem(self, key: ExpertKey, parts: Sequence[int], end: End) -> UnderhillError:
        """Why a read of these parts did not end well."""
        layer, expert = key
        if end.status == CANCELLED:
            return UnderhillError(Kind.CANCELLED, msg("The read was cancelled."))
        if end.status == SHORT:
            return shortened(layer, expert)
        if end.status == DAMAGED:
            part = parts[end.part]
            return altered(layer, expert, self._source.spec(layer, expert).layout.parts[part].name)
        assert end.status == REFUSED, f"no such end: {end}"
        cause = _os_error(end.error)
        error = refused(layer, expert, cause)
        error.__cause__ = cause
        return error


def _os_error(number: int) -> OSError:
    if os.name == "nt":
        return ctypes.WinError(number)  # type: ignore[attr-defined, unused-ignore, no-any-return]
    return OSError(number, os.strerror(number))
