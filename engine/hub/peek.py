"""The beginning of a file on a hub, read as far as somebody reads on."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import TypeVar

from engine.errors import Kind, UnderhillError
from engine.hub import errors
from engine.hub.client import Hub
from engine.hub.revision import RemoteFile

FIRST, MOST = 1 << 20, 8 << 20  # bytes asked for at first, and later


_T = TypeVar("_T")


def looked_at(look: Callable[[], _T]) -> _T:
    """What `look` makes of a header. It looks once more where that is damaged: a part of a file has no checksum."""
    try:
        return look()
    except UnderhillError as e:
        if e.kind is not Kind.BROKEN_FILE:
            raise
    try:
        return look()
    except UnderhillError as e:
        raise (errors.damaged_there(e.sentence) if e.kind is Kind.BROKEN_FILE else e) from e


class Peek(io.RawIOBase):
    """A file object over what has been fetched; reading behind that fetches more. Raises UnderhillError."""

    def __init__(self, hub: Hub, repo: str, commit: str, file: RemoteFile) -> None:
        self._hub, self._repo, self._commit, self._file = hub, repo, commit, file
        self._at = 0
        self.head = bytearray()  # the first bytes, as they were

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._file.size}[whence]
        self._at = base + offset
        return self._at

    def readinto(self, into: bytearray | memoryview) -> int:  # type: ignore[override]
        stop = min(self._at + len(into), self._file.size)
        while len(self.head) < stop:
            start = len(self.head)
            more = min(max(FIRST, min(start, MOST)), self._file.size - start)
            self.head += self._hub.read(self._repo, self._commit, self._file.path, start, start + more)
        n = max(0, stop - self._at)
        into[:n] = self.head[self._at : self._at + n]
        self._at += n
        return n
