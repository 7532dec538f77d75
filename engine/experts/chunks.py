"""Cutting a read into chunks of about equal length, which several readers share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from engine.store.disk import DataFile
from engine.store.layout import aligned
from engine.store.reader import Extent

CHUNK = 1 << 20  # bytes: long enough for the disk's full speed, short enough to be soon out of the way


class Chunk(NamedTuple):
    """One read: `nbytes` from `offset` of the file on, into the buffers in turn."""

    file: DataFile
    offset: int
    nbytes: int
    buffers: Sequence[memoryview]


def cut(extents: Sequence[Extent], views: Sequence[memoryview], target: int = CHUNK) -> list[Chunk]:
    """Chunks of about `target` bytes, in the order of the extents. views: one per part, as long as it.

    Their lengths are multiples of what the file reads best, but for the last one of a run. A file that cannot spread
    one read over several buffers gets no chunk that reaches into two. Raises ValueError for views of other lengths.
    """
    found: list[Chunk] = []
    at = 0
    for file, offset, nbytes, parts in extents:
        buffers = views[at : at + len(parts)]
        at += len(parts)
        if sum(buffer.nbytes for buffer in buffers) != nbytes:
            raise ValueError(f"views of {[b.nbytes for b in buffers]} bytes for {nbytes} of parts {parts}")
        for run in (buffers,) if file.scatters else ((buffer,) for buffer in buffers):
            found.extend(_cut_run(file, offset, run, target))
            offset += sum(buffer.nbytes for buffer in run)
    if at != len(views):
        raise ValueError(f"{len(views)} views for {at} parts")
    return found


def _cut_run(file: DataFile, offset: int, run: Sequence[memoryview], target: int) -> Iterator[Chunk]:
    total = sum(buffer.nbytes for buffer in run)
    length = aligned(-(-total // max(1, round(total / target))), file.stride)
    for start in range(0, total, length):
        n = min(length, total - start)
        yield Chunk(file, offset + start, n, _slice(run, start, n))


def _slice(run: Sequence[memoryview], start: int, nbytes: int) -> Sequence[memoryview]:
    """The buffers from byte `start` of the run on, `nbytes` in all."""
    if len(run) == 1:
        return (run[0][start : start + nbytes],)
    found = []
    for buffer in run:
        if start < buffer.nbytes and nbytes > 0:
            found.append(buffer[start : start + nbytes])
            nbytes -= found[-1].nbytes
        start = max(0, start - buffer.nbytes)
    return found
