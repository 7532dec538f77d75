"""Chunks of files that are on their way into a store: in which order they come, and where they wait.

A chunk is held from its arrival until it has been hashed, which goes from the start of a file to its end, and until all
that is made of it is written. Files are fetched one after the other, each from start to end; where that would hold too
much because small tensors (scales of packed weights) lie far behind what they belong to, these come first.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from engine import filesystem
from engine.errors import Kind, UnderhillError
from engine.formats.errors import unreadable
from engine.hub.control import writing
from engine.hub.revision import RemoteFile
from engine.native.crc32 import crc32
from engine.regular_file import open_unbuffered
from engine.translatable import msg

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
    # min keeps the first of equals: straight through, unless the other order really holds less.
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
            # A hash goes from start to end: chunk k is hashed once all before it are there, whatever came first.
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


Chunk = tuple[int, int]  # number of the file, number within it
NAME = "arriving"  # folder beside the small files


class Spool:
    """A folder of chunks, named by the checksum of the file they are of: another revision's are never mixed up."""

    def __init__(self, folder: Path, files: Sequence[RemoteFile], size: int) -> None:
        """size: of a chunk, in bytes."""
        self.folder = folder
        self._files = files
        self._size = size
        self._by_name = {file.name: number for number, file in enumerate(files)}

    def path(self, chunk: Chunk) -> Path:
        """Where it lies while it is here."""
        # 96 bits of the file's own checksum: what an earlier revision left is another name, and is removed.
        return self.folder / f"{self._files[chunk[0]].sha256[:24]}-{chunk[1]:06d}"

    def span(self, chunk: Chunk) -> tuple[int, int]:
        """Its bytes within its file: start, stop."""
        start = chunk[1] * self._size
        return start, min(start + self._size, self._files[chunk[0]].size)

    def have(self, chunk: Chunk) -> int:
        """Bytes of it that are here; of one that is too long, none: it is removed."""
        try:
            found = self.path(chunk).stat().st_size
        except FileNotFoundError:
            return 0
        start, stop = self.span(chunk)
        if found > stop - start:
            self.drop(chunk)
            return 0
        return found

    def keep_only(self, chunks: set[Chunk]) -> None:
        """Make the folder, and remove whatever else is in it."""
        wanted = {self.path(chunk).name for chunk in chunks}
        with writing(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
            for path in self.folder.iterdir():
                if path.name not in wanted:
                    filesystem.remove(path)

    def drop(self, chunk: Chunk) -> None:
        """Remove a chunk."""
        with writing(self.folder):
            filesystem.remove(self.path(chunk), missing_ok=True)

    def load(self, chunk: Chunk) -> memoryview:
        """A whole one."""
        start, stop = self.span(chunk)
        memory = memoryview(bytearray(stop - start))
        self.read(Path(self._files[chunk[0]].name), start, memory)
        return memory

    def crc(self, chunk: Chunk) -> int:
        """Its CRC-32."""
        return crc32(self.load(chunk))

    def read(self, file: Path, offset: int, into: memoryview) -> None:
        """As extents.Read, out of the chunks: all that are asked for must be here. file: only its name counts."""
        number = self._by_name[file.name]
        while into:
            chunk = (number, offset // self._size)
            within = offset - chunk[1] * self._size
            n = min(len(into), self._size - within)
            path = self.path(chunk)
            try:
                with open_unbuffered(path) as source:
                    source.seek(within)
                    _fill(source, into[:n], file.name)
            except OSError as cause:
                raise unreadable(path, cause) from cause
            offset, into = offset + n, into[n:]


def _fill(source: io.FileIO, into: memoryview, name: str) -> None:
    while into:
        n = source.readinto(into)
        if not n:
            raise UnderhillError(
                Kind.BROKEN_FILE, msg("The downloaded part of {name} is damaged.", name=name), msg("Try again.")
            )
        into = into[n:]
