"""Chunks of files that are on their way into a store: kept as files of their own until nobody needs them any more."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

from engine.errors import Kind, UnderhillError
from engine.formats.safetensors_header import unreadable
from engine.hub.disk_space import writing
from engine.hub.revision import RemoteFile
from engine.native.crc32 import crc32
from engine.regular_file import open_unbuffered
from engine.translatable import msg

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
                    path.unlink()

    def drop(self, chunk: Chunk) -> None:
        """Remove a chunk."""
        with writing(self.folder):
            self.path(chunk).unlink(missing_ok=True)

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
                Kind.BROKEN_FILE, msg("What has arrived of {name} is cut short.", name=name), msg("Try again.")
            )
        into = into[n:]
