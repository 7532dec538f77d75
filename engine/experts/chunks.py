"""Cutting a read into chunks of about equal length, which several readers share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from engine.kernels.reads import CHUNK as PACKED
from engine.store.layout import aligned
from engine.store.reader import Extent

CHUNK = 3 << 19  # bytes: long enough for nearly all of the disk's speed, short enough to be soon out of the way


class Chunk(NamedTuple):
    """One read: `nbytes` from byte `start` of extent number `extent` on. slices: (view, from, to), filled in turn."""

    extent: int
    start: int
    nbytes: int
    slices: tuple[tuple[int, int, int], ...]


def cut(extents: Sequence[Extent], views: Sequence[memoryview], target: int = CHUNK) -> tuple[Chunk, ...]:
    """Chunks of about `target` bytes, in the order of the extents. views: one per part, as long as it.

    Their lengths are multiples of what the file reads best, but for the last one of a run. A file that cannot spread
    one read over several buffers gets no chunk that reaches into two. Raises ValueError for views of other lengths.
    """
    return _cut(_shapes(extents, [view.nbytes for view in views]), target)


def packed(extents: Sequence[Extent], sizes: Sequence[int], target: int = CHUNK) -> bytes:
    """The same as native readers take them: a run for every extent, a part for every view. sizes: of the views."""
    return _packed(_shapes(extents, sizes), target)


def read(chunk: Chunk, extents: Sequence[Extent], views: Sequence[memoryview]) -> int:
    """Returns how many bytes there were; raises OSError."""
    extent = extents[chunk.extent]
    return extent.file.read(extent.offset + chunk.start, [views[view][a:b] for view, a, b in chunk.slices])


# By extent: bytes of its views, and what its file says of stride and scatters.
Shapes = tuple[tuple[tuple[int, ...], int, bool], ...]


def _shapes(extents: Sequence[Extent], of_views: Sequence[int]) -> Shapes:
    at = 0
    shapes = []
    for file, _, nbytes, parts in extents:
        sizes = tuple(of_views[at : at + len(parts)])
        at += len(parts)
        if sum(sizes) != nbytes:
            raise ValueError(f"views of {list(sizes)} bytes for {nbytes} of parts {parts}")
        shapes.append((sizes, file.stride, file.scatters))
    if at != len(of_views):
        raise ValueError(f"{len(of_views)} views for {at} parts")
    return tuple(shapes)


@lru_cache(maxsize=256)
def _cut(shapes: Shapes, target: int) -> tuple[Chunk, ...]:
    """Experts of one shape are all cut alike, and asked for a thousand times a second."""
    found: list[Chunk] = []
    first = 0  # view of the extent
    for extent, (sizes, stride, scatters) in enumerate(shapes):
        at = 0
        for index, run in [(0, sizes)] if scatters else [(i, (size,)) for i, size in enumerate(sizes)]:
            total = sum(run)
            length = aligned(-(-total // max(1, round(total / target))), stride)
            for start in range(0, total, length):
                n = min(length, total - start)
                found.append(Chunk(extent, at + start, n, tuple(_slices(run, first + index, start, n))))
            at += total
        first += len(sizes)
    return tuple(found)


@lru_cache(maxsize=256)
def _packed(shapes: Shapes, target: int) -> bytes:
    chunks = _cut(shapes, target)
    return b"".join([PACKED.pack(c.start, c.nbytes, c.slices[0][1], c.extent, c.slices[0][0]) for c in chunks])


def _slices(run: Sequence[int], view: int, start: int, nbytes: int) -> Iterator[tuple[int, int, int]]:
    """Where `nbytes` from byte `start` of a run lie, whose buffers are as long as `run` says, from number `view` on."""
    for size in run:
        if start < size and nbytes > 0:
            end = min(size, start + nbytes)
            yield view, start, end
            nbytes -= end - start
        start = max(0, start - size)
        view += 1
