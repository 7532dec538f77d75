"""In which order the chunks of files are fetched, so that experts are complete early and little has to be held.

A chunk is held from its arrival until it has been hashed, which goes from the start of a file to its end, and until all
that is made of it is written. Files are fetched one after the other, each from start to end; where that would hold too
much because small tensors (scales of packed weights) lie far behind what they belong to, these come first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

MINOR = 8  # what is so many times smaller than the largest tensor that a part needs may come first


@dataclass(frozen=True)
class Need:
    """A part, by what it is made of: (number of the file, start, stop). early: it may have its small tensors first."""

    extents: tuple[tuple[int, int, int], ...]
    early: bool


@dataclass(frozen=True)
class Schedule:
    """chunks: (file, number within it) in the order to be fetched. most: how many are held at once, at most.

    parts: numbers of parts in the order in which they are complete. made_of: the chunks of each part.
    """

    chunks: tuple[tuple[int, int], ...]
    parts: tuple[int, ...]
    made_of: tuple[tuple[tuple[int, int], ...], ...]
    most: int


def schedule(sizes: Sequence[int], needs: Sequence[Need], chunk: int) -> Schedule:
    """The better of the two orders. sizes: of the files, in bytes."""
    base = [0]
    for size in sizes:
        base.append(base[-1] + -(-size // chunk))
    made_of = [
        sorted({base[f] + k for f, start, stop in need.extents for k in range(start // chunk, -(-stop // chunk))})
        for need in needs
    ]
    straight = list(range(base[-1]))
    minor = _minor(base, needs, chunk)
    files = [range(a, b) for a, b in pairwise(base)]
    ahead = [k for file in files for k in sorted(file, key=lambda k: k not in minor)]
    order, most = min(((o, _most(base, o, made_of)) for o in (straight, ahead)), key=lambda found: found[1])
    at = {k: i for i, k in enumerate(order)}
    complete = [max((at[k] for k in chunks), default=-1) for chunks in made_of]
    place = [(f, k) for f, file in enumerate(files) for k in range(len(file))]
    return Schedule(
        tuple(place[k] for k in order),
        tuple(sorted(range(len(needs)), key=lambda i: (complete[i], i))),
        tuple(tuple(place[k] for k in chunks) for chunks in made_of),
        most,
    )


def _minor(base: Sequence[int], needs: Sequence[Need], chunk: int) -> set[int]:
    """Chunks that hold small tensors of parts that may have them first, and of no such part a large one."""
    small: set[int] = set()
    large: set[int] = set()
    for need in needs:
        if need.early and need.extents:
            largest = max(stop - start for _, start, stop in need.extents)
            for f, start, stop in need.extents:
                which = small if (stop - start) * MINOR <= largest else large
                which.update(base[f] + k for k in range(start // chunk, -(-stop // chunk)))
    return small - large


def _most(base: Sequence[int], order: Sequence[int], made_of: Sequence[Sequence[int]]) -> int:
    """How many chunks are held at once when they arrive in this order, and nothing else takes time."""
    at = [0] * len(order)
    for i, k in enumerate(order):
        at[k] = i
    until = [0] * len(order)
    for first, end in pairwise(base):
        hashed = 0
        for k in range(first, end):
            hashed = max(hashed, at[k])
            until[k] = hashed
    for chunks in made_of:
        complete = max((at[k] for k in chunks), default=0)
        for k in chunks:
            until[k] = max(until[k], complete)
    freed = [0] * (len(order) + 1)
    for last in until:
        freed[last] += 1
    held = most = 0
    for i in range(len(order)):
        held += 1
        most = max(most, held)
        held -= freed[i]
    return most
