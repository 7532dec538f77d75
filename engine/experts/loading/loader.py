"""Reads experts on C reader threads, which share every read and never hold the interpreter's lock."""

from __future__ import annotations

import ctypes
import os
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from engine.errors import UnderhillError
from engine.experts.keys import ExpertKey, ExpertSource, Urgency
from engine.native.io_pool import CHUNK as PACKED
from engine.native.io_pool import DAMAGED, MOST_PARTS, REFUSED, RUN, SHORT, IoPool
from engine.record.layout import aligned
from engine.store.problems import altered, refused, shortened
from engine.store.reader import Extent

# Bytes (1.5 MiB): long enough for nearly all of the disk's rate, so short that a demand, which overtakes between two
# chunks, waits less than a millisecond on a disk of 2 GB/s (tests.benchmarks.loader --chunk-kb).
CHUNK = 3 << 19

# By extent: bytes of its parts, and what its file says of stride and scatters.
Shapes = tuple[tuple[tuple[int, ...], int, bool], ...]


def packed(extents: Sequence[Extent], sizes: Sequence[int], target: int = CHUNK) -> bytes:
    """Chunks of about `target` bytes as native readers take them, packed by io_pool.CHUNK, in the extents' order.

    sizes: bytes of the parts, in the extents' order. Lengths are multiples of what the file reads best, but for the
    last chunk of a run. A file that cannot spread one read over several buffers gets no chunk that reaches into two
    parts. Raises ValueError for parts of other lengths than the extents'.
    """
    at = 0
    shapes = []
    for file, _, nbytes, parts in extents:
        of_extent = tuple(sizes[at : at + len(parts)])
        at += len(parts)
        if sum(of_extent) != nbytes:
            raise ValueError(f"room of {list(of_extent)} bytes for {nbytes} of parts {parts}")
        shapes.append((of_extent, file.stride, file.scatters))
    if at != len(sizes):
        raise ValueError(f"{len(sizes)} places for {at} parts")
    return _packed(tuple(shapes), target)


@lru_cache(maxsize=256)  # experts of one shape are all cut alike
def _packed(shapes: Shapes, target: int) -> bytes:
    found: list[bytes] = []
    first = 0  # part of the extent
    for extent, (sizes, stride, scatters) in enumerate(shapes):
        at = 0
        for part, run in [(first, sizes)] if scatters else [(first + i, (size,)) for i, size in enumerate(sizes)]:
            # Chunks of equal length rather than full ones and a rest: a short last read costs nearly as much as a whole
            # one, and the readers would not end together.
            total = sum(run)
            length = aligned(-(-total // max(1, round(total / target))), stride)
            for start in range(0, total, length):
                within, into = _place(run, start)
                found.append(PACKED.pack(at + start, min(length, total - start), into, extent, part + within))
            at += total
        first += len(sizes)
    return b"".join(found)


def _place(run: Sequence[int], start: int) -> tuple[int, int]:
    """In which part of a run byte `start` of it lies, and where in that."""
    for part, size in enumerate(run):
        if start < size:
            return part, start
        start -= size
    raise AssertionError("a chunk begins behind its run")


@dataclass(frozen=True)
class IoLoad:
    """Reads of one urgency. bytes: read, whatever became of their request. seconds: with at least one in flight."""

    bytes: int
    seconds: float


@dataclass(frozen=True)
class IoStats:
    """Since the loader was made. by_urgency: what a chunk was read as. busy: seconds with any read in flight.
    seconds: in all."""

    by_urgency: dict[Urgency, IoLoad]
    busy: float
    seconds: float


class ReadPlan(NamedTuple):
    """How some parts of an expert are read, the same every time. runs, chunks: packed for CacheTable.set_plan."""

    checksums: Sequence[int]
    runs: bytes
    chunks: bytes


# Told of every chunk: reader, expert, its parts, urgency it was read with, bytes, start and end by time.perf_counter.
ChunkListener = Callable[[int, ExpertKey, Sequence[int], Urgency, int, tuple[float, float]], None]


class Loader:
    """`readers` threads over a source, whose requests come from the cache's table (PendingLoads).

    Requests of one urgency are read in the order in which they came. A request is cut into chunks, which go to
    whichever reader is free, so that the first request is there first and the last reads end together. A more urgent
    request overtakes between chunks. Less urgent ones are read only while no demanded chunk is waiting or in flight,
    and never by all of the readers if there are several: a demand finds one free, and the disk's queue short.

    source: the system knows its files by a descriptor or handle. chunk: bytes, about. read_hook: see IoPool. Raises
    UnderhillError(OUT_OF_MEMORY) when there are no threads to be had.
    """

    def __init__(self, source: ExpertSource, readers: int, chunk: int = CHUNK, read_hook: Any = None) -> None:
        self.readers = readers
        self.reads = IoPool(readers, read_hook)
        self._source, self._chunk = source, chunk
        self._listener: ChunkListener | None = None
        weakref.finalize(self, self.reads.stop)  # or threads would go on reading for a source that is gone

    @property
    def listener(self) -> ChunkListener | None:
        """Told of every chunk, at the latest when what it belongs to is put in its place; None: nothing is recorded."""
        return self._listener

    @listener.setter
    def listener(self, listener: ChunkListener | None) -> None:
        # First: it raises where there is no memory for events, and nothing has changed then.
        self.reads.listen(listener is not None)
        self._listener = listener

    def plan(self, key: ExpertKey, parts: tuple[int, ...], sizes: Sequence[int]) -> ReadPlan:
        """How these parts are read. sizes: bytes that there is room for. Raises ValueError."""
        # C lists the slices of a chunk in an array of this length on its stack, and checks nothing.
        if len(parts) > MOST_PARTS:
            raise ValueError(f"{len(parts)} parts; {MOST_PARTS} are the most")
        extents = self._source.extents(key.layer, key.expert, parts)
        runs = b"".join([RUN.pack(file.handle, offset, file.direct) for file, offset, _, _ in extents])
        checksums = self._source.checksums(key.layer, key.expert, parts)
        return ReadPlan(checksums, runs, packed(extents, sizes, self._chunk))

    def tell(self, requests: Mapping[int, tuple[ExpertKey, Sequence[int]]]) -> None:
        """Tell the listener of the chunks read so far. requests: expert and parts by number of the request."""
        if self._listener is not None:  # what belongs to these was written down before they ended
            for number, nbytes, began, done, reader, urgency in self.reads.events():
                self._listener(reader, *requests[number], Urgency(urgency), nbytes, (began, done))

    @property
    def idle(self) -> bool:
        """Whether all that was asked for has ended."""
        return not self.reads.look().open

    def io_stats(self) -> IoStats:
        """What was read so far, and how busy the disk was."""
        state = self.reads.look()
        by_urgency = {u: IoLoad(state.nbytes[u], state.seconds[u]) for u in Urgency}
        return IoStats(by_urgency, state.busy, state.since_open)

    def problem(self, key: ExpertKey, parts: Sequence[int], status: int, error: int, part: int) -> UnderhillError:
        """Why a read of these parts failed. status, error, part: see native.io_pool.End."""
        layer, expert = key
        if status == SHORT:
            return shortened(layer, expert)
        if status == DAMAGED:
            return altered(layer, expert, self._source.spec(layer, expert).layout.parts[parts[part]].name)
        assert status == REFUSED, f"a read ended with status {status}"
        cause = _os_error(error)
        failure = refused(layer, expert, cause)
        failure.__cause__ = cause
        return failure

    def close(self) -> None:
        """Cancel what is queued, let the chunks in flight end, and end the threads. Safe to call twice."""
        self.reads.stop()


def _os_error(number: int) -> OSError:
    if os.name == "nt":
        # ReadFile's GetLastError, not an errno: OSError would make a wrong sentence of it.
        return ctypes.WinError(number)  # type: ignore[attr-defined, unused-ignore, no-any-return]
    return OSError(number, os.strerror(number))
