"""Cuts a read into chunks of about equal length, which several readers share."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from engine.native.io_pool import CHUNK as PACKED
from engine.store.layout import aligned
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
